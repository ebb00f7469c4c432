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

    @Test("What this connection writes is there at the next reading")
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

    @Test("What another connection writes is there at the next reading, site by site")
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

    @Test("More changes than the journal tells at once, and more than it holds, are not missed")
    func manyChanges() throws {
        let (jar, other) = (try Given.jar(path), try Given.jar(path))
        try jar.receive("a=1; Path=/")
        #expect(try header(jar) == "a=1")
        for count in [300, Int(ChangeRows.limit) + 10] {
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

    @Test("An expired cookie stays behind, and a value that cannot be read back is told")
    func excluded() throws {
        let jar = try Given.jar(path)
        try jar.receive("a=1; Path=/; Max-Age=10", "b=1; Path=/", "c=1; Path=/")
        try jar.database.execute("UPDATE cookie SET value = ? WHERE name = CAST('b' AS BLOB)", [1, 2, 3])
        #expect(try header(jar) == "a=1; c=1")
        let later = Given.now.advanced(bySeconds: 11)
        #expect(try header(jar, now: later) == "c=1")
        let retrieval = try jar.retrieve(for: Given.context(), now: later)
        #expect(
            retrieval.excluded.map { "\($0.cookie.name) \($0.reasons)" }.sorted() == ["a expired", "b unreadable"])
        #expect(retrieval.excluded.allSatisfy { $0.cookie.name == "a" || $0.cookie.value.isEmpty })
    }

    @Test("Accesses are written down no more often than the granularity says")
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

    @Test("When everything is closed, nothing is left beside the file")
    func closing() throws {
        do {
            let jar = try Given.jar(path)
            try jar.receive("a=1; Path=/")
            #expect(try header(jar) == "a=1")
        }
        #expect(try folder.contents().keys.sorted() == ["crumb.sqlite"])
    }

    @Test("Many threads read while others write, and each reads what was acknowledged before it asked")
    func threads() throws {
        let path = path
        let database = try Given.database(path, busyTimeout: 60)
        let failures = try onThreads(6) { index in
            let jar = try (index % 2 == 0 ? database : Given.database(path, busyTimeout: 60)).jar(now: Given.now)
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
