import GRDB
internal import GRDBSQLite

/// The rows of a browser's table, in the order of their numbers. A row that is too long costs itself alone.
struct BrowserCookieRows {
    enum Item {
        case row(Row)
        /// It has more bytes than any browser's cookie.
        case tooLong
    }

    /// The longest row that is read, and the longest text that the schema may have SQLite make: 8 MiB.
    private static let lengthLimit: Int32 = 1 << 23

    private let numbers: FastDatabaseValueCursor<Int64>
    private let statement: Statement

    /// - Parameter columns: the columns as SQL selects them.
    init(_ database: Database, table: String, columns: String) throws {
        numbers = try Int64.fetchCursor(database, sql: "SELECT rowid FROM \(table) ORDER BY rowid")
        statement = try database.makeStatement(sql: "SELECT \(columns) FROM \(table) WHERE rowid = ?")
    }

    /// Has `database` refuse what is longer than any cookie.
    static func limitLengths(in database: Database) {
        sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_LENGTH, lengthLimit)
    }

    /// The next row.
    func next() throws -> Item? {
        while let number = try numbers.next() {
            do {
                if let row = try Row.fetchOne(statement, arguments: [number]) { return .row(row) }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_TOOBIG {
                return .tooLong
            }
        }
        return nil
    }
}
