internal import CSQLite

/// An error of SQLite.
package struct DatabaseError: Error, Equatable, CustomStringConvertible {
    /// SQLite's result code, the extended one if there is one (https://sqlite.org/rescode.html).
    package let code: Int32
    /// SQLite's message, in English. It may quote the statement.
    package let message: String

    /// The error with this code and SQLite's general message for it.
    init(code: Int32) {
        self.init(code: code, message: String(cString: sqlite3_errstr(code)))
    }

    init(code: Int32, message: String) {
        self.code = code
        self.message = message
    }

    /// The error that a call on `connection` has just returned as `code`.
    init(code: Int32, on connection: OpaquePointer) {
        self.init(code: code, message: String(cString: sqlite3_errmsg(connection)))
    }

    /// The code without its extension.
    package var primaryCode: Int32 { code & 0xFF }

    /// Whether another connection has a lock on the database.
    package var isBusy: Bool { primaryCode == SQLITE_BUSY }

    /// Whether a value is longer than the connection allows.
    package var isTooBig: Bool { primaryCode == SQLITE_TOOBIG }

    package var description: String { "SQLite error \(code): \(message)" }
}
