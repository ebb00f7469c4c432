internal import GRDB
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
    static func run(on queue: DatabaseQueue, path: String, migrations: [Migration] = all) throws {
        guard !queue.inDatabase({ hasJust(migrations, $0) }) else { return }
        var migrator = DatabaseMigrator()
        for migration in migrations {
            migrator.registerMigration(migration.name) { database in
                try database.execute(sql: String(decoding: migration.sql, as: UTF8.self))
            }
        }
        let isUpToDate = try queue.inDatabase { database in
            // Checked first: the migrator's own check fails if another process creates the table meanwhile.
            guard try database.tableExists("grdb_migrations") else { return false }
            if try migrator.hasBeenSuperseded(database) {
                if let schema = try migrator.appliedIdentifiers(database).filter({ $0.hasPrefix(prereleasePrefix) })
                    .max()
                {
                    throw SessionStoreError.prerelease(path, schema: schema)
                }
                throw SessionStoreError(
                    .databaseNewer, path,
                    "the database was written by a newer version of crumb; nothing was changed: update crumb")
            }
            return try migrator.hasCompletedMigrations(database)
        }
        guard !isUpToDate else { return }
        var applied = try queue.inDatabase { try migrator.appliedIdentifiers($0) }
        while true {
            do {
                return try migrator.migrate(queue)
            } catch {
                // If two processes migrate at once, the second one fails on a table that the first one has just
                // created, and goes on from there.
                let appliedNow = try queue.inDatabase { try migrator.appliedIdentifiers($0) }
                guard appliedNow != applied else { throw error }
                applied = appliedNow
            }
        }
    }

    /// Whether exactly these migrations were applied. Does not use the migrator, which is slow: in most cases, no
    /// migration is missing. If the query fails, the migrator reports why.
    private static func hasJust(_ migrations: [Migration], _ database: Database) -> Bool {
        guard
            let statement = try? SQLiteStatement(
                database.cachedStatement(sql: "SELECT identifier FROM grdb_migrations"))
        else { return false }
        defer { statement.reset() }
        var applied: Set<String> = []
        do {
            while try statement.step() { applied.insert(statement.text(0)) }
        } catch {
            return false
        }
        return applied == Set(migrations.map(\.name))
    }
}
