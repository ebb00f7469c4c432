import CookieModel
import SQLite
import Testing

@testable import SQLiteEngine
@testable import SessionStore

@Suite("The journal of a jar")
struct JournalTests {
    private func entries(_ page: ChangePage) -> [String] {
        page.changes.map { "\($0.cause.identifier) \($0.cookie.name)" }
    }

    @Test("The journal has every change in order, with its cause and its time, and nothing else")
    func causes() throws {
        let jar = try Given.jar()
        let later = Given.now.advanced(bySeconds: 60)
        try jar.receive("a=1; Path=/", "b=1; Path=/; Max-Age=30", "__Host-c=1")
        try jar.receive("a=2; Path=/", "none=; Max-Age=0")
        try jar.receive("a=; Path=/; Max-Age=0", "d=1", now: later)
        let page = try jar.changes(after: 0)
        #expect(entries(page) == ["stored a", "stored b", "replaced a", "deleted a", "stored d"])
        #expect(page.changes.map(\.time) == [Given.now, Given.now, Given.now, later, later])
        #expect(page.changes.map(\.position) == Array(1...5))
        #expect((page.position, page.hasGap, page.hasMore) == (5, false, false))
        // An expired cookie goes when the clock is confirmed.
        try jar.database.pruneConfirmed(at: later)
        #expect(entries(try jar.changes(after: 5)) == ["expired b"])
    }

