internal import GRDB
internal import GRDBSQLite
internal import StoreEngine

/// The connection of a ``SQLiteDatabase`` while one thread uses it.
package struct SQLiteConnection {
    let database: Database
    private let kept: KeptStatements
    private let control: KeptStatements

    init(_ database: Database, kept: KeptStatements, control: KeptStatements) {
        self.database = database
        self.kept = kept
        self.control = control
    }

    /// The statement for `sql`, prepared once for each connection, reset and ready to be bound.
    package func statement(_ sql: String) throws -> SQLiteStatement {
        try StoreFailure.translating { try SQLiteStatement(database.cachedStatement(sql: sql)) }
    }

    /// The statement of that number, which each transaction or each cookie needs: found without its text.
    ///
    /// - Parameters:
    ///   - number: a small number that always stands for the same text.
    ///   - sql: the text, evaluated the first time.
    package func statement(kept number: Int, _ sql: @autoclosure () -> String) throws -> SQLiteStatement {
        try kept.statement(number, on: database, sql())
    }

    /// How many rows this connection has changed since it was opened.
    package var totalChangeCount: Int64 { sqlite3_total_changes64(database.sqliteConnection) }

    /// The version of what is committed: a different number after each commit of any connection; `nil` if unknown.
    package var dataVersion: UInt32? {
        var version: UInt32 = 0
        let result = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        return result == SQLITE_OK ? version : nil
    }
}

/// Statements that begin, divide and end transactions.
enum TransactionControl: Int {
    case read, begin, commit, rollback, savepoint, releaseSavepoint, rollbackToSavepoint

    fileprivate var sql: String {
        switch self {
        case .read: "BEGIN"
        case .begin: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"
        case .savepoint: "SAVEPOINT writer"
        case .releaseSavepoint: "RELEASE writer"
        case .rollbackToSavepoint: "ROLLBACK TO writer"
        }
    }
}

extension SQLiteConnection {
    func run(_ control: TransactionControl) throws {
        try self.control.statement(control.rawValue, on: database, control.sql).run()
    }

    var isInTransaction: Bool { database.isInsideTransaction }

    /// Ends a transaction that failed.
    func rollBack() {
        // SQLite has already ended it if the disk is full, for example.
        if isInTransaction { try? run(.rollback) }
    }
}

/// The statements of one connection that stay prepared, found by their number instead of their text.
///
/// Must be emptied with ``removeAll()`` before its connection is closed.
///
/// `@unchecked` because the compiler cannot see that only code within the database's serial queue and the deinitializer
/// of the database use it.
final class KeptStatements: @unchecked Sendable {
    private struct Entry {
        /// Owns what `row` points to.
        let statement: Statement
        let row: SQLiteStatement
    }

    private var entries: [Entry?] = []

    /// The statement, prepared the first time it is asked for.
    func statement(_ number: Int, on database: Database, _ sql: @autoclosure () -> String) throws -> SQLiteStatement {
        if number < entries.count, let entry = entries[number] { return entry.row }
        let made = try StoreFailure.translating { try database.makeStatement(sql: sql()) }
        let row = try SQLiteStatement(made, ParameterBuffer())
        while entries.count <= number { entries.append(nil) }
        entries[number] = Entry(statement: made, row: row)
        return row
    }

    /// Gives the statements back to SQLite.
    func removeAll() {
        entries = []
    }
}

extension StoreFailure {
    /// Creates the failure that a result code of SQLite reports, an extended one or not (https://sqlite.org/rescode.html).
    init(sqlite code: Int32) {
        let extended = ResultCode(rawValue: code)
        let kind: Kind =
            switch extended.primaryResultCode {
            case .SQLITE_NOTADB: .notADatabase
            case .SQLITE_CORRUPT: .damaged
            case .SQLITE_FULL: .full
            // The index of the write-ahead log cannot grow: a full disk affects readers, too.
            case .SQLITE_IOERR where extended == .SQLITE_IOERR_SHMSIZE: .full
            case .SQLITE_IOERR: .inputOutput
            case .SQLITE_READONLY: .readOnly
            case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH: .notOpened
            case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
            case .SQLITE_CONSTRAINT where extended == .SQLITE_CONSTRAINT_FOREIGNKEY: .orphan
            default: .other
            }
        self.init(kind, code: code)
    }

    /// Runs `body` and translates GRDB's errors: none of them leaves this module.
    static func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw StoreFailure(sqlite: error.extendedResultCode.rawValue)
        }
    }
}
