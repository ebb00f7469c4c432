import Foundation
import Platform
import TestSupport
import Testing

@Suite("Processes that are killed while they bring a database up to date")
struct MigrationProcessTests {
    private let home = CrumbHome()
    private static let cookies = 20_000

    /// Makes a database of the first version with many rows, all but a few of which nobody can open.
    private func makeOldDatabase() throws {
        try home.receive("a=1; Path=/", "b=2; Path=/")
        let schema = Repository.root.appending(path: "Migrations/V001_cookies_and_tokens.sql").path
        let script = """
            .read '\(schema)'
            PRAGMA application_id = 1131572578;
            PRAGMA journal_mode = WAL;
            ATTACH 'crumb.sqlite' AS new;
            CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
            INSERT INTO grdb_migrations VALUES ('V001');
            INSERT INTO sealing_key SELECT * FROM new.sealing_key;
            INSERT INTO jar SELECT id, name, profile, created_at FROM new.jar;
            INSERT INTO cookie SELECT jar_id, site, domain, path, name, host_only, partition_key, value, secure,
                http_only, same_site, expires_at, created_at, sequence, last_access_at FROM new.cookie;
            WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < \(MigrationProcessTests.cookies))
            INSERT INTO cookie SELECT 1, CAST('many' || n || '.example' AS BLOB), CAST('many' || n || '.example' AS BLOB),
                x'2F', x'63', 1, '', zeroblob(300), 0, 0, 0, NULL, 1, n + 10, 1 FROM number;
            """
        try home.write(script, to: "script.sql")
        let made = try home.shell("sqlite3 old.sqlite < script.sql && chmod 600 old.sqlite")
        try #require(made.status == 0 && made.messages.isEmpty, "sqlite3 is needed: \(made.messages)")
    }

    private func number(_ sql: String) throws -> String {
        try home.shell("sqlite3 work.sqlite \"\(sql)\"").text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Starts a command that brings a fresh copy up to date.
    private func migrate() throws -> RunningProcess {
        for end in ["", "-wal", "-shm"] { unlink(home.file("work.sqlite\(end)")) }
        #expect(try home.shell("cp -p old.sqlite work.sqlite").status == 0)
        return try home.start(["status", "--database", home.file("work.sqlite")])
    }

    @Test("The old version is left, or the new one, and both work")
    func killed() throws {
        try makeOldDatabase()
        let versions = try Set(
            FileManager.default.contentsOfDirectory(atPath: Repository.root.appending(path: "Migrations").path)
                .filter { $0.hasSuffix(".sql") }.map { String($0.prefix(4)) })
        let newest = try #require(versions.max())
        // How long it takes where nobody kills it, which depends on what else the machine does.
        let start = ContinuousClock.now
        #expect(try migrate().wait().status == 0)
        let duration = ContinuousClock.now - start
        var seen: Set<String> = []
        for round in 0..<30 {
            let process = try migrate()
            usleep(UInt32(duration / .microseconds(1) * Double(round) / 25))
            process.kill()
            _ = process.wait()
            let version = try number("SELECT max(identifier) FROM grdb_migrations")
            seen.insert(version)
            #expect(versions.contains(version), "round \(round)")
            // The version that is there is whole: its tables are those of its schema, and all rows are in them.
            let tables = try number(
                "SELECT count(*) FROM sqlite_schema WHERE name IN ('capture', 'snapshot', 'cookie_change')")
            #expect(tables == (version == "V001" ? "0" : "3"), "round \(round)")
            let latest = try number(
                "SELECT count(*) FROM sqlite_schema WHERE name IN ('token_lease', 'token_change', 'login_rule')")
            #expect(latest == (version >= "V004" ? "3" : "0"), "round \(round)")
            let service = try number("SELECT count(*) FROM sqlite_schema WHERE name = 'service_token'")
            #expect(service == (version >= "V005" ? "1" : "0"), "round \(round)")
            let fields = try number("SELECT count(*) FROM sqlite_schema WHERE name = 'header_field'")
            #expect(fields == (version >= "V006" ? "1" : "0"), "round \(round)")
            let former = try number("SELECT count(*) FROM sqlite_schema WHERE name = 'former_journal'")
            #expect(former == (version >= "V007" ? "1" : "0"), "round \(round)")
            let sources = try number(
                "SELECT count(*) FROM pragma_table_info('cookie_change') WHERE name IN ('capture_id', 'source_url')")
            #expect(sources == (version >= "V011" ? "2" : "0"), "round \(round)")
            let sites = try number("SELECT count(*) FROM sqlite_schema WHERE name = 'jar_site'")
            #expect(sites == (version >= "V012" ? "1" : "0"), "round \(round)")
            let saved = try number("SELECT count(*) FROM pragma_table_info('snapshot_cookie') WHERE name = 'jar_id'")
            #expect(saved == (version >= "V017" ? "1" : "0"), "round \(round)")
            #expect(try number("SELECT count(*) FROM cookie") == "\(MigrationProcessTests.cookies + 2)")
            #expect(try number("PRAGMA integrity_check") == "ok")
            let header = try home.crumb("header", "--database", home.file("work.sqlite"), "https://www.example.com/")
            #expect(header.text == "Cookie: a=1; b=2\n", "round \(round): \(header.messages)")
            #expect(try number("SELECT max(identifier) FROM grdb_migrations") == newest)
            #expect(try number("SELECT next_sequence FROM jar") == "\(MigrationProcessTests.cookies + 11)")
        }
        #expect(seen.isSuperset(of: ["V001", newest]))
    }
}