    @Test("The journal has evictions after the cookie that caused them")
    func evictions() throws {
        var policy = CookiePolicy()
        policy.limits.domainCookies = 1
        policy.limits.totalCookies = 1
        let jar = try Given.database().jar(policy: policy, now: Given.now)
        try jar.receive("a=1")
        try jar.receive("b=1")
        try jar.receive("c=1", from: "https://other.example/")
        #expect(
            entries(try jar.changes(after: 0)) == ["stored a", "stored b", "evicted a", "stored c", "evicted b"])
    }

    @Test(
        "An entry names the response that deleted or evicted a cookie, and the newest one of each cookie can be asked for"
    )
    func sources() throws {
        var policy = CookiePolicy()
        policy.limits.domainCookies = 2
        let jar = try Given.database().jar(policy: policy, now: Given.now)
        let later = Given.now.advanced(bySeconds: 60)
        try jar.receive("a=1; Path=/", "b=1; Path=/")
        try jar.receive("a=; Path=/; Max-Age=0", from: "https://www.example.com/logout?token=1")
        try jar.receive("c=1; Path=/; Max-Age=30", from: "https://www.example.com/c")
        try jar.receive("d=1; Path=/", from: "https://www.example.com/d")
        try jar.receive("x=1; Path=/", from: "https://other.example/", now: later)
        try jar.receive("e=1; Path=/", now: later)
        let latest = try jar.latestChanges(site: "example.com")
        #expect(
            latest.map { "\($0.cause.identifier) \($0.cookie.name)" } == [
                "stored e", "evicted b", "stored d", "stored c", "deleted a",
            ])
        #expect(latest.map(\.url) == [nil, "https://www.example.com/d", nil, nil, "https://www.example.com/logout"])
        #expect(try jar.latestChanges(site: "none.example").isEmpty)
    }

    @Test("Cookies that a response deleted, or that had expired, are found by site, with the time of their end")
    func endings() throws {
        let jar = try Given.jar()
        let other = try jar.database.jar(named: "other", now: Given.now)
        let later = Given.now.advanced(bySeconds: 60)
        let times = (set: Given.now.advanced(bySeconds: -50), deleted: Given.now.advanced(bySeconds: -30))
        let lines: [Octets] = ["a=1; Path=/", "b=1; Path=/; Max-Age=90", "c=1; Path=/", "d=1; Path=/; Max-Age=55"]
        let context = try Given.context()
        try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
            try batch.receive(ReceivedResponse(context: context, setCookie: lines), at: times.set)
            let deletion = ReceivedResponse(context: context, setCookie: ["a=; Path=/; Max-Age=0", "none=; Max-Age=0"])
            try batch.receive(deletion, at: times.deleted, answered: times.deleted.advanced(bySeconds: 2))
        }
        try other.receive("a=1; Path=/")
        try other.receive("a=; Path=/; Max-Age=0")
        try jar.receive("a=1; Path=/", from: "https://other.example/")
        try jar.receive("a=; Path=/; Max-Age=0", from: "https://other.example/")
        func endings(_ now: Timestamp) throws -> [String] {
            let found = try jar.endings(of: "example.com", now: now)
            let (read, _) = try jar.withBatch(now: now) { batch throws(SessionStoreError) in
                try batch.endings(of: "example.com")
            }
            #expect(read == found)
            return found.map { ending in
                "\(ending.cookie.name) \(ending.isExpiry) \(ending.time.seconds - Given.now.seconds)"
            }
        }
        #expect(try endings(Given.now) == ["a false -28"])
        // Its row is still there.
        #expect(try endings(later).sorted() == ["a false -28", "b true 40", "d true 5"])
        try jar.database.pruneConfirmed(at: later)
        #expect(try endings(later).sorted() == ["a false -28", "b true 40", "d true 5"])
        #expect(try jar.database.number("SELECT count(*) FROM cookie") == 1)
    }

    @Test("An index finds the endings of cookies, and no other change touches it", .onlyOnSQLite("is about its plans"))
    func endingPlan() throws {
        let plan = try Given.database().read { connection in
            try #require(connection.file).database.plan(ChangeRows.endingQuery) { statement in
                for index: Int32 in 1...5 { statement.bind(index, Int64(index)) }
            }
        }
        #expect(plan.contains { $0.contains("cookie_change USING INDEX cookie_change_ending (site=?") }, "\(plan)")
        #expect(!plan.contains { $0.hasPrefix("SCAN") }, "\(plan)")
        let jar = try Given.jar()
        for number in 0..<20 { try jar.receive("a=\(number); Path=/") }
        #expect(try jar.database.number("SELECT count(*) FROM cookie_change WHERE ended_at IS NOT NULL") == 0)
    }

    @Test("A reader of the journal gets the changes since its last read, in pages, from any connection")
    func cursor() throws {
        let folder = TemporaryFolder()
        let jar = try Given.jar(folder.file("crumb.sqlite"))
        let other = try Given.jar(folder.file("crumb.sqlite"))
        var (position, seen): (Int64, [String]) = (0, [])
        for round in 0..<20 {
            try (round % 2 == 0 ? jar : other).receive("a\(round)=1", "b\(round)=1", "c\(round)=1")
            guard round % 5 == 4 else { continue }
            while true {
                let page = try jar.changes(after: position, count: 4)
                #expect(!page.hasGap && page.changes.count <= 4)
                seen += entries(page)
                position = page.position
                if !page.hasMore { break }
            }
        }
        #expect(seen == (0..<20).flatMap { round in ["a", "b", "c"].map { "stored \($0)\(round)" } })
        let end = try jar.changes(after: position)
        #expect(end.changes.isEmpty && end.position == position && !end.hasGap)
    }

    @Test(
        "The journal is limited, and a reader that was away for too long learns that it missed changes",
        arguments: [nil, 2000])
    func bounded(setting: Int?) throws {
        let limit = setting ?? SessionDatabase.defaultJournalLimit
        let database = try Given.database(journalLimit: limit)
        let jar = try database.jar(now: Given.now)
        let lines = (0..<180).map { Octets("c\($0)=1; Path=/") }
        let response = ReceivedResponse(context: try Given.context(), setCookie: lines)
        let before = try jar.changes(after: 0).position
        try jar.withBatch(now: Given.now) { batch throws(SessionStoreError) in
            for _ in 0..<(limit / 180 + 2) { try batch.receive(response, at: Given.now) }
        }
        #expect(try jar.database.number("SELECT count(*) FROM cookie_change") == Int64(limit))
        // Many small transactions: the oldest entries go now and then.
        let few = ReceivedResponse(context: try Given.context(), setCookie: Array(lines.prefix(170)))
        var counts: Set<Int64> = []
        for _ in 0..<15 {
            try jar.receive(few, now: Given.now)
            counts.insert(try jar.database.number("SELECT count(*) FROM cookie_change"))
        }
        #expect(counts.allSatisfy { Int64(limit)...Int64(limit + limit / 10) ~= $0 })
        #expect(limit < 10_000 || counts.count > 5)
        _ = try database.prune(now: Given.now)
        #expect(try database.number("SELECT count(*) FROM cookie_change") == Int64(limit))
        let page = try jar.changes(after: before)
        #expect(page.hasGap && page.hasMore)
        #expect(try !jar.changes(after: page.position).hasGap)
        #expect(try jar.changes(after: 1 << 40).hasGap)
    }

    @Test("Journal positions and sequence numbers are never reused after removals")
    func neverAgain() throws {
        let folder = TemporaryFolder()
        func receive(_ name: String) throws {
            try Given.jar(folder.file("crumb.sqlite")).receive("\(name)=1; Path=/")
        }
        try receive("a")
        try receive("b")
        let jar = try Given.jar(folder.file("crumb.sqlite"))
        try jar.removeCookies(CookieFilter(), now: Given.now)
        try receive("c")
        _ = try jar.database.prune(journalLimit: 0, now: Given.now)
        #expect(try jar.changes(after: 0).changes.isEmpty)
        try receive("d")
        let page = try jar.changes(after: 5)
        #expect(page.changes.map(\.position) == [6] && !page.hasGap)
        #expect(try jar.pairs() == ["c=1", "d=1"])
        #expect(try jar.contents().map(\.sequence) == [3, 4])
    }

    @Test("Each jar has its own journal, and a transaction that fails adds no entry")
    func apart() throws {
        let database = try Given.database()
        let (first, second) = (
            try database.jar(named: "first", now: Given.now), try database.jar(named: "second", now: Given.now)
        )
        try first.receive("a=1")
        try second.receive("b=1")
        _ = errorCode {
            try first.withBatch(now: Given.now) { batch throws(SessionStoreError) in
                try batch.receive(
                    ReceivedResponse(context: RequestContext(url: RequestURL.example), setCookie: ["c=1"]),
                    at: Given.now)
                throw SessionStoreError(.diskFull, "test", "thrown by the test")
            }
        }
        #expect(entries(try first.changes(after: 0)) == ["stored a"])
        #expect(entries(try second.changes(after: 0)) == ["stored b"])
    }
}

extension RequestURL {
    fileprivate static var example: RequestURL {
        get throws(SessionStoreError) {
            guard let url = try? RequestURL("https://www.example.com/") else {
                throw SessionStoreError(.nameInvalid, "test", "no URL")
            }
            return url
        }
    }
}
