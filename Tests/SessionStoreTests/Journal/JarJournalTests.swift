import CookieModel
import Testing

@testable import SessionStore

@Suite("The journal and the sites in memory when a whole jar is handled")
struct JarJournalTests {
    private let folder = TemporaryFolder()

    private func entries(_ jar: CookieJar, after position: Int64) throws -> [String] {
        try jar.changes(after: position).changes.map { "\($0.cause.identifier) \($0.cookie.name)" }.sorted()
    }

    /// What a change writes into the journal, and the header that a reader with the site in memory then gets.
    private func expect(
        _ journal: [String], header: String, _ change: (SessionDatabase, CookieJar) throws -> Void
    ) throws {
        let path = folder.file("crumb.sqlite")
        let database = try Given.database(path)
        let jar = try database.jar(now: Given.now)
        try jar.receive("a=1; Path=/", "b=1; Path=/; Max-Age=100", "old=1; Path=/; Max-Age=5")
        try jar.saveSession(named: "saved", now: Given.now)
        try jar.receive("a=2; Path=/", "c=1; Path=/; Max-Age=100")
        let other = try database.jar(named: "other", now: Given.now)
        try other.receive("a=3; Path=/", "d=1; Path=/", now: Given.now.advanced(bySeconds: 5))
        let reader = try Given.jar(path)
        let now = Given.now.advanced(bySeconds: 10)
        for _ in 0..<2 { #expect(try reader.header(now: now) == "a=2; b=1; c=1") }
        let position = try jar.changes(after: 0).position
        try change(database, jar)
        #expect(try entries(jar, after: position) == journal)
        #expect(try reader.header(now: now) == header)
    }

    private let now = Given.now.advanced(bySeconds: 10)

    @Test("Clearing a jar updates the journal and the sites in memory")
    func clear() throws {
        try expect(["removed a", "removed b", "removed c", "removed old"], header: "") { database, jar in
            try database.clearJar(named: jar.name, now: now)
        }
    }

    @Test("Ending a session updates the journal and the sites in memory")
    func endOfSession() throws {
        try expect(["removed a"], header: "b=1; c=1") { _, jar in try jar.endSession(now: now) }
    }

    @Test("Restoring a session updates the journal and the sites in memory")
    func restoring() throws {
        try expect(["removed c", "replaced a"], header: "a=1; b=1") { _, jar in
            try jar.restoreSession(named: "saved", now: now)
        }
    }

    @Test("Restoring cookies that no longer exist updates the journal and the sites in memory")
    func restoringMissing() throws {
        try expect(
            ["removed a", "removed b", "removed c", "removed old", "stored a", "stored b"], header: "a=1; b=1"
        ) { database, jar in
            try database.clearJar(named: jar.name, now: now)
            try jar.restoreSession(named: "saved", now: now)
        }
    }

    @Test("Merging jars updates the journal and the sites in memory")
    func merging() throws {
        try expect(["replaced a", "stored d"], header: "a=3; b=1; c=1; d=1") { database, jar in
            try database.mergeJar(named: "other", into: jar.name, now: now)
        }
    }
}
