import CookieModel
import Foundation
import Testing

@testable import SQLiteEngine
@testable import SessionStore

@Suite("Schema versions")
struct VersionTests {
    private let folder = TemporaryFolder()

    @Test("A database of a newer version is rejected and not changed", .onlyOnSQLite("is about its file"))
    func newer() throws {
        let path = folder.file("crumb.sqlite")
        do {
            let database = try Given.database(path)
            try database.jar(now: Given.now).receive("a=1")
            try database.execute("INSERT INTO grdb_migrations (identifier) VALUES ('V999')")
        }
        let before = try folder.contents()
        #expect(before.keys.sorted() == ["crumb.sqlite"])
        for _ in 0..<2 { #expect(errorCode { try Given.database(path) } == .databaseNewer) }
        #expect(try folder.contents() == before)
    }

    @Test(
        "A database of a pre-release is rejected and not changed, with the next step",
        .onlyOnSQLite("is about its file"),
        arguments: [["V001"], (1...19).map { "V0" + ($0 < 10 ? "0" : "") + "\($0)" }])
    func prerelease(schema: [String]) throws {
        let path = folder.file("crumb.sqlite")
        let newest = try #require(schema.last)
        do {
            let database = try Given.database(path)
            try database.jar(now: Given.now).receive("a=1")
            try database.execute("DELETE FROM grdb_migrations")
            for name in schema { try database.execute("INSERT INTO grdb_migrations (identifier) VALUES ('\(name)')") }
        }
        let before = try folder.contents()
        for _ in 0..<2 {
            #expect {
                try Given.database(path)
            } throws: { error in
                (error as? SessionStoreError)?.code == .databasePrerelease
                    && "\(error)".hasPrefix("\(path): a pre-release of crumb wrote the database (schema \(newest))")
                    && "\(error)".hasSuffix("import them into a new database, and log in again")
            }
        }
        #expect(try folder.contents() == before)
        let copy = folder.file("restored.sqlite")
        #expect(
            errorCode { try SessionDatabase.restore(path, to: copy, keys: .key(Given.key()), now: Given.now) }
                == .databasePrerelease)
        #expect(try folder.bytes("crumb.sqlite") == before["crumb.sqlite"])
        #expect(!FileManager.default.fileExists(atPath: copy))
    }

    @Test("Opening a database of this version changes no byte of it")
    func same() throws {
        let path = folder.file("crumb.sqlite")
        try Given.jar(path).receive("a=1; Path=/")
        let before = try folder.contents()
        for _ in 0..<2 { #expect(try Given.jar(path).header() == "a=1") }
        #expect(try folder.contents() == before)
    }

    @Test("A database with an application ID but no schema is completed", .onlyOnSQLite("is about its file"))
    func unfinished() throws {
        let path = folder.file("crumb.sqlite")
        do {
            let database = try Given.database(path)
            for table in [
                "gateway_authority", "web_storage", "jar_site", "confirmed_clock", "former_journal", "header_field",
                "jar_undo", "rejected_cookie", "service_token_jar",
                "service_token",
                "service_token_generation",
                "login_rule",
                "token_change", "token_lease", "cookie", "cookie_change", "snapshot_cookie", "snapshot", "capture",
                "jar",
                "token_profile", "grdb_migrations", "sealing_key",
            ] {
                try database.execute("DROP TABLE \(table)")
            }
        }
        try Given.jar(path).receive("a=1")
        #expect(try Given.jar(path).header() == "a=1")
    }

    @Test("The schema has its version, and the file its application ID", .onlyOnSQLite("is about its file"))
    func marked() throws {
        let path = folder.file("crumb.sqlite")
        let database = try Given.database(path)
        #expect(database.schemaVersion == SchemaMigrations.newest)
        #expect(try folder.bytes("crumb.sqlite")[68..<72].elementsEqual("Crmb".utf8))
        #expect(try database.number("PRAGMA application_id") == Int64(DatabaseFile.applicationID))
        #expect(try database.number("PRAGMA foreign_keys") == 1)
        #expect(try database.number("PRAGMA secure_delete") == 1)
        #expect(try database.number("PRAGMA synchronous") == 1)
        let full = try SessionDatabase(path: path, keys: .key(Given.key()), durability: .full, now: Given.now)
        #expect(try full.number("PRAGMA synchronous") == 2)
    }

    @Test("Removing a jar's row removes its cookies")
    func cascade() throws {
        let jar = try Given.jar()
        try jar.receive("a=1")
        try jar.database.execute("DELETE FROM jar")
        #expect(try jar.database.number("SELECT count(*) FROM cookie") == 0)
    }

    @Test("No column of a cookie's identity may be NULL")
    func noNulls() throws {
        let jar = try Given.jar()
        try jar.receive("a=1")
        for column in ["jar_id", "site", "domain", "path", "name", "host_only", "partition_key"] {
            #expect(throws: SessionStoreError.self) {
                try jar.database.execute("UPDATE cookie SET \(column) = NULL")
            }
        }
    }
}
