internal import GRDB
internal import GRDBSQLite
internal import StoreEngine

/// A prepared statement. Parameters and columns do not pass through Foundation's types, because this is the hot path of
/// a jar.
///
/// It lives as long as the connection that prepared it. One thread at a time uses it, within that connection's queue.
package struct SQLiteStatement: StoreStatement {
    private let pointer: OpaquePointer
    private let connection: OpaquePointer
    /// The buffer for bound octets; `nil` if SQLite makes copies of its own.
    private var parameters: ParameterBuffer?

    /// A statement that GRDB has prepared.
    ///
    /// - Parameter parameters: a buffer that no other statement uses; `nil` if SQLite copies what is bound.
    init(_ statement: Statement, _ parameters: ParameterBuffer? = nil) throws {
        pointer = statement.sqliteStatement
        guard let connection = sqlite3_db_handle(pointer) else { throw StoreFailure(sqlite: SQLITE_MISUSE) }
        self.connection = connection
        self.parameters = parameters
        sqlite3_reset(pointer)
    }

    /// A statement that ``SQLiteReader`` has prepared.
    init(_ pointer: OpaquePointer, on connection: OpaquePointer) {
        self.pointer = pointer
        self.connection = connection
    }

    package func bindNull(_ index: Int32) {
        sqlite3_bind_null(pointer, index)
    }

    package func bind(_ index: Int32, _ number: Int64) {
        sqlite3_bind_int64(pointer, index, number)
    }

    package func bind(_ index: Int32, text octets: UnsafeRawBufferPointer) {
        // A null address would bind NULL instead of an empty text.
        guard !octets.isEmpty else {
            sqlite3_bind_text(pointer, index, emptyText.utf8Start, 0, nil)
            return
        }
        // With its length: a text with U+0000 does not end there.
        let text = octets.assumingMemoryBound(to: CChar.self)
        sqlite3_bind_text(pointer, index, text.baseAddress, Int32(text.count), transient)
    }

    package func bind(_ index: Int32, _ octets: UnsafeRawBufferPointer) {
        // A null address would bind NULL instead of an empty value.
        guard !octets.isEmpty else {
            sqlite3_bind_zeroblob(pointer, index, 0)
            return
        }
        if let kept = parameters?.keep(octets) {
            sqlite3_bind_blob(pointer, index, kept, Int32(octets.count), nil)
        } else {
            sqlite3_bind_blob(pointer, index, octets.baseAddress, Int32(octets.count), transient)
        }
    }

    /// Binds octets that stay valid until ``releaseParameters()``.
    package func bind(_ index: Int32, inPlace octets: UnsafeRawBufferPointer) {
        sqlite3_bind_blob(pointer, index, octets.baseAddress, Int32(octets.count), nil)
    }

    /// Binds octets in UTF-8 as text. They must stay valid until ``releaseParameters()``.
    package func bind(_ index: Int32, textInPlace octets: UnsafeRawBufferPointer?) {
        guard let octets else {
            sqlite3_bind_null(pointer, index)
            return
        }
        let text = octets.assumingMemoryBound(to: CChar.self)
        sqlite3_bind_text(pointer, index, text.baseAddress, Int32(text.count), nil)
    }

    /// Releases the bound parameters.
    package func releaseParameters() {
        sqlite3_clear_bindings(pointer)
    }

    /// Runs a statement that must change one row.
    package func runChangingOneRow() throws {
        try run()
        guard changeCount == 1 else { throw StoreFailure.unexpectedResult }
    }

    /// How many rows the connection's last statement changed.
    package var changeCount: Int { Int(sqlite3_changes(connection)) }

    /// Whether there is a further row.
    package func step() throws -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW:
            return true
        case SQLITE_DONE:
            sqlite3_reset(pointer)
            return false
        default:
            let code = sqlite3_extended_errcode(connection)
            sqlite3_reset(pointer)
            throw StoreFailure(sqlite: code)
        }
    }

    /// Runs a statement that returns no rows.
    package func run() throws {
        defer { parameters?.removeAll() }
        if try step() { sqlite3_reset(pointer) }
    }

    package func reset() {
        sqlite3_reset(pointer)
        parameters?.removeAll()
    }

    package func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(pointer, column) == SQLITE_NULL
    }

    package func int64(_ column: Int32) -> Int64 {
        sqlite3_column_int64(pointer, column)
    }

    /// The octets where SQLite has them, good until the next step.
    package func borrowedBytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let base = sqlite3_column_blob(pointer, column)
        return UnsafeRawBufferPointer(start: base, count: base == nil ? 0 : Int(sqlite3_column_bytes(pointer, column)))
    }
}

private let emptyText: StaticString = ""

/// Tells SQLite to copy what is bound: the C macro SQLITE_TRANSIENT, which Swift does not import.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// Keeps the octets that are bound to a statement until it has run. This saves SQLite an allocation for each value.
///
/// A buffer belongs to one statement. Like the statement, one thread at a time uses it.
final class ParameterBuffer {
    /// Enough for most cookies.
    private static let size = 2048

    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
    private var used = 0

    deinit { bytes.deallocate() }

    /// Copies octets; `nil` where there is no room for them.
    func keep(_ octets: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        guard octets.count <= bytes.count - used else { return nil }
        let room = UnsafeMutableRawBufferPointer(rebasing: bytes[used..<(used + octets.count)])
        room.copyMemory(from: octets)
        used += octets.count
        return UnsafeRawPointer(room.baseAddress)
    }

    /// Makes room for the next parameters.
    func removeAll() {
        used = 0
    }
}
