import CookieModel
import Testing

@testable import SessionStore

@Suite("Sites that were read lately")
struct SiteCacheTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("crumb.sqlite") }

    /// The header, asked often enough that it comes out of memory, by both ways.
    private func header(_ jar: CookieJar, _ url: String = Given.site, now: Timestamp = Given.now) throws -> String {
        _ = try jar.header(url, now: now)
        let header = try jar.header(url, now: now)
        #expect(try jar.cookieString(for: Given.context(url), now: now).description == header)
        return header
    }

    @Test("A cached site's next read sees writes of this connection")
    func ownWrites() throws {
        let jar = try Given.jar(path)
        #expect(try header(jar) == "")
        try jar.receive("a=1; Path=/")
        #expect(try header(jar) == "a=1")
        try jar.receive("a=2; Path=/", "b=1; Path=/")
        #expect(try header(jar) == "a=2; b=1")
        try jar.receive("a=; Path=/; Max-Age=0")
        #expect(try header(jar) == "b=1")
        // Another object for the same jar, another jar.
        #expect(try header(jar.database.jar(now: Given.now)) == "b=1")
        #expect(try header(jar.database.jar(named: "other", now: Given.now)) == "")
    }

    @Test("A cached site's next read sees writes of another connection")
    func othersWrites() throws {
        let (jar, other) = (try Given.jar(path), try Given.jar(path))
        let second = "https://other.example/"
        for round in 0..<30 {
            try other.receive("a=\(round); Path=/")
            if round % 3 == 0 { try other.receive("b=\(round); Path=/", from: second) }
            if round % 7 == 0 { try jar.receive("c=\(round); Path=/", from: second) }
            #expect(try header(jar) == "a=\(round)")
            #expect(try header(jar, second) == "b=\(round / 3 * 3); c=\(round / 7 * 7)")
            #expect(try header(other, second) == "b=\(round / 3 * 3); c=\(round / 7 * 7)")
        }
    }

    @Test("A cached site misses no change, even if there are more than a page of the journal or the journal holds")
    func manyChanges() throws {
        let (jar, other) = (try Given.jar(path), try Given.jar(path))
        try jar.receive("a=1; Path=/")
        #expect(try header(jar) == "a=1")
        for count in [300, Int(ChangeRows.defaultLimit) + 10] {
            let response = ReceivedResponse(
                context: try Given.context("https://busy.example/"), setCookie: (0..<100).map { Octets("c\($0)=1") })
            let last = ReceivedResponse(
                context: try Given.context(), setCookie: [Octets("a=\(count); Path=/")])
            try other.withBatch(now: Given.now) { batch throws(SessionStoreError) in
                try batch.receive(last, at: Given.now)
                for _ in 0..<(count / 100 + 1) { try batch.receive(response, at: Given.now) }
            }
            #expect(try header(jar) == "a=\(count)")
        }
    }

    @Test("A cached site does not send expired cookies, and reports a value that cannot be read")
    func excluded() throws {
        let jar = try Given.jar(path)
        try jar.receive("a=1; Path=/; Max-Age=10", "b=1; Path=/", "c=1; Path=/")
        try jar.database.execute("UPDATE cookie SET value = ? WHERE name = \(Given.octets("b"))", [1, 2, 3])
        #expect(try header(jar) == "a=1; c=1")
        let later = Given.now.advanced(bySeconds: 11)
        #expect(try header(jar, now: later) == "c=1")
        let retrieval = try jar.retrieve(for: Given.context(), now: later)
        #expect(
            retrieval.excluded.map { "\($0.cookie.name) \($0.reasons)" }.sorted() == ["a expired", "b unreadable"])
        #expect(retrieval.excluded.allSatisfy { $0.cookie.name == "a" || $0.cookie.value.isEmpty })
    }

    @Test("Accesses are recorded no more often than the granularity permits")
    func accesses() throws {
        let database = try Given.database(path, lastAccessGranularity: 100)
        let jar = try database.jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        for seconds in [50, 101, 150, 202] as [Int64] {
            #expect(try header(jar, now: Given.now.advanced(bySeconds: seconds)) == "a=1")
        }
        let written = try database.number("SELECT last_access_at FROM cookie")
        #expect(written == Given.now.advanced(bySeconds: 202).microseconds)
    }

    @Test("An access that is recorded after a later one leaves the later time")
    func overtakenAccess() throws {
        let database = try Given.database(path, lastAccessGranularity: 0)
        let jar = try database.jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        let accesses = try ([30, 60] as [Int64]).map { seconds in
            var question = try SiteQuestion(
                Given.context(Given.site), to: jar, now: Given.now.advanced(bySeconds: seconds))
            _ = try jar.readAnswer(&question) { $0.retrieve(&$1) }
            return SiteAccess(question)
        }
        #expect(accesses.map(\.cookies.count) == [1, 1])
        for access in accesses.reversed() {
            try jar.note(access)
            let written = try database.number("SELECT last_access_at FROM cookie")
            #expect(written == Given.now.advanced(bySeconds: 60).microseconds)
        }
    }

    @Test(
        "When all connections are closed, no file remains beside the database",
        .onlyOnSQLite("a server has no file here"))
    func closing() throws {
        do {
            let jar = try Given.jar(path)
            try jar.receive("a=1; Path=/")
            #expect(try header(jar) == "a=1")
        }
        #expect(try folder.contents().keys.sorted() == ["crumb.sqlite"])
    }

    @Test("A cached site's next read is correct after any operation on the whole database")
    func maintenance() throws {
        let key = KeySource.file(folder.file("key"))
        func open() throws -> CookieJar {
            try SessionDatabase(path: path, keys: key, now: Given.now).jar(now: Given.now)
        }
        let (jar, other) = (try open(), try open())
        let database = other.database
        func expect(_ expected: String, _ comment: Comment) throws {
            #expect(try header(jar) == expected, comment)
            #expect(try header(other) == expected, comment)
        }
        try other.receive("a=1; Path=/", "s=1; Path=/; Max-Age=1000")
        try expect("a=1; s=1", "at first")
        #expect(try database.emptyLog())
        try other.receive("a=2; Path=/")
        try expect("a=2; s=1", "after the log was cut off")
        _ = try database.prune(vacuum: .always, now: Given.now)
        try expect("a=2; s=1", "after VACUUM")
        try other.receive("a=3; Path=/")
        try expect("a=3; s=1", "after VACUUM and a write")
        _ = try other.saveSession(named: "saved", now: Given.now)
        try other.receive("a=4; Path=/")
        try expect("a=4; s=1", "after a save")
        _ = try other.restoreSession(named: "saved", now: Given.now)
        try expect("a=3; s=1", "after it was restored")
        _ = try other.endSession(now: Given.now)
        try expect("s=1", "after the session's end")
        try database.pruneConfirmed(at: Given.now.advanced(bySeconds: 1001))
        try expect("", "after everything has run out")
        try other.receive("a=5; Path=/")
        try expect("a=5", "in a jar that was empty")
        _ = try database.removeJar(named: "default")
        try expect("", "after the jar was removed")
        #expect(try header(open()) == "")
        try open().receive("a=6; Path=/")
        #expect(try header(open()) == "a=6")
        try expect("", "in place of a jar that was removed")
    }

    @Test(
        "A key rotation loses neither cached values that were opened nor those that were not", arguments: [1, 9])
    func rotation(batchSize: Int) throws {
        let key = KeySource.file(folder.file("key"))
        func open() throws -> CookieJar {
            try SessionDatabase(path: path, keys: key, now: Given.now).jar(now: Given.now)
        }
        let (jar, other) = (try open(), try open())
        let sites = (0..<9).map { "https://h\($0).example/" }
        for site in sites { try other.receive("a=1; Path=/", "b=1; Path=/", from: site) }
        // Some are opened by now, some are in memory sealed, some are not there at all.
        for (index, site) in sites.enumerated() {
            for _ in 0..<(index % 3) {
                #expect(try jar.cookieString(for: Given.context(site), now: Given.now) == "a=1; b=1")
            }
        }
        for round in 2...3 {
            _ = try other.database.rotateKey(batchSize: batchSize, now: Given.now)
            try other.receive("c=\(round); Path=/", from: sites[4])
            for site in sites {
                #expect(try header(jar, site) == "a=1; b=1" + (site == sites[4] ? "; c=\(round)" : ""), "\(site)")
            }
        }
    }

    @Test("A cached site misses no change if the journal has lost its last entries")
    func prunedJournal() throws {
        let (jar, other) = (try Given.jar(path), try Given.jar(path))
        for keeping in [0, 1, 2] {
            try other.receive("a=0; Path=/", "b=0; Path=/", from: "https://other.example/")
            try other.receive("a=0; Path=/")
            #expect(try header(jar) == "a=0")
            try other.receive("a=1; Path=/")
            try other.receive("b=1; Path=/", from: "https://other.example/")
            _ = try other.database.prune(journalLimit: keeping, now: Given.now)
            #expect(try header(jar) == "a=1", "\(keeping) entries left")
        }
    }

    @Test("The first read of a site returns the same as later ones, with sealed, opened and changed values")
    func equalAnswers() throws {
        let (jar, other) = (try Given.jar(path), try Given.jar(path))
        try other.receive("a=1; Path=/", "b=\u{20AC}; Path=/; Secure", "=nameless; Path=/", "c=; Path=/x; HttpOnly")
        let urls = [Given.site, "http://www.example.com/", "https://www.example.com/x/y", "https://example.com/"]
        for url in urls {
            var seen: Set<String> = []
            for round in 0..<5 {
                let context = try Given.context(url)
                let retrieval = try jar.retrieve(for: context, now: Given.now)
                let excluded = retrieval.excluded.filter { $0.cookie.name != "d" }
                seen.insert("\(retrieval.included) \(excluded)")
                // Read anew, in either way.
                if round % 2 == 0 { try other.receive("d=\(round); Path=/d") }
                #expect(try jar.cookieString(for: context, now: Given.now) == retrieval.cookieString)
            }
            #expect(seen.count == 1, "\(url)")
        }
    }

    @Test("Threads that read while others write see all writes that were acknowledged before")
    func threads() throws {
        let path = path
        let database = try Given.database(path, busyTimeout: 3600)
        let failures = try onThreads(6) { index in
            let jar = try (index % 2 == 0 ? database : Given.database(path, busyTimeout: 3600)).jar(now: Given.now)
            let url = "https://h\(index).example/"
            var failures = 0
            for round in 0..<60 {
                try jar.receive("a=\(round); Path=/", from: url)
                if try jar.header(url) != "a=\(round)" { failures += 1 }
            }
            return failures
        }
        #expect(failures == [0, 0, 0, 0, 0, 0])
    }
}
