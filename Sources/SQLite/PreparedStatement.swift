internal import CSQLite

/// A compiled statement of a ``DatabaseConnection``: parameters count from 1 and columns from 0.
///
/// It is valid until its connection finalizes it. One thread at a time uses it and its connection. All is passed on to
/// SQLite directly: a statement stores nothing of its own.
package struct PreparedStatement {
    private let pointer: OpaquePointer
    private let connection: OpaquePointer

    /// Wraps a statement that SQLite compiled on `connection`.
    package init(_ pointer: OpaquePointer, on connection: OpaquePointer) {
        self.pointer = pointer
        self.connection = connection
    }

    /// Gives the statement back to SQLite. Do not use it afterwards.
    func finalize() {
        sqlite3_finalize(pointer)
    }
}

// Parameters.
extension PreparedStatement {
    package func bindNull(_ index: Int32) {
        sqlite3_bind_null(pointer, index)
    }

    package func bind(_ index: Int32, _ number: Int64) {
        sqlite3_bind_int64(pointer, index, number)
    }

    /// Binds a copy of octets that are UTF-8 as text. They may contain U+0000.
    package func bind(_ index: Int32, text octets: UnsafeRawBufferPointer) {
        // A null address would bind NULL instead of an empty text.
        guard !octets.isEmpty else {
            sqlite3_bind_text(pointer, index, Self.emptyText.utf8Start, 0, nil)
            return
        }
        // With its length: a text with U+0000 does not end there.
        let text = octets.assumingMemoryBound(to: CChar.self)
        sqlite3_bind_text(pointer, index, text.baseAddress, Int32(text.count), Self.copies)
    }

    /// Binds octets in UTF-8 as text, or NULL. They must stay valid until ``releaseParameters()``.
    package func bind(_ index: Int32, textInPlace octets: UnsafeRawBufferPointer?) {
        guard let octets else { return bindNull(index) }
        let text = octets.assumingMemoryBound(to: CChar.self)
        sqlite3_bind_text(pointer, index, text.baseAddress, Int32(text.count), nil)
    }

    /// Binds a copy of octets.
    package func bind(_ index: Int32, _ octets: UnsafeRawBufferPointer) {
        // A null address would bind NULL instead of an empty value.
        guard !octets.isEmpty else {
            sqlite3_bind_zeroblob(pointer, index, 0)
            return
        }
        sqlite3_bind_blob(pointer, index, octets.baseAddress, Int32(octets.count), Self.copies)
    }

    /// Binds octets that stay valid until ``releaseParameters()``; none bind NULL.
    package func bind(_ index: Int32, inPlace octets: UnsafeRawBufferPointer) {
        sqlite3_bind_blob(pointer, index, octets.baseAddress, Int32(octets.count), nil)
    }

    /// Binds a text.
    package func bind(_ index: Int32, _ text: String) {
        var text = text
        text.withUTF8 { bind(index, text: UnsafeRawBufferPointer($0)) }
    }

    /// Releases the bound parameters.
    package func releaseParameters() {
        sqlite3_clear_bindings(pointer)
    }
}

// Running.
extension PreparedStatement {
    /// Moves to the next row.
    ///
    /// - Returns: whether there is one. After the last one, and after an error, the statement is reset.
    package func step() throws(DatabaseError) -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW:
            return true
        case SQLITE_DONE:
            sqlite3_reset(pointer)
            return false
        default:
            throw failure()
        }
    }

    /// The error of the last step, after which the statement is reset.
    private func failure() -> DatabaseError {
        let error = DatabaseError(code: sqlite3_extended_errcode(connection), on: connection)
        sqlite3_reset(pointer)
        return error
    }

    /// Runs the statement to its end. Its rows are not read.
    package func run() throws(DatabaseError) {
        while try step() {}
    }

    /// Ends the reading of rows. The parameters stay bound.
    package func reset() {
        sqlite3_reset(pointer)
    }

    /// How many rows the connection's last statement changed.
    package var changeCount: Int { Int(sqlite3_changes(connection)) }
}

// The columns of the current row.
extension PreparedStatement {
    /// The type of a value, which may be another one than that of its column.
    package enum ValueType {
        case null, integer, real, text, blob
    }

    /// The type of a value. Ask before reading the value as another type.
    package func type(_ column: Int32) -> ValueType {
        switch sqlite3_column_type(pointer, column) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    package func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(pointer, column) == SQLITE_NULL
    }

    package func int64(_ column: Int32) -> Int64 {
        sqlite3_column_int64(pointer, column)
    }

    /// The octets of a text or blob where SQLite has them, valid until the next step.
    package func borrowedBytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let base = sqlite3_column_blob(pointer, column)
        return UnsafeRawBufferPointer(start: base, count: base == nil ? 0 : Int(sqlite3_column_bytes(pointer, column)))
    }

    /// A text. Octets that are not UTF-8 become U+FFFD.
    package func text(_ column: Int32) -> String {
        String(decoding: borrowedBytes(column), as: UTF8.self)
    }
}

extension PreparedStatement {
    /// Tells SQLite to copy what is bound: the C macro SQLITE_TRANSIENT, which Swift does not import.
    private static var copies: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    private static let emptyText: StaticString = ""
}
