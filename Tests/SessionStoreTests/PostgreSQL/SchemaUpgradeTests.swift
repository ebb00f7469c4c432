import CookieModel
import Foundation
import Testing

@testable import PostgreSQLEngine
@testable import SessionStore

/// The program has one migration. The others here exist only in the tests.
@Suite("The schema of a database on a server", .onlyOnServer)
struct SchemaUpgradeTests {
    private let server: TestServer

    init() throws {
        server = try #require(TestServer.shared)
    }

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

    /// A migration of a later version that does something and notes itself.
    private func migration(_ name: String, oldestReader: String = "P101", _ sql: String) -> PostgreSQLSchema.Migration {
        let note = """
            INSERT INTO crumb.schema_migration (name, oldest_reader) VALUES ('\(name)', '\(oldestReader)');

            """
        return PostgreSQLSchema.Migration(name: name, sql: Array("\(note)\(sql);\n".utf8))
    }

    @Test("Captures and saved sessions are found and removed by the jar's ID")
    func references() throws {
        let name = try server.newDatabase()
        let session = try PostgreSQLSession(server.target(name))
        let columns = """
            site, domain, path, name, host_only, partition_key, value, secure, http_only, same_site, expires_at,
            created_at, sequence, last_access_at, capture_id, source_url, received_at
            """
        for jar in 1...3 {
            try run(
                [
                    """
                    INSERT INTO jar (id, name, profile, created_at, next_sequence)
                    VALUES (\(jar), 'jar\(jar)', 'browser', 0, 4)
                    """,
                    """
                    INSERT INTO capture (id, jar_id, digest, name, imported_at)
                    VALUES (\(jar), \(jar), '\\x01', 'har\(jar)', 1)
                    """,
                    """
                    INSERT INTO cookie (jar_id, \(columns))
                    SELECT \(jar), 'example.com', 'www.example.com', '/', 'c' || number::text::bytea, 1, '', '\\x00', 0, 0,
                        0, NULL, 1, number, 1, \(jar), NULL, NULL
                    FROM generate_series(1, 3) AS given (number)
                    """,
                    "INSERT INTO snapshot (id, jar_id, name, created_at) VALUES (\(jar), \(jar), 'saved', 1)",
                    """
                    INSERT INTO snapshot_cookie (jar_id, snapshot_id, \(columns))
                    SELECT \(jar), \(jar), \(columns) FROM cookie WHERE jar_id = \(jar)
                    """,
                ], session)
        }
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

    @Test("A program continues on a later schema that permits it, and rejects one that does not")
    func laterSchema() throws {
        let name = try server.newDatabase()
        let target = try server.target(name)
        let schema = try PostgreSQLSchema(target)
        let permitted = migration("P198", "ALTER TABLE crumb.jar ADD COLUMN later bigint")
        #expect(try schema.upgrade(with: PostgreSQLSchema.all + [permitted]) == ["P198"])
        #expect(try schema.upgrade(with: PostgreSQLSchema.all + [permitted]) == [])
        #expect(try schema.bringUpToDate() == [])
        #expect(try schema.checkedVersion() == "P198")
        let jar = try server.open(target).jar(now: Given.now)
        try jar.receive("a=1; Path=/")
        #expect(try jar.header() == "a=1")
        let other = migration("P199", oldestReader: "P199", "ALTER TABLE crumb.jar DROP COLUMN later")
        #expect(try schema.upgrade(with: PostgreSQLSchema.all + [permitted, other]) == ["P199"])
        #expect(errorCode { try schema.checkedVersion() } == .databaseNewer)
        #expect(errorCode { try PostgreSQLDatabase(target) } == .databaseNewer)
    }

    @Test("The schema of a pre-release is rejected and not changed", arguments: ["P001", "P011"])
    func prerelease(version: String) throws {
        let name = try server.newDatabase()
        let target = try server.target(name)
        let session = try PostgreSQLSession(target)
        try run(["UPDATE schema_migration SET name = '\(version)', oldest_reader = 'P001'"], session)
        let schema = try PostgreSQLSchema(target)
        #expect(errorCode { try schema.checkedVersion() } == .databasePrerelease)
        #expect(errorCode { try schema.create() } == .databasePrerelease)
        #expect(errorCode { try schema.bringUpToDate() } == .databasePrerelease)
        #expect(errorCode { try PostgreSQLDatabase(target) } == .databasePrerelease)
        #expect(try rows("SELECT name FROM schema_migration", session) == [version])
    }

    @Test(
        "A migration step that does not get its locks in time changes nothing, and the next upgrade continues with it")
    func busy() throws {
        let name = try server.newDatabase()
        let other = try PostgreSQLSession(server.target(name))
        try run(["BEGIN", "LOCK TABLE cookie IN ROW EXCLUSIVE MODE"], other)
        let target = try server.target(name).waiting(atMost: 1)
        let steps = [
            migration("P197", "ALTER TABLE crumb.jar ADD COLUMN later bigint"),
            migration("P198", "ALTER TABLE crumb.cookie ADD COLUMN later bigint"),
            migration("P199", "ALTER TABLE crumb.snapshot ADD COLUMN later bigint"),
        ]
        #expect {
            try PostgreSQLSchema(target).upgrade(with: steps)
        } throws: { ($0 as? StoreFailure)?.kind == .busy }
        #expect(try PostgreSQLSchema(target).version()?.newest == "P197")
        #expect(
            try rows(
                "SELECT relname::text FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid WHERE attname = 'later'",
                other)
                == ["jar"])
        try run(["COMMIT"], other)
        #expect(try PostgreSQLSchema(target).upgrade(with: steps) == ["P198", "P199"])
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
