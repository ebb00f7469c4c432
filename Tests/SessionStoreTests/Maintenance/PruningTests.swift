import CookieModel
import Testing

@testable import SessionStore

@Suite("Pruning")
struct PruningTests {
    private let folder = TemporaryFolder()
    private let later = Given.now.advanced(bySeconds: 1000)

    private func fill(_ database: SessionDatabase) throws {
        for name in ["default", "work"] {
            let jar = try database.jar(named: name, now: Given.now)
            try jar.receive("short=1; Path=/; Max-Age=10", "long=2; Path=/; Max-Age=500000", "session=3; Path=/")
            try jar.receive("other=1; Path=/; Max-Age=999", from: "https://example.org/")
        }
    }

    @Test("Pruning removes and counts expired cookies, of all jars or of one, once the clock is confirmed; others stay")
    func expired() throws {
        let database = try Given.database()
        try fill(database)
        #expect(try database.prune(now: Given.now).expiredCookies.isEmpty)
        let first = try database.prune(now: later)
        #expect(first.expiredCookies.isEmpty && first.waitingCookies == ["default": 2, "work": 2])
        #expect(try database.pruneConfirmed(jar: "work", at: later) == ["work": 2])
        #expect(try database.number("SELECT count(*) FROM cookie") == 6)
        let last = try database.prune(now: later.advanced(bySeconds: 50 * 3600))
        #expect(last.expiredCookies == ["default": 2] && last.waitingCookies.isEmpty)
        #expect(try database.prune(now: later.advanced(bySeconds: 51 * 3600)).expiredCookies.isEmpty)
        for name in ["default", "work"] {
            let cookies = try database.jar(named: name, now: later).cookies().readable
            #expect(cookies.map(\.name) == ["long", "session"])
        }
        #expect(errorCode { try database.prune(jar: "none", now: later) } == .jarNotFound)
    }

    @Test("Pruning keeps a cookie that expires at this moment")
    func boundary() throws {
        let database = try Given.database()
        try database.jar(now: Given.now).receive("a=1; Max-Age=10")
        #expect(try database.prune(now: Given.now.advanced(bySeconds: 10)).waitingCookies.isEmpty)
        let after = Timestamp(microseconds: Given.now.advanced(bySeconds: 10).microseconds + 1)
        #expect(try database.prune(now: after).waitingCookies == ["default": 1])
    }

    @Test("Pruning one jar does not change the journals of the others")
    func otherJournals() throws {
        let database = try Given.database()
        try fill(database)
        let other = try database.present("default").changes(after: 0).changes
        #expect(try database.prune(jar: "work", journalLimit: 0, now: Given.now).journalEntries == other.count)
        #expect(try database.present("default").changes(after: 0).changes == other)
        #expect(try database.present("work").changes(after: 0).changes.isEmpty)
        #expect(try database.prune(journalLimit: 0, now: Given.now).journalEntries == other.count)
    }

    @Test("Pruning records removals in the journal, and keeps its newest entries")
    func journal() throws {
        let database = try Given.database()
        try fill(database)
        try database.pruneConfirmed(at: later)
        #expect(try database.number("SELECT count(*) FROM cookie_change WHERE cause = 4") == 4)
        #expect(
            try database.number("SELECT count(*) FROM cookie_change WHERE changed_at > \(later.microseconds)") == 4)
        let all = try database.number("SELECT count(*) FROM cookie_change")
        let jars = try database.number("SELECT count(DISTINCT jar_id) FROM cookie_change")
        #expect(try database.prune(journalLimit: 1, now: later).journalEntries == Int(all - jars))
        #expect(
            try database.number(
                "SELECT count(*) FROM cookie_change JOIN jar ON jar.id = jar_id WHERE position = next_change - 1")
                == jars)
        #expect(try database.prune(journalLimit: 1, now: later).journalEntries == 0)
        #expect(try database.prune(journalLimit: 0, now: later).journalEntries == Int(jars))
    }

    @Test(
        "Pruning returns free space to the disk if that is worthwhile or requested",
        .onlyOnSQLite("is about the size of its file"))
    func room() throws {
        let database = try Given.database(folder.file("crumb.sqlite"))
        let jar = try database.jar(now: Given.now)
        let value = String(repeating: "v", count: 4000)
        for number in 0..<600 {
            try jar.receive("c\(number)=\(value); Max-Age=10", from: "https://h\(number).example/")
        }
        #expect(try !database.prune(now: Given.now).wasVacuumed)
        let before = database.sizeInBytes
        #expect(try database.pruneConfirmed(vacuum: .never, at: later) == ["default": 600])
        #expect(try database.statistics(now: later).freeSize > 2_000_000)
        let vacuumed = try database.prune(now: later.advanced(bySeconds: 50 * 3600))
        #expect(vacuumed.wasVacuumed && vacuumed.freedBytes > 2_000_000)
        #expect(database.sizeInBytes < before / 4)
        #expect(try database.statistics(now: later).logSize == 0)
        #expect(try database.prune(vacuum: .always, now: later).wasVacuumed)
        #expect(try database.check().findings.isEmpty)
    }

    @Test("The statistics have the amount and the age of the data")
    func statistics() throws {
        let database = try Given.database(folder.file("crumb.sqlite"))
        #expect(try database.statistics(now: Given.now).oldestCookie == nil)
        try fill(database)
        let jar = try database.jar(now: Given.now)
        try jar.receive("new=1; Path=/", now: Given.now.advanced(bySeconds: 5))
        try FullDatabase.saveSession("saved", of: jar)
        let statistics = try database.statistics(now: later)
        #expect(statistics.oldestCookie == Given.now)
        #expect(statistics.newestCookie == Given.now.advanced(bySeconds: 5))
        #expect(statistics.expiredCookies == 4 && statistics.savedSessions == 1)
        // A server has no file here, nor a log.
        #expect((statistics.fileSize > 0 && statistics.logSize > 0) == (TestServer.shared == nil))
        #expect(statistics.fileSize + statistics.logSize == database.sizeInBytes)
    }
}
