internal import GRDB
internal import GRDBSQLite

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

extension Database {
    /// Marks a new file as ours and has it write its journal ahead; changes nothing where both are so.
    ///
    /// SQLite does not wait for a lock where a read becomes a write, as it does here: while another process makes the
    /// same database, this is tried again for as long as a lock may take.
    func becomeOurs(applicationID: UInt32, busyTimeout: Double) throws {
        let pause: Int32 = 5
        let timeout = Int32(busyTimeout * 1000)
        sqlite3_busy_timeout(sqliteConnection, 0)
        defer { sqlite3_busy_timeout(sqliteConnection, timeout) }
        var pausesLeft = timeout / pause
        while true {
            do {
                // The mark is written before the journal becomes a WAL, so that it stands in the file's own header.
                if try Int64.fetchOne(self, sql: "PRAGMA application_id") == 0,
                    try Int64.fetchOne(self, sql: "SELECT count(*) FROM sqlite_schema") == 0
                {
                    try execute(sql: "PRAGMA application_id = \(applicationID)")
                }
                try execute(sql: "PRAGMA journal_mode = WAL")
                return
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && pausesLeft > 0 {
                pausesLeft -= 1
                sqlite3_sleep(pause)
            }
        }
    }
}

/// Keeps the octets that are bound to a statement until it has run, which saves SQLite an allocation for each.
///
/// A buffer belongs to one statement, and is used like it: by one thread at a time.
final class ParameterBuffer {
    /// Enough for most cookies.
    private static let size = 2048

    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
    private var used = 0

    deinit { bytes.deallocate() }

    /// Copies octets; `nil` where there is no room for them.
    func keep(_ octets: UnsafeBufferPointer<UInt8>) -> UnsafePointer<UInt8>? {
        guard octets.count <= bytes.count - used else { return nil }
        let room = UnsafeMutableRawBufferPointer(rebasing: bytes[used..<(used + octets.count)])
        room.copyMemory(from: UnsafeRawBufferPointer(octets))
        used += octets.count
        return UnsafePointer(room.baseAddress?.assumingMemoryBound(to: UInt8.self))
    }

    /// Makes room for what is bound next.
    func removeAll() {
        used = 0
    }
}
