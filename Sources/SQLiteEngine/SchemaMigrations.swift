internal import GRDB
internal import StoreEngine

/// The schema's history: the files of `Migrations`, in order, each applied once, in one transaction, and never changed.
enum SchemaMigrations {
    /// One step of the history.
    struct Migration {
        let name: String
        let sql: [UInt8]
    }

    static let all = [
        Migration(name: "V001", sql: PackageResources.V001_cookies_and_tokens_sql),
        Migration(name: "V002", sql: PackageResources.V002_jar_settings_journal_snapshots_sql),
        Migration(name: "V003", sql: PackageResources.V003_journal_order_of_creation_sql),
        Migration(name: "V004", sql: PackageResources.V004_token_settings_lease_journal_login_rules_sql),
        Migration(name: "V005", sql: PackageResources.V005_service_tokens_sql),
        Migration(name: "V006", sql: PackageResources.V006_grant_expiry_header_fields_sql),
        Migration(name: "V007", sql: PackageResources.V007_positions_of_former_jars_sql),
        Migration(name: "V008", sql: PackageResources.V008_confirmed_clock_sql),
        Migration(name: "V009", sql: PackageResources.V009_journal_in_order_sql),
        Migration(name: "V010", sql: PackageResources.V010_captures_of_requests_sql),
        Migration(name: "V011", sql: PackageResources.V011_sources_of_deletions_sql),
        Migration(name: "V012", sql: PackageResources.V012_sites_of_jars_sql),
        Migration(name: "V013", sql: PackageResources.V013_web_storage_sql),
        Migration(name: "V014", sql: PackageResources.V014_secrets_of_further_grants_sql),
        Migration(name: "V015", sql: PackageResources.V015_endings_of_cookies_sql),
        Migration(name: "V016", sql: PackageResources.V016_gateway_authority_sql),
        Migration(name: "V017", sql: PackageResources.V017_jar_of_saved_cookies_sql),
        Migration(name: "V018", sql: PackageResources.V018_removed_jars_sql),
        Migration(name: "V019", sql: PackageResources.V019_rejected_cookies_sql),
    ]

    /// The name of the newest migration that this version of the program knows.
    static var newest: String { all.last?.name ?? "" }

    /// Brings the schema up to date; refuses one that is newer than the program.
    ///
    /// - Parameter migrations: the history, or what an older version of the program knew of it.
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
