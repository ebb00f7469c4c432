import CookieModel
import Foundation
import Testing

@testable import PostgreSQLEngine
@testable import SessionStore

/// P006 to P009: the jar's id leads the keys of captures and saved sessions.
@Suite("Keys that begin with the jar's id", .onlyOnServer)
struct JarKeyMigrationTests {
    private let server: TestServer

    init() throws {
        server = try #require(TestServer.shared)
    }

    private static let cookieColumns = """
        site, domain, path, name, host_only, partition_key, value, secure, http_only, same_site, expires_at, created_at,
        sequence, last_access_at, capture_id, source_url, received_at
        """

    private func run(_ statements: [String], _ session: PostgreSQLSession) throws {
        for statement in statements {
            try session.enqueue(statement)
            try session.synchronize()
        }
    }

    private func rows(_ sql: String, _ session: PostgreSQLSession) throws -> [String] {
        let statement = session.known(sql)
        defer { statement.reset() }
        var rows: [String] = []
        while try statement.step() { rows.append(statement.text(0)) }
        return rows
    }

    private func upgrade(_ name: String, to version: String = PostgreSQLSchema.newest) throws {
        try PostgreSQLSchema(server.target(name)).upgrade(with: PostgreSQLSchema.all.filter { $0.name <= version })
    }

    /// What a program that knows P005 writes when it imports a capture and saves a session.
    private func fill(_ session: PostgreSQLSession, jar: Int) throws {
        try run(
            [
                "INSERT INTO jar (id, name, profile, created_at, next_sequence) VALUES (\(jar), 'jar\(jar)', 'browser', 0, 4)",
                "INSERT INTO capture (id, jar_id, digest, name, imported_at) VALUES (\(jar), \(jar), '\\x01', 'har\(jar)', 1)",
                """
                INSERT INTO cookie (jar_id, \(Self.cookieColumns))
                SELECT \(jar), 'example.com', 'www.example.com', '/', 'c' || number::text::bytea, 1, '', '\\x00', 0, 0, 0,
                    NULL, 1, number, 1, \(jar), NULL, NULL
                FROM generate_series(1, 3) AS given (number)
                """,
                "INSERT INTO snapshot (id, jar_id, name, created_at) VALUES (\(jar), \(jar), 'saved', 1)",
                """
                INSERT INTO snapshot_cookie (snapshot_id, \(Self.cookieColumns))
                SELECT \(jar), \(Self.cookieColumns) FROM cookie WHERE jar_id = \(jar)
                """,
            ], session)
    }

    @Test("The migration to jar keys keeps captures and saved sessions, which continue to work")
    func kept() throws {
        let name = try server.newDatabase(version: "P005")
        let session = try PostgreSQLSession(server.target(name))
        for jar in 1...3 { try fill(session, jar: jar) }
        let contents = ["capture", "snapshot", "snapshot_cookie", "cookie"].map {
            "SELECT (to_jsonb(r) - 'jar_id')::text FROM \($0) AS r ORDER BY 1"
        }
        let before = try contents.map { try rows($0, session) }
        try upgrade(name)
        #expect(try contents.map { try rows($0, session) } == before)
        #expect(
            try rows("SELECT DISTINCT jar_id || ' ' || snapshot_id FROM snapshot_cookie ORDER BY 1", session)
                == ["1 1", "2 2", "3 3"])
        #expect(try rows("SELECT conname::text FROM pg_constraint WHERE NOT convalidated", session).isEmpty)

