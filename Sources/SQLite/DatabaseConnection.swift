internal import CSQLite

/// A connection to a database: a file, or `:memory:`.
///
/// SQLite does not lock it: one thread at a time uses the connection and its statements. ``DatabaseQueue`` ensures that.
package final class DatabaseConnection {
    /// SQLite's own connection, for functions that this class does not have; `nil` after ``close()``.
    package private(set) var pointer: OpaquePointer?
    let isReadOnly: Bool
    private var cache: [String: PreparedStatement] = [:]
    /// The statements that live as long as this connection. SQLite's own list would have those of virtual tables, too,
    /// which SQLite finalizes itself.
    private var statements: [PreparedStatement] = []

    /// SQLITE_OPEN_EXRESCODE, which versions before 3.37 lack, and ignore.
    private static let extendedCodes: Int32 = 0x0200_0000

    /// Opens a database with foreign keys, creating it if necessary.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - isReadOnly: whether the connection can only read. It does not create the file.
    ///   - busyTimeout: how many seconds to wait for another connection before giving up.
    ///   - prepare: sets up the connection before it reads the file.
    /// - Throws: also if the file is not a database.
    package init(
        path: String, isReadOnly: Bool = false, busyTimeout: Double = 0,
        prepare: (DatabaseConnection) throws -> Void = { _ in }
    ) throws {
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, access | SQLITE_OPEN_NOMUTEX | Self.extendedCodes, nil)
        guard let opened, code == SQLITE_OK else {
            sqlite3_close(opened)
            throw DatabaseError(code: code)
        }
        pointer = opened
        self.isReadOnly = isReadOnly
        sqlite3_extended_result_codes(opened, 1)
        sqlite3_busy_timeout(opened, Int32(busyTimeout * 1000))
        crumb_reject_double_quoted_strings(opened)
        try execute("PRAGMA foreign_keys = ON")
        try prepare(self)
        // Fails if the file is not a database.
        try withStatement("SELECT * FROM sqlite_master LIMIT 1") { _ = try $0.step() }
    }

    deinit {
        finalizeStatements()
        sqlite3_close_v2(pointer)
    }

    /// Closes the connection. Its statements must not be used afterwards, and everything else fails.
    package func close() throws {
        guard let pointer else { return }
        finalizeStatements()
        let code = sqlite3_close(pointer)
        guard code == SQLITE_OK else { throw DatabaseError(code: code, on: pointer) }
        self.pointer = nil
    }

    private func finalizeStatements() {
        for statement in statements { statement.finalize() }
        statements = []
        cache = [:]
    }
}

// Statements.
extension DatabaseConnection {
    /// Compiles a statement that lives as long as this connection.
    package func prepare(_ sql: String) throws -> PreparedStatement {
        let statement = try compileOne(sql, flags: 0)
        statements.append(statement)
        return statement
    }

    /// The statement for `sql`, compiled once.
    package func cachedStatement(_ sql: String) throws -> PreparedStatement {
        if let statement = cache[sql] { return statement }
        let statement = try compileOne(sql, flags: UInt32(SQLITE_PREPARE_PERSISTENT))
        statements.append(statement)
        cache[sql] = statement
        return statement
    }

    /// Calls `body` with a statement that does not outlive the call.
    package func withStatement<Result>(_ sql: String, _ body: (PreparedStatement) throws -> Result) throws -> Result {
        let statement = try compileOne(sql, flags: 0)
        defer { statement.finalize() }
        return try body(statement)
    }

    /// Runs any number of statements without parameters, one after the other.
    package func execute(_ sql: String) throws {
        try sql.withCString { text in
            var rest = text
            while let statement = try compile(&rest, flags: 0) {
                defer { statement.finalize() }
                try statement.run()
            }
        }
    }

    /// The number in the first column of the first row; `nil` if no row comes, or for NULL.
    package func number(_ sql: String) throws -> Int64? {
        try withStatement(sql) { try $0.step() && !$0.isNull(0) ? $0.int64(0) : nil }
    }

    /// The texts in the first column of all rows.
    package func texts(_ sql: String) throws -> [String] {
        try withStatement(sql) { statement in
            var texts: [String] = []
            while try statement.step() { texts.append(statement.text(0)) }
            return texts
        }
    }

    /// Whether the database has a table of that name, in any case.
    package func hasTable(_ name: String) throws -> Bool {
        let sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE"
        return try withStatement(sql) { statement in
            statement.bind(1, name)
            return try statement.step()
        }
    }

    /// Compiles a text that has one statement.
    private func compileOne(_ sql: String, flags: UInt32) throws -> PreparedStatement {
        try sql.withCString { text in
            var rest = text
            guard let statement = try compile(&rest, flags: flags) else {
                throw DatabaseError(code: SQLITE_ERROR, message: "empty statement")
            }
            switch Result(catching: { try compile(&rest, flags: flags) }) {
            case .success(nil): return statement
            case .success(let second?): second.finalize()
            case .failure: break
            }
            statement.finalize()
            throw DatabaseError(code: SQLITE_MISUSE, message: "more than one statement")
        }
    }

    /// Compiles the next statement and moves past it; `nil` if only spaces and comments are left.
    private func compile(_ text: inout UnsafePointer<CChar>, flags: UInt32) throws -> PreparedStatement? {
        guard let pointer else { throw DatabaseError(code: SQLITE_MISUSE) }
        guard text.pointee != 0 else { return nil }
        var (statement, end) = (OpaquePointer?.none, UnsafePointer<CChar>?.none)
        let code = sqlite3_prepare_v3(pointer, text, -1, flags, &statement, &end)
        guard code == SQLITE_OK else { throw DatabaseError(code: code, on: pointer) }
        text = end ?? text
        return statement.map { PreparedStatement($0, on: pointer) }
    }
}
