internal import StoreEngine

/// The schema of a database on a server: the files of `Migrations/postgresql`, each applied once, in one transaction.
///
/// The service never changes the schema, so its role does not need the right. `crumb cluster create` and `crumb cluster
/// upgrade` do.
package struct PostgreSQLSchema {
    /// One step of the schema's history.
    struct Migration {
        let name: String
        let sql: [UInt8]
    }

    static let all = [Migration(name: "P101", sql: PackageResources.P101_schema_sql)]

    /// What the names of the migrations begin with that only pre-releases applied: P001 to P011.
    private static let prereleasePrefix = "P0"

    /// The newest migration that this version of the program knows.
    package static var newest: String { all.last?.name ?? "" }

    private let session: PostgreSQLSession

    init(_ session: PostgreSQLSession) {
        self.session = session
    }

    /// The schema of the database at a place. The database may have none.
    package init(_ target: PostgreSQLTarget) throws {
        session = try PostgreSQLSession(target.waitingForStatements())
    }

    /// The newest migration that was applied, and the oldest version of the schema whose programs can use it; `nil` for
    /// a database without a schema. Throws for the schema of a pre-release.
    package func version() throws -> (newest: String, oldestReader: String)? {
        let tables = session.known("SELECT to_regclass('crumb.schema_migration') IS NULL")
        guard try tables.step(), tables.int64(0) == 0 else { return nil }
        let rows = session.known(
            "SELECT name, oldest_reader FROM crumb.schema_migration ORDER BY name DESC LIMIT 1")
        guard try rows.step() else { return nil }
        let (newest, oldestReader) = (rows.text(0), rows.text(1))
        guard !newest.hasPrefix(Self.prereleasePrefix) else {
            throw SessionStoreError.prerelease(session.target.name, schema: newest)
        }
        return (newest, oldestReader)
    }

    /// The version of a schema that this program can use.
    func checkedVersion() throws -> String {
        guard let (newest, oldestReader) = try version() else { throw StoreFailure(.schemaMissing, code: "3F000") }
        try checkEncoding()
        let name = session.target.name
        if newest < Self.newest {
            throw SessionStoreError(
                .databaseUnavailable, name,
                "the schema is that of an older version (\(newest)); run 'crumb cluster upgrade'")
        }
        if oldestReader > Self.newest {
            throw SessionStoreError(
                .databaseNewer, name,
                "the schema was written by a newer version of crumb; nothing was changed: "
                    + "update crumb")
        }
        return newest
    }

    /// Creates the schema in a database without one.
    ///
    /// - Returns: the names of the migrations that were applied.
    package func create() throws -> [String] {
        if let version = try version() {
            throw SessionStoreError(
                .fileExists, session.target.name,
                "the database has a schema already (\(version.newest)); 'crumb cluster upgrade' brings it up to date")
        }
        try checkEncoding()
        return try upgrade()
    }

    /// Throws if the database's encoding cannot store every name and text. With such an encoding, an SQLite database
    /// could be moved to it only in part, and requests would fail that succeed with a file.
    private func checkEncoding() throws {
        let setting = session.known("SHOW server_encoding")
        defer { setting.reset() }
        guard try setting.step() else { throw StoreFailure.unexpectedResult }
        guard setting.text(0) != "UTF8" else { return }
        throw SessionStoreError(
            .databaseUnavailable, session.target.name,
            "the encoding of the database is \(setting.text(0)), which does not have all characters; use a database "
                + "created with TEMPLATE template0 ENCODING 'UTF8'")
    }

    /// Applies the missing migrations to a database that has a schema.
    ///
    /// - Returns: the names of the migrations that were applied.
    /// - Throws: ``StoreFailure`` if it has no schema: creating one needs a key.
    package func bringUpToDate() throws -> [String] {
        guard try version() != nil else { throw StoreFailure(.schemaMissing, code: "3F000") }
        return try upgrade()
    }

    /// Applies the missing migrations.
    ///
    /// - Parameter migrations: the history, or what another version of the program knows of it.
    /// - Returns: the names of the migrations that were applied.
    @discardableResult
    package func upgrade() throws -> [String] {
        try upgrade(with: Self.all)
    }

    @discardableResult
    func upgrade(with migrations: some Sequence<Migration>) throws -> [String] {
        let applied = try version()?.newest ?? ""
        var names: [String] = []
        for migration in migrations where migration.name > applied {
            try session.enqueue("BEGIN")
            session.isInTransaction = true
            do {
                for statement in Self.statements(String(decoding: migration.sql, as: UTF8.self)) {
                    try session.enqueue(statement)
                }
                try session.synchronize()
                try session.enqueue("COMMIT")
                try session.synchronize()
                session.isInTransaction = false
            } catch {
                session.rollBack()
                throw error
            }
            names.append(migration.name)
        }
        return names
    }

    /// The statements of a file: each ends with a semicolon at the end of a line, and lines of comments begin with `--`.
    static func statements(_ sql: String) -> [String] {
        var statements: [String] = []
        var lines: [Substring] = []
        for line in sql.split(separator: "\n") where !line.hasPrefix("--") {
            lines.append(line)
            // Within a function's body, lines that end in a semicolon are indented.
            guard line.hasSuffix(";"), !line.hasPrefix("        ") else { continue }
            statements.append(lines.joined(separator: "\n"))
            lines = []
        }
        return statements
    }
}
