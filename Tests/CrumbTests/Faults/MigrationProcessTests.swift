import Foundation
import Platform
import TestSupport
import Testing

@testable import SQLiteEngine

@Suite("Processes that are killed while they bring a database up to date")
struct MigrationProcessTests {
    private let home = CrumbHome()
    private static let cookies = 20_000

    /// Makes a database with many rows, all but a few of which nobody can open.
    private func makeOldDatabase() throws {
        try home.receive("a=1; Path=/", "b=2; Path=/")
        let script = """
            WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < \(MigrationProcessTests.cookies))
            INSERT INTO cookie (jar_id, site, domain, path, name, host_only, value, secure, http_only, same_site,
                created_at, sequence, last_access_at)
            SELECT 1, CAST('many' || n || '.example' AS BLOB), CAST('many' || n || '.example' AS BLOB),
                x'2F', x'63', 1, zeroblob(300), 0, 0, 0, 1, n + 10, 1 FROM number;
            INSERT OR IGNORE INTO jar_site SELECT site, jar_id FROM cookie;
            """
        try home.write(script, to: "script.sql")
        let made = try home.shell("sqlite3 crumb.sqlite < script.sql && cp -p crumb.sqlite old.sqlite")
        try #require(made.status == 0 && made.messages.isEmpty, "sqlite3 is needed: \(made.messages)")
    }

    private func number(_ sql: String) throws -> String {
        try home.shell("sqlite3 work.sqlite \"\(sql)\"").text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func count(_ table: String) throws -> String {
        try number("SELECT count(*) FROM \(table)")
    }

    /// Starts a process that brings the copy of the database up to date, as a later version of the program does.
    private func migrate() throws -> RunningProcess {
        try home.start(["migrate", home.file("work.sqlite")], of: RunningProcess.built("jar-worker"))
    }

    private func copy() throws {
        for end in ["", "-wal", "-shm"] { unlink(home.file("work.sqlite\(end)")) }
        #expect(try home.shell("cp -p old.sqlite work.sqlite").status == 0)
    }

    @Test("The old version is left, or a later one, and all work")
    func killed() throws {
        try makeOldDatabase()
        let oldest = SchemaMigrations.newest
        let names = [oldest] + LaterSchema.migrations.map(\.name)
        let newest = try #require(names.last)
        try copy()
        // How long it takes if it is not killed, which depends on what else the machine does.
        let start = ContinuousClock.now
        #expect(try migrate().wait().status == 0)
        let duration = ContinuousClock.now - start
        var seen: Set<String> = []
        for round in 0..<30 {
            try copy()
            let process = try migrate()
            usleep(UInt32(duration / .microseconds(1) * Double(round) / 25))
            process.kill()
            _ = process.wait()
            let version = try number("SELECT max(identifier) FROM grdb_migrations")
            seen.insert(version)
            #expect(names.contains(version), "round \(round)")
            // The version that is there is whole: its tables are those of its schema, and all rows are in them.
            let column = try count("pragma_table_info('cookie') WHERE name = 'later'")
            #expect(column == (version >= "V198" ? "1" : "0"), "round \(round)")
            let table = try count("sqlite_schema WHERE name = 'later'")
            #expect(table == (version >= "V199" ? "1" : "0"), "round \(round)")
            #expect(try count("sqlite_schema WHERE name = 'jar_site_later'") == "0", "round \(round)")
            #expect(try count("cookie") == "\(MigrationProcessTests.cookies + 2)")
            #expect(try count("jar_site") == "\(MigrationProcessTests.cookies + 1)")
            #expect(try number("PRAGMA integrity_check") == "ok")
            let next = try migrate().wait()
            #expect(next.status == 0, "round \(round): \(next.messages)")
            #expect(try number("SELECT max(identifier) FROM grdb_migrations") == newest)
            #expect(try count("cookie WHERE later = sequence") == "\(MigrationProcessTests.cookies + 2)")
            #expect(try number(LaterSchema.forgetting).isEmpty)
            let header = try home.crumb("header", "--database", home.file("work.sqlite"), "https://www.example.com/")
            #expect(header.text == "Cookie: a=1; b=2\n", "round \(round): \(header.messages)")
        }
        #expect(seen.isSuperset(of: [oldest, newest]))
    }
}