        let database = try server.open(server.target(name))
        let jar = try database.present("jar2")
        #expect(try jar.savedSessions().map(\.cookieCount) == [3])
        try database.execute("DELETE FROM cookie WHERE jar_id = 2")
        #expect(try jar.restoreSession(named: "saved", now: Given.now).added == 3)
        #expect(try Set(jar.origins().values.map(\.capture)) == ["har2"])
        try database.execute("DELETE FROM capture WHERE jar_id = 2")
        #expect(try database.number("SELECT count(capture_id) FROM cookie") == 6)
        #expect(try database.number("SELECT count(*) FROM cookie") == 9)
        _ = try jar.removeSavedSession(named: "saved")
        #expect(try database.number("SELECT count(*) FROM snapshot_cookie") == 6)
        _ = try database.removeJar(named: "jar3")
        #expect(try database.number("SELECT count(*) FROM snapshot_cookie WHERE jar_id = 1") == 3)
        #expect(try database.number("SELECT count(*) FROM snapshot_cookie") == 3)
    }

    @Test(
        "Programs that know P005 work at every step of the migration to jar keys",
        arguments: ["P006", "P007", "P008", "P009", "P010", "P011"])
    func formerPrograms(version: String) throws {
        let name = try server.newDatabase(version: "P005")
        let session = try PostgreSQLSession(server.target(name))
        for jar in 1...2 { try fill(session, jar: jar) }
        try upgrade(name, to: version)
        try fill(session, jar: 3)
        // What they read, restore, seal anew, forget and remove.
        #expect(
            try rows(
                """
                SELECT name || (SELECT count(*) FROM snapshot_cookie WHERE snapshot_id = id) FROM snapshot
                WHERE jar_id = 3 ORDER BY name
                """, session) == ["saved3"])
        let jar = "(SELECT jar_id FROM snapshot WHERE id = snapshot_id)"
        #expect(
            try rows("SELECT DISTINCT \(jar) || name::text FROM snapshot_cookie WHERE name = 'c1' ORDER BY 1", session)
                == ["1\\x6331", "2\\x6331", "3\\x6331"])
        try run(
            [
                "DELETE FROM cookie WHERE jar_id = 3",
                """
                INSERT INTO cookie (jar_id, \(Self.cookieColumns)) SELECT 3, \(Self.cookieColumns)
                FROM snapshot_cookie AS saved WHERE saved.snapshot_id = 3
                """,
                "UPDATE snapshot_cookie SET value = '\\x01' WHERE snapshot_id IN (1, 3)",
                "DELETE FROM snapshot WHERE id = 1", "UPDATE capture SET digest = '\\x02' WHERE id = 2",
            ], session)
        #expect(try rows("SELECT DISTINCT snapshot_id::text FROM snapshot_cookie ORDER BY 1", session) == ["2", "3"])
        try run(["DELETE FROM jar WHERE id = 2"], session)
        #expect(try rows("SELECT name FROM capture ORDER BY 1", session) == ["har1", "har3"])
        try upgrade(name)
        #expect(try rows("SELECT DISTINCT jar_id::text FROM snapshot_cookie ORDER BY 1", session) == ["3"])
        #expect(try rows("SELECT capture_id::text FROM cookie WHERE jar_id = 3", session) == ["3", "3", "3"])
    }

    @Test(
        "Migration steps that read large tables delay no response",
        arguments: [
            ("P006", "P007", "cookie IN ROW EXCLUSIVE MODE; capture IN ROW SHARE MODE; snapshot IN ACCESS SHARE MODE"),
            ("P008", "P009", "cookie, capture, snapshot, snapshot_cookie, jar IN ROW EXCLUSIVE MODE"),
        ])
    func locks(before: String, version: String, held: String) throws {
        let name = try server.newDatabase(version: before)
        let other = try PostgreSQLSession(server.target(name))
        try run(["BEGIN"] + held.split(separator: "; ").map { "LOCK TABLE \($0)" }, other)
        try upgrade(name, to: version)
        try run(["COMMIT"], other)
    }

    @Test(
        "A migration step that does not get its locks in time changes nothing, and the next upgrade continues with it")
    func busy() throws {
        let name = try server.newDatabase(version: "P005")
        let other = try PostgreSQLSession(server.target(name))
        try run(["BEGIN", "LOCK TABLE cookie IN ROW EXCLUSIVE MODE"], other)
        let target = try server.target(name).waiting(atMost: 1)
        #expect {
            try PostgreSQLSchema(target).upgrade()
        } throws: { ($0 as? StoreFailure)?.kind == .busy }
        #expect(try PostgreSQLSchema(target).version()?.newest == "P007")
        try run(["COMMIT"], other)
        #expect(try PostgreSQLSchema(target).upgrade() == ["P008", "P009", "P010", "P011"])
    }

    @Test("A migration step may take longer than the timeout of requests")
    func slow() throws {
        let target = try server.target(server.newDatabase()).waiting(atMost: 1)
        let slow = PostgreSQLSchema.Migration(name: "P999", sql: Array("SELECT pg_sleep(1.5);\n".utf8))
        #expect(try PostgreSQLSchema(target).upgrade(with: [slow]) == ["P999"])
        #expect(throws: StoreFailure.self) {
            let session = try PostgreSQLSession(target)
            try run(["SELECT pg_sleep(1.5)"], session)
        }
    }

    @Test("Every unique key of a jar's tables begins with the jar's ID")
    func keys() throws {
        let session = try PostgreSQLSession(server.target(server.newDatabase()))
        let others = try rows(
            """
            SELECT class.relname || ': ' || pg_get_indexdef(index.indexrelid, 1, true) FROM pg_index AS index
            JOIN pg_class AS class ON class.oid = index.indrelid
            JOIN pg_attribute AS jar ON jar.attrelid = class.oid AND jar.attname = 'jar_id'
            WHERE class.relnamespace = 'crumb'::regnamespace AND index.indisunique AND index.indkey[0] <> jar.attnum
            ORDER BY 1
            """, session)
        // The id of an entry has the jar's in its upper bits. `jar_site` is asked which jars have a site.
        #expect(others == ["cookie_change: id", "jar_site: site"])
        let references = try rows(
            """
            SELECT conrelid::regclass || ' ' || confrelid::regclass FROM pg_constraint
            WHERE contype = 'f' AND confrelid IN ('capture'::regclass, 'snapshot'::regclass) AND NOT EXISTS (
                SELECT 1 FROM pg_attribute
                WHERE attrelid = conrelid AND attnum = conkey[1] AND attname = 'jar_id')
            """, session)
        #expect(references.isEmpty)
    }
}
