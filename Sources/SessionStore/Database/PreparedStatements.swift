internal import GRDB

/// A statement that every transaction runs, or every cookie of one.
enum PreparedStatement: Int, CaseIterable {
    case begin, commit, rollback
    case savepoint, releaseSavepoint, rollbackToSavepoint
    case cookieOutlines, insertCookie, updateCookie, deleteCookie
    case journalEnd, insertChange

    fileprivate var sql: String {
        switch self {
        case .begin: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"
        case .savepoint: "SAVEPOINT writer"
        case .releaseSavepoint: "RELEASE writer"
        case .rollbackToSavepoint: "ROLLBACK TO writer"
        case .cookieOutlines: CookieRows.outlineQuery
        case .insertCookie: CookieRows.insertion
        case .updateCookie: CookieRows.update
        case .deleteCookie: CookieRows.deletion
        case .journalEnd: ChangeRows.endQuery
        case .insertChange: ChangeRows.insertion
        }
    }
}

/// The statements of one connection that stay prepared, found by their number instead of their text.
///
/// Goes before its connection does: ``removeAll()``.
final class PreparedStatements {
    private struct Entry {
        /// Owns what `row` points to.
        let statement: Statement
        let row: RowStatement
    }

    private var entries: [Entry?] = PreparedStatement.allCases.map { _ in nil }

    /// The statement, prepared the first time it is asked for.
    func statement(_ statement: PreparedStatement, on database: Database) throws -> RowStatement {
        if let entry = entries[statement.rawValue] { return entry.row }
        let made = try database.makeStatement(sql: statement.sql)
        let row = try RowStatement(made, ParameterBuffer())
        entries[statement.rawValue] = Entry(statement: made, row: row)
        return row
    }

    /// Runs a statement that has no parameters and gives no rows.
    func run(_ statement: PreparedStatement, on database: Database) throws {
        try self.statement(statement, on: database).run()
    }

    /// Gives the statements back to SQLite.
    func removeAll() {
        entries = entries.map { _ in nil }
    }
}

extension RowStatement {
    /// A statement out of `prepared`, or where there is none, out of the connection's own cache.
    init(_ statement: PreparedStatement, _ prepared: PreparedStatements?, on database: Database) throws {
        self = try prepared?.statement(statement, on: database) ?? RowStatement(database, statement.sql)
    }
}
