import CookieModel
import Foundation
import SQLite
import TestSupport
import Testing

@testable import SQLiteEngine
@testable import SessionStore

/// The program has one migration. A later version, which has more, is in ``LaterSchema``.
@Suite("Bringing an older database up to date")
struct MigrationTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.file("crumb.sqlite") }

    private static let all =
        SchemaMigrations.all
        + LaterSchema.migrations.map { SchemaMigrations.Migration(name: $0.name, sql: Array($0.sql.utf8)) }
    /// How many migrations an older database has seen.
    private static let versions = SchemaMigrations.all.count..<all.count

    /// Two jars with cookies of a capture and a saved session each.
    private func make(cookies: Int = 10) throws {
        let database = try Given.database(path)
        for name in ["default", "work"] {
            let jar = try database.createJar(named: name, settings: JarSettings(profile: .browser), now: Given.now)
            for number in 0..<cookies { try jar.receive("c\(number)=\(name) \(number); Path=/") }
            try database.execute(
                "INSERT INTO capture (jar_id, digest, name, imported_at) VALUES (\(jar.id), x'01', 'of \(name)', 1)")
            try database.execute(
                """
                UPDATE cookie SET capture_id = (SELECT id FROM capture WHERE jar_id = \(jar.id)) WHERE jar_id = \(jar.id)
                """)
            try FullDatabase.saveSession("saved", of: jar)
        }
    }

    /// Brings the database up to date as a program does that knows so many migrations.
    private func migrate(to version: Int = all.count) throws {
        try Self.migrate(path, Array(Self.all.prefix(version)))
    }

    private static func migrate(_ path: String, _ migrations: [SchemaMigrations.Migration]) throws {
        let database = try DatabaseConnection(path: path)
        defer { try? database.close() }
        try SchemaMigrations.run(on: database, path: path, migrations: migrations)
    }

    private func applied() throws -> [String] {
        let database = try DatabaseConnection(path: path)
        defer { try? database.close() }
        return try database.texts("SELECT identifier FROM grdb_migrations ORDER BY 1")
    }

    /// Opens the migrated database with the program.
    private func opened() throws -> SessionDatabase {
        let database = try DatabaseConnection(path: path)
        try database.execute(LaterSchema.forgetting)
        try database.close()
        return try Given.database(path)
    }

    @Test("A migration keeps everything in a database of every earlier version", arguments: versions)
    func upToDate(version: Int) throws {
        let before = try {
            let database = try Given.database(path)
            try FullDatabase.fill(database)
            return try FullDatabase.values(database)
        }()
        try migrate(to: version)
        #expect(try applied() == Self.all.prefix(version).map(\.name))
        try migrate()
        #expect(try applied() == Self.all.map(\.name))
        // Once is enough: the next opening changes nothing.
        let contents = try folder.contents()
        try migrate()
        #expect(try folder.contents() == contents)

        let database = try opened()
        #expect(try FullDatabase.values(database) == before)
        #expect(try database.check().findings.filter { $0.code != .exposed }.isEmpty)
        #expect(try database.number("SELECT count(*) FROM cookie WHERE later = sequence") > 60)
    }

    @Test("A migrated jar keeps its profile, its limits and its order of creation", arguments: versions)
    func jars(version: Int) throws {
        try make(cookies: 5)
        try migrate(to: version)
        try migrate()
        let jar = try opened().present("default")
        #expect(jar.policy.profile == .browser && jar.policy.limits == .browser)
        try jar.receive("new=1; Path=/")
        let sequences = try jar.cookies().readable.sorted { $0.sequence < $1.sequence }
        #expect(sequences.map(\.name) == ["c0", "c1", "c2", "c3", "c4", "new"])
        #expect(sequences.map(\.sequence) == Array(1...6))
        let changes = try jar.changes(after: 0)
        #expect(changes.changes.map(\.position) == Array(1...6) && !changes.hasGap)
    }

    @Test(
        "A session that was saved before a migration is restored completely, and removed", arguments: versions)
    func savedSession(version: Int) throws {
        try make()
        try migrate(to: version)
        try migrate()
        let database = try opened()
        let jar = try database.present("work")
        let (before, origins) = (try jar.contents(), try jar.origins())
        #expect(Set(origins.values.map(\.capture)) == ["of work"] && origins.count == 10)
        for kept in [10, 5, 0] {
            let numbers = (kept..<10).map(String.init).joined(separator: ", ")
            try database.execute("DELETE FROM cookie WHERE jar_id = 2 AND sequence - 1 IN (\(numbers))")
            #expect(try jar.restoreSession(named: "saved", now: Given.now).added == 10 - kept)
            #expect(try jar.contents() == before && jar.origins() == origins)
        }
        #expect(try jar.removeSavedSession(named: "saved").cookieCount == 10)
        #expect(try database.number("SELECT count(*) FROM snapshot_cookie WHERE jar_id = 1") == 10)
        #expect(try database.number("SELECT count(*) FROM snapshot_cookie") == 10)
    }

    @Test("A migration that fails half-way leaves the old version, which works", arguments: versions, 0..<6)
    func failing(version: Int, step: Int) throws {
        try make()
        try migrate(to: version)
        let next = Self.all[version]
        // The statements up to some point, and then one that fails.
        let statements = String(decoding: next.sql, as: UTF8.self).components(separatedBy: ";\n")
        let part = statements.prefix(1 + step * statements.count / 6).joined(separator: ";\n") + ";\nSELECT broken;\n"
        let broken = SchemaMigrations.Migration(name: next.name, sql: Array(part.utf8))
        #expect(throws: DatabaseError.self) {
            try Self.migrate(path, Array(Self.all.prefix(version)) + [broken])
        }
        #expect(try applied() == Self.all.prefix(version).map(\.name))
        // The older program still takes it for its own, and finds what it left.
        try migrate(to: version)
        try migrate()
        let database = try opened()
        #expect(try database.number("SELECT count(*) FROM cookie") == 20)
        #expect(try database.check().findings.filter { $0.code != .exposed }.isEmpty)
    }

    @Test("An older program rejects a migrated database and does not change it", arguments: versions)
    func olderProgram(version: Int) throws {
        try make()
        try migrate()
        let before = try folder.contents()
        #expect(errorCode { try migrate(to: version) } == .databaseNewer)
        #expect(try folder.contents() == before)
    }

    @Test("Ten processes that open an old database at once all find it migrated", arguments: versions)
    func race(version: Int) throws {
        try make()
        try migrate(to: version)
        let path = folder.file("crumb.sqlite")
        let counts = try onThreads(10) { _ in
            let database = try DatabaseConnection(path: path, busyTimeout: 3600)
            try SchemaMigrations.run(on: database, path: path, migrations: Self.all)
            return try database.number("SELECT count(*) FROM cookie WHERE later = sequence")
        }
        #expect(counts == Array(repeating: 20, count: 10))
    }
}
