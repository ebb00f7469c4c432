internal import SQLite
internal import StoreEngine

/// The schema's history: the files of `Migrations`, in order, each applied once, in one transaction, and never changed.
package enum SchemaMigrations {
    /// One step of the history.
    package struct Migration: Sendable {
        let name: String
        let sql: [UInt8]

        package init(name: String, sql: [UInt8]) {
            self.name = name
            self.sql = sql
        }
    }

    package static let all = [Migration(name: "V101", sql: PackageResources.V101_schema_sql)]

    /// What the names of the migrations begin with that only pre-releases applied: V001 to V019.
    private static let prereleasePrefix = "V0"

    /// The name of the newest migration that this version of the program knows.
    static var newest: String { all.last?.name ?? "" }

    /// Brings the schema up to date; refuses one that is newer than the program, and one of a pre-release.
    ///
    /// - Parameter migrations: the history, or what another version of the program knows of it.
    static func run(on database: DatabaseConnection, path: String, migrations: [Migration] = all) throws {
        guard !hasJust(migrations, database) else { return }
        var before = try applied(to: database)
        if !before.isEmpty {
            let unknown = before.subtracting(migrations.map(\.name))
            if !unknown.isEmpty {
                if let schema = before.filter({ $0.hasPrefix(prereleasePrefix) }).max() {
                    throw SessionStoreError.prerelease(path, schema: schema)
                }
                throw SessionStoreError(
                    .databaseNewer, path,
                    "the database was written by a newer version of crumb; nothing was changed: update crumb")
            }
            if migrations.allSatisfy({ before.contains($0.name) }) { return }
        }
        while true {
            do {
                return try apply(migrations, to: database)
            } catch {
                // If two processes migrate at once, the second one fails on a table that the first one has just
                // created, and goes on from there.
                let now = try applied(to: database)
                guard now != before else { throw error }
                before = now
            }
        }
    }

    /// Applies the missing migrations, each in its own transaction. A migration may break foreign keys until its end,
    /// because a table is changed by replacing it (https://sqlite.org/lang_altertable.html#otheralter).
    private static func apply(_ migrations: [Migration], to database: DatabaseConnection) throws {
        // Both the name of the table and its text are in every database.
        try database.execute("CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        let applied = try applied(to: database)
        for migration in migrations where !applied.contains(migration.name) {
            try database.execute("PRAGMA foreign_keys = OFF")
            defer { try? database.execute("PRAGMA foreign_keys = ON") }
            try database.transaction(.immediate) {
                try database.execute(String(decoding: migration.sql, as: UTF8.self))
                try database.withStatement("INSERT INTO grdb_migrations (identifier) VALUES (?)") { statement in
                    statement.bind(1, migration.name)
                    try statement.run()
                }
                let isBroken = try database.withStatement("PRAGMA foreign_key_check") { try $0.step() }
                if isBroken { throw StoreFailure(sqlite: StoreFailure.foreignKey) }
            }
        }
    }

    /// The names of the migrations that were applied; none if the database has no table of them.
    private static func applied(to database: DatabaseConnection) throws -> Set<String> {
        // In this order: another process may create the table meanwhile.
        guard try database.hasTable("grdb_migrations") else { return [] }
        return Set(try database.texts("SELECT identifier FROM grdb_migrations"))
    }

    /// Whether exactly these migrations were applied: in most cases, no migration is missing. If the query fails, the
    /// slower way reports why.
    private static func hasJust(_ migrations: [Migration], _ database: DatabaseConnection) -> Bool {
        (try? database.texts("SELECT identifier FROM grdb_migrations")).map(Set.init) == Set(migrations.map(\.name))
    }
}
