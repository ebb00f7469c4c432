import CookieModel
import SQLiteEngine
import Testing

@testable import SessionStore

@Suite("Ending, saving and restoring sessions")
struct SessionTests {
    private static func at(_ seconds: Int64) -> Timestamp { Given.now.advanced(bySeconds: seconds) }

    /// The rows of a jar octet for octet, sealed values and origins included.
    private func rows(_ jar: CookieJar) throws -> [String] {
        try jar.database.read { connection in
            let statement = try connection.statement(
                """
                SELECT site, domain, path, name, partition_key, value, source_url,
                    host_only, secure, http_only, same_site, expires_at, created_at, sequence, last_access_at,
                    received_at, capture_id
                FROM cookie WHERE jar_id = ? ORDER BY site, domain, path, name, host_only, partition_key
                """)
            defer { statement.reset() }
            statement.bind(1, jar.id)
            var rows: [String] = []
            while try statement.step() {
                let octets = (0..<7 as Range<Int32>).map { statement.isNull($0) ? "-" : "\(statement.bytes($0))" }
                let numbers = (7..<17 as Range<Int32>).map { statement.isNull($0) ? "-" : "\(statement.int64($0))" }
                rows.append((octets + numbers).joined(separator: "|"))
            }
            return rows
        }
    }

    private func twoJars() throws -> (jar: CookieJar, other: CookieJar) {
        let database = try Given.database(lastAccessGranularity: 0)
        let jars = try ["jar", "other"].map { try database.jar(named: $0, now: Given.now) }
        for jar in jars { try jar.receive("s=1; Path=/", "p=2; Path=/; Max-Age=100", "t=3; Path=/; HttpOnly; Secure") }
        return (jars[0], jars[1])
    }

    @Test("The end of a session removes session cookies, of that jar")
    func end() throws {
        let (jar, other) = try twoJars()
        try jar.receive("short=1; Path=/; Max-Age=5")
        #expect(try jar.endSession(now: SessionTests.at(6)) == SessionEnd(removed: 2, kept: 1))
        #expect(try jar.contents(at: SessionTests.at(6)).map(\.name) == ["p"] && other.contents().count == 3)
        #expect(try jar.endSession(now: SessionTests.at(6)) == SessionEnd(removed: 0, kept: 1))
    }

    @Test("A store in memory ends a session the same way", arguments: 0..<20)
    func endEquivalence(seed: Int) throws {
        let (jar, now) = try Given.database().jar(named: "jar", afterScenario: seed, steps: 60)
        let expected = try jar.contents().filter { $0.isPersistent && !$0.isExpired(at: now) }
        try jar.endSession(now: now)
        #expect(try jar.contents(at: now) == expected)
    }

    @Test("Restoring a session adds removed cookies, reverts changed ones and removes new ones, in its jar")
    func restore() throws {
        let (jar, other) = try twoJars()
        let before = try rows(jar)
        #expect(try jar.saveSession(named: "before", now: SessionTests.at(1)).session.cookieCount == 3)
        try jar.receive(
            "s=changed; Path=/", "p=; Path=/; Max-Age=0", "n=1; Path=/", "m=1; Path=/", now: SessionTests.at(2))
        let restored = try jar.restoreSession(named: "before", now: SessionTests.at(3))
        #expect(restored.added == 1 && restored.changed == 1 && restored.removed == 2 && restored.expired.isEmpty)
        #expect(restored.cookieCount == 3 && restored.session.creation == SessionTests.at(1))
        #expect(try rows(jar) == before && jar.cookies().unreadable.isEmpty)
        #expect(try jar.header(now: SessionTests.at(4)) == "s=1; p=2; t=3")
        #expect(try other.pairs() == ["s=1", "p=2", "t=3"] && other.savedSessions().isEmpty)
        // Restoring again changes nothing but the time of use.
        let again = try jar.restoreSession(named: "before", now: SessionTests.at(5))
        #expect(again.added == 0 && again.changed == 0 && again.removed == 0)
        #expect(try rows(jar) == before)
        // New cookies line up behind the restored ones.
        try jar.receive("last=1; Path=/", now: Given.now)
        #expect(try jar.pairs().last == "last=1")
    }

    @Test("Restoring a session leaves out cookies that have expired since, and reports them without values")
    func expired() throws {
        let (jar, _) = try twoJars()
        try jar.saveSession(named: "s", now: Given.now)
        #expect(try jar.restoreSession(named: "s", now: SessionTests.at(100)).cookieCount == 3)
        #expect(try jar.contents().count == 3)
        try jar.receive("p=newer; Path=/; Max-Age=1000")
        let restored = try jar.restoreSession(named: "s", now: SessionTests.at(101))
        #expect(restored.expired.map(\.name) == ["p"] && restored.expired.allSatisfy { $0.value.isEmpty })
        #expect(restored.expired.first?.expiry == SessionTests.at(100) && restored.removed == 1)
        #expect(restored.cookieCount == 2)
        #expect(try jar.pairs() == ["s=1", "t=3"])
    }

    @Test("A saved session does not have cookies that have expired, but those that expire at that moment")
    func expiredBefore() throws {
        let (jar, _) = try twoJars()
        #expect(try jar.saveSession(named: "s", now: SessionTests.at(100)).session.cookieCount == 3)
        let save = try jar.saveSession(named: "s", now: SessionTests.at(101))
        #expect(save.session.cookieCount == 2 && save.previous?.cookieCount == 3)
    }

