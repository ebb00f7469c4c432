import CookieModel
import Foundation
import SQLite
import Testing

@testable import SQLiteEngine
@testable import SessionStore

@Suite("Checking a database")
struct CheckTests {
    private let folder = TemporaryFolder()

    private func database() throws -> SessionDatabase {
        let database = try SessionDatabase(
            path: folder.file("crumb.sqlite"), keys: .file(folder.file("key")), now: Given.now)
        try FullDatabase.fill(database, cookies: 4)
        return database
    }

    @Test("A sound database has no findings, and all values are read")
    func sound() throws {
        let database = try database()
        let before = try folder.bytes("crumb.sqlite")
        let check = try database.check()
        #expect(check.isSound && check.findings.isEmpty && check.readableValues == 28)
        #expect(try folder.bytes("crumb.sqlite") == before)
        #expect(try Given.database().check().isSound)
    }

    @Test(
        "A check names unreadable values by jar, saved session and token, and reads the others",
        arguments: [
            (
                "UPDATE cookie SET value = x'' WHERE name = x'6330' AND jar_id = 1",
                "cookie 'c0' of h0.example/0 in jar 'default'"
            ),
            (
                "UPDATE cookie SET http_only = 1 WHERE name = x'6331' AND jar_id = 2",
                "cookie 'c1' of h1.example/1 in jar 'work'"
            ),
            (
                "UPDATE snapshot_cookie SET expires_at = 1 WHERE name = x'70' AND snapshot_id = 2",
                "cookie 'p' of www.example.com/ in saved session 'saved' of jar 'work'"
            ),
            (
                "UPDATE snapshot_cookie SET value = zeroblob(40) WHERE name = x'6332' AND snapshot_id = 1",
                "cookie 'c2' of h2.example/2 in saved session 'saved' of jar 'default'"
            ),
            ("UPDATE token_profile SET refresh_token = x'00' WHERE name = 'p'", "refresh token of 'p'"),
            ("UPDATE token_profile SET access_token = id_token WHERE name = 'q'", "access token of 'q'"),
            (
                "UPDATE header_field SET value = zeroblob(40) WHERE jar_id = 2",
                "header field 'X-Key' for https://h1.example/ in jar 'work'"
            ),
            (
                "UPDATE gateway_authority SET certificate = certificate || 'x'",
                "private key of the gateway's authority for shop.example"
            ),
        ])
    func unreadable(sql: String, named: String) throws {
        let database = try database()
        try database.execute(sql)
        let check = try database.check()
        #expect(!check.isSound && check.readableValues == 27)
        #expect(check.findings.map(\.code) == [.unreadable])
        #expect(check.findings.map { $0.location?.description } == [named])
        #expect(check.findings.allSatisfy { $0.description.hasPrefix(named + ": ") })
    }

    @Test("A check finds saved cookies that were swapped or moved to another jar")
    func swapped() throws {
        let database = try database()
        try database.execute(
            """
            UPDATE snapshot_cookie SET value = (SELECT value FROM snapshot_cookie AS other
                WHERE other.snapshot_id = 1 AND other.name = x'6330')
            WHERE snapshot_id = 1 AND name = x'6331'
            """)
        #expect(try database.check().findings.count == 1)
        try database.execute("INSERT INTO snapshot (id, jar_id, name, created_at) VALUES (9, 2, 'moved', 0)")
        try database.execute("UPDATE snapshot_cookie SET jar_id = 2, snapshot_id = 9 WHERE snapshot_id = 1")
        let findings = try database.check().findings
        #expect(findings.count == 5 && findings.allSatisfy { $0.location?.owner == "moved" })
    }

    @Test("A check finds every flipped bit of a saved value and of a token, and nothing else")
    func everyBit() throws {
        let database = try database()
        for (table, column, condition) in [
            ("snapshot_cookie", "value", "snapshot_id = 1 AND name = x'6330'"),
            ("token_profile", "access_token", "name = 'p'"), ("header_field", "value", "jar_id = 1"),
            ("gateway_authority", "private_key", "id = 1"),
        ] {
            let sealed = try database.blob("SELECT \(column) FROM \(table) WHERE \(condition)")
            for bit in 0..<(sealed.count * 8) {
                var changed = sealed
                changed[bit / 8] ^= 1 << UInt8(bit % 8)
                try database.execute("UPDATE \(table) SET \(column) = ? WHERE \(condition)", changed)
                let check = try database.check()
                #expect(check.findings.map(\.code) == [.unreadable] && check.readableValues == 27, "bit \(bit)")
            }
            try database.execute("UPDATE \(table) SET \(column) = ? WHERE \(condition)", sealed)
        }
        #expect(try database.check().isSound)
    }

    @Test("A check finds rows without owners")
    func orphans() throws {
        let database = try database()
        try #require(database.engine.file).queue.sync { connection in
            try connection.execute(
                "PRAGMA foreign_keys = OFF; DELETE FROM jar WHERE id = 2; PRAGMA foreign_keys = ON")
        }
        let findings = try database.check().findings
        #expect(
            findings.filter { $0.code == .orphan }.map(\.subject)
                == ["cookie", "cookie_change", "header_field", "rejected_cookie", "snapshot"].map {
                    "\(database.path), table \($0)"
                })
        #expect(findings.contains { $0.description.hasSuffix("5 rows belong to no jar") })
        // The values can be read, but their jar has no name.
        #expect(findings.allSatisfy { $0.code == .orphan })
    }

    @Test("A check finds a damaged structure")
    func structure() throws {
        let database = try database()
        try database.execute("CREATE INDEX spare ON cookie_change (name)")
        try #require(database.engine.file).queue.sync { connection in
            try connection.execute(
                """
                PRAGMA writable_schema = ON;
                UPDATE sqlite_schema SET sql = 'CREATE INDEX spare ON cookie_change (path)' WHERE name = 'spare';
                INSERT INTO cookie_change
                    (id, cause, changed_at, site, domain, path, name, host_only, partition_key)
                VALUES ((1 << 36) + 1000, 1, 0, x'61', x'61', x'62', x'63', 1, '');
                """)
        }
        let again = try SessionDatabase(
            path: folder.file("crumb.sqlite"), keys: .file(folder.file("key")), now: Given.now)
        let check = try again.check()
        #expect(check.findings.contains { $0.code == .structure && $0.isProblem })
        #expect(!check.isSound)
    }

    @Test("A check finds files and folders that other users can access", arguments: [0o640, 0o604, 0o666])
    func exposed(mode: Int) throws {
        let database = try database()
        for name in ["crumb.sqlite", "crumb.sqlite-wal", "crumb.sqlite-shm"] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.file(name))
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
        let findings = try database.check().findings
        #expect(findings.map(\.code) == Array(repeating: .exposed, count: 4))
        #expect(findings.last?.subject == folder.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
    }

    @Test("A check reports an unfinished rotation and files of a killed process as notes, not problems")
    func notes() throws {
        let database = try database()
        try KeyFile(folder.file("key")).appendKey(now: Given.now)
        try folder.write([1], to: "key.1-2.new")
        let check = try database.check()
        #expect(check.isSound)
        #expect(check.findings.map(\.code) == [.leftover, .formerKey])
        let newest = try #require(try KeyFile(folder.file("key")).load(mayCreate: false).last)
        try database.write { try SealingKeyRows(database: $0).append(newest, now: Given.now) }
        #expect(try database.check().findings.map(\.code) == [.leftover, .rotationUnfinished])
    }
}
