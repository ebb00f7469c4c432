internal import CSQLite
internal import SQLite
internal import StoreEngine

/// A connection that can only read, beside the one that writes. No writer of this process blocks it.
///
/// SQLite's own, without a queue: its owner ensures that one thread at a time uses it.
package final class SQLiteReader {
    /// Equal if nothing was committed in between.
    package typealias Version = WALIndex.Header

    private let pointer: OpaquePointer
    /// The index of the write-ahead log; `nil` if it has none, as on some network drives.
    private(set) var walIndex: WALIndex?

    /// The version of what is committed now; `nil` if it is being changed or unknown.
    package var version: Version? { walIndex?.header }

    /// - Parameter busyTimeout: how many seconds to wait for another process before giving up.
    /// - Throws: also if another file is at the path of this one.
    init(_ file: OpenFile, busyTimeout: Double) throws {
        try file.checkBeforeOpening()
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(file.location, &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
        guard let opened, code == SQLITE_OK else {
            sqlite3_close(opened)
            throw StoreFailure(sqlite: code)
        }
        pointer = opened
        // Together, both checks show that the file at the path is the one that this connection has open, and that it
        // was never replaced.
        try file.checkAfterOpening(pointer)
        sqlite3_extended_result_codes(pointer, 1)
        sqlite3_busy_timeout(pointer, Int32(busyTimeout * 1000))
        // Room for the pages above the leaves of a table and its index with a million rows, so that a lookup in it reads
        // two pages.
        let size = try prepare("PRAGMA cache_size = -8000")
        _ = try size.step()
        size.reset()
        // The first read opens the log and its index.
        let mode = try prepare("PRAGMA journal_mode")
        let schema = try prepare("SELECT count(*) FROM sqlite_schema")
        if try schema.step(), try mode.step(), mode.text(0) == "wal" { walIndex = WALIndex(pointer) }
        schema.reset()
        mode.reset()
    }

    deinit {
        while let statement = sqlite3_next_stmt(pointer, nil) { sqlite3_finalize(statement) }
        sqlite3_close(pointer)
    }

    /// A statement that lives as long as this connection.
    package func prepare(_ sql: String) throws -> SQLiteStatement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(pointer, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard let statement, code == SQLITE_OK else { throw StoreFailure(sqlite: code) }
        return SQLiteStatement(PreparedStatement(statement, on: pointer))
    }
}