    @Test("Saving a session under an existing name replaces and reports the earlier one, and affects only its jar")
    func names() throws {
        let (jar, other) = try twoJars()
        #expect(try jar.saveSession(named: "s", now: Given.now).previous == nil)
        #expect(try other.saveSession(named: "s", now: Given.now).previous == nil)
        try jar.receive("n=1; Path=/")
        let save = try jar.saveSession(named: "s", now: SessionTests.at(1))
        #expect(save.previous == SavedSession(name: "s", creation: Given.now, cookieCount: 3))
        #expect(save.session == SavedSession(name: "s", creation: SessionTests.at(1), cookieCount: 4))
        try jar.saveSession(named: "a", now: SessionTests.at(2))
        #expect(try jar.savedSessions().map(\.name) == ["a", "s"] && jar.savedSessions().last == save.session)
        #expect(try other.savedSessions().map(\.cookieCount) == [3])
        #expect(try jar.database.number("SELECT count(*) FROM snapshot_cookie") == 11)
        #expect(try jar.removeSavedSession(named: "s") == save.session)
        #expect(try jar.savedSessions().map(\.name) == ["a"] && other.savedSessions().count == 1)
        #expect(errorCode { try jar.removeSavedSession(named: "s") } == .sessionNotFound)
        #expect(errorCode { try jar.restoreSession(named: "s", now: Given.now) } == .sessionNotFound)
        #expect(errorCode { try jar.saveSession(named: "", now: Given.now) } == .nameInvalid)
        #expect(try jar.contents().count == 4)
    }

    @Test("A restore that fails in the middle changes nothing", arguments: ["DELETE", "UPDATE", "INSERT"])
    func atomic(statement: String) throws {
        let (jar, _) = try twoJars()
        try jar.saveSession(named: "s", now: Given.now)
        try jar.receive("s=changed; Path=/", "p=; Path=/; Max-Age=0", "n=1; Path=/", now: SessionTests.at(2))
        let before = try rows(jar)
        let name = ["DELETE": "n", "UPDATE": "s", "INSERT": "p"][statement] ?? ""
        try jar.database.failing(statement, of: name) {
            #expect(errorCode { try jar.restoreSession(named: "s", now: SessionTests.at(3)) } == .databaseFailed)
        }
        #expect(try rows(jar) == before)
        #expect(try jar.restoreSession(named: "s", now: SessionTests.at(3)).cookieCount == 3)
        #expect(try jar.pairs() == ["s=1", "p=2", "t=3"])
    }

    @Test("A tampered flag is restored as it was saved, and tampering with a saved session is detected")
    func tampered() throws {
        let (jar, _) = try twoJars()
        try jar.saveSession(named: "s", now: Given.now)
        try jar.database.execute("UPDATE cookie SET http_only = 0, secure = 0")
        #expect(try jar.cookies().unreadable.count == 1)
        #expect(try jar.restoreSession(named: "s", now: Given.now).changed == 1)
        #expect(try jar.cookies().unreadable.isEmpty && jar.header().contains("t=3"))
        try jar.database.execute("UPDATE snapshot_cookie SET http_only = 0")
        try jar.restoreSession(named: "s", now: Given.now)
        #expect(try jar.cookies().unreadable.map(\.name) == ["t"])
    }

    @Test("A session of imported cookies is restored after the capture's record was removed")
    func capture() throws {
        let (jar, _) = try twoJars()
        try jar.database.execute(
            "INSERT INTO capture (jar_id, digest, name, imported_at) VALUES (\(jar.id), x'00', 'har', 1)")
        try jar.database.execute("UPDATE cookie SET capture_id = (SELECT id FROM capture) WHERE jar_id = \(jar.id)")
        try jar.saveSession(named: "s", now: Given.now)
        let before = try rows(jar)
        try jar.endSession(now: Given.now)
        try jar.restoreSession(named: "s", now: Given.now)
        #expect(try rows(jar) == before)
        try jar.endSession(now: Given.now)
        try jar.database.execute("DELETE FROM capture")
        try jar.restoreSession(named: "s", now: Given.now)
        #expect(try jar.pairs() == ["s=1", "p=2", "t=3"])
        #expect(try jar.database.number("SELECT count(*) FROM cookie WHERE capture_id IS NOT NULL") == 0)
    }

    @Test(
        "After any operations, restoring a session returns the saved cookies, except for expired ones",
        arguments: 0..<60)
    func property(seed: Int) throws {
        let database = try Given.database(lastAccessGranularity: 0)
        let jar = try database.jar(named: "jar", now: Given.now)
        var scenario = RandomScenario(seed: seed)
        let saved = try jar.run(&scenario, steps: 40, from: Given.now)
        let before = try jar.contents().filter { !$0.isExpired(at: saved) }
        #expect(try jar.saveSession(named: "s", now: saved).session.cookieCount == before.count)
        var later = try jar.run(&scenario, steps: 40, from: saved)
        if seed % 3 == 0 { try jar.endSession(now: later) }
        if seed % 4 == 0 { try database.clearJar(named: "jar", now: Given.now) }
        if seed % 5 == 0 { try database.renameJar(named: "jar", to: "renamed") }
        let restored = try jar.restoreSession(named: "s", now: later)
        let expected = before.filter { !$0.isExpired(at: later) }
        #expect(try jar.contents(at: later) == expected)
        #expect(Set(restored.expired.map(\.id)) == Set(before.filter { $0.isExpired(at: later) }.map(\.id)))
        // No place in the order of creation is given twice.
        later = try jar.run(&scenario, steps: 20, from: later)
        #expect(
            try database.number("SELECT count(*) - count(DISTINCT sequence) FROM cookie WHERE jar_id = \(jar.id)") == 0)
    }
}
