internal import CSQLite
internal import SQLite
internal import StoreEngine

/// The connection of a ``SQLiteDatabase`` while one thread uses it.
package struct SQLiteConnection {
    let database: DatabaseConnection
    private let kept: KeptStatements
    private let control: KeptStatements

    init(_ database: DatabaseConnection, kept: KeptStatements, control: KeptStatements) {
        self.database = database
        self.kept = kept
        self.control = control
    }

    /// The statement for `sql`, prepared once for each connection, reset and ready to be bound.
    package func statement(_ sql: String) throws -> SQLiteStatement {
        let statement = try StoreFailure.translating { try database.cachedStatement(sql) }
        statement.reset()
        return SQLiteStatement(statement)
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
    package var totalChangeCount: Int64 { sqlite3_total_changes64(database.pointer) }

    /// The version of what is committed: a different number after each commit of any connection; `nil` if unknown.
    package var dataVersion: UInt32? {
        var version: UInt32 = 0
        let result = sqlite3_file_control(database.pointer, "main", SQLITE_FCNTL_DATA_VERSION, &version)
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

    var isInTransaction: Bool { database.isInTransaction }

    /// Ends a transaction that failed.
    func rollBack() {
        // SQLite has already ended it if the disk is full, for example.
        if isInTransaction { try? run(.rollback) }
    }
}

/// The statements of one connection that stay prepared, found by their number instead of their text.
///
/// `@unchecked` because the compiler cannot see that only code within the database's serial queue uses it.
final class KeptStatements: @unchecked Sendable {
    private var statements: [SQLiteStatement?] = []

    /// The statement, prepared the first time it is asked for.
    func statement(
        _ number: Int, on database: DatabaseConnection, _ sql: @autoclosure () -> String
    ) throws -> SQLiteStatement {
        if number < statements.count, let statement = statements[number] { return statement }
        let prepared = try StoreFailure.translating { try database.prepare(sql()) }
        let statement = SQLiteStatement(prepared, ParameterBuffer())
        while statements.count <= number { statements.append(nil) }
        statements[number] = statement
        return statement
    }
}

extension StoreFailure {
    /// Creates the failure that a result code of SQLite reports, an extended one or not (https://sqlite.org/rescode.html).
    init(sqlite code: Int32) {
        let kind: Kind =
            switch code & 0xFF {
            case SQLITE_NOTADB: .notADatabase
            case SQLITE_CORRUPT: .damaged
            case SQLITE_FULL: .full
            // The index of the write-ahead log cannot grow: a full disk affects readers, too.
            case SQLITE_IOERR where code == StoreFailure.indexCannotGrow: .full
            case SQLITE_IOERR: .inputOutput
            case SQLITE_READONLY: .readOnly
            case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: .notOpened
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            case SQLITE_CONSTRAINT where code == StoreFailure.foreignKey: .orphan
            default: .other
            }
        self.init(kind, code: code)
    }

    /// SQLITE_IOERR_SHMSIZE and SQLITE_CONSTRAINT_FOREIGNKEY.
    static let (indexCannotGrow, foreignKey) = (SQLITE_IOERR | 19 << 8, SQLITE_CONSTRAINT | 3 << 8)

    /// Runs `body` and translates SQLite's errors: none of them leaves this module.
    static func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            throw translation(of: error)
        }
    }

    /// An error, or what it is outside this module if it is SQLite's.
    static func translation(of error: any Error) -> any Error {
        (error as? DatabaseError).map { StoreFailure(sqlite: $0.code) } ?? error
    }
}
