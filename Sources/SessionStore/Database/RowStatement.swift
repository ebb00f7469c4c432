internal import CookieModel
internal import GRDB
internal import GRDBSQLite

/// A prepared statement, bound and read without a detour over Foundation's types: the hot path of a jar.
///
/// Lives as long as the connection that prepared it, and is used by one thread at a time within that connection's
/// queue.
struct RowStatement {
    private let pointer: OpaquePointer
    private let connection: OpaquePointer
    /// Where octets stay that are bound; `nil` where SQLite makes copies of its own.
    private var parameters: ParameterBuffer?

    /// The statement for `sql`, prepared once for each connection.
    init(_ database: Database, _ sql: String) throws {
        pointer = try database.cachedStatement(sql: sql).sqliteStatement
        guard let connection = sqlite3_db_handle(pointer) else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE)
        }
        self.connection = connection
        sqlite3_reset(pointer)
    }

    /// A statement that ``PreparedStatements`` keeps, with a buffer of its own.
    init(_ statement: Statement, _ parameters: ParameterBuffer) throws {
        pointer = statement.sqliteStatement
        guard let connection = sqlite3_db_handle(pointer) else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE)
        }
        self.connection = connection
        self.parameters = parameters
    }

    /// A statement that ``ReadingConnection`` has prepared.
    init(_ pointer: OpaquePointer, on connection: OpaquePointer) {
        self.pointer = pointer
        self.connection = connection
    }

    func bind(_ index: Int32, _ number: Int64) {
        sqlite3_bind_int64(pointer, index, number)
    }

    func bind(_ index: Int32, _ flag: Bool) {
        sqlite3_bind_int64(pointer, index, flag ? 1 : 0)
    }

    func bind(_ index: Int32, _ number: Int64?) {
        if let number {
            sqlite3_bind_int64(pointer, index, number)
        } else {
            sqlite3_bind_null(pointer, index)
        }
    }

    func bind(_ index: Int32, text: String) {
        sqlite3_bind_text(pointer, index, text, -1, transient)
    }

    /// Binds octets that are UTF-8 as text, or NULL.
    func bind(_ index: Int32, text octets: Octets?) {
        guard let octets else {
            sqlite3_bind_null(pointer, index)
            return
        }
        octets.withSpan { span in
            span.withUnsafeBytes { bytes in
                let text = bytes.assumingMemoryBound(to: CChar.self)
                sqlite3_bind_text(pointer, index, text.baseAddress, Int32(text.count), transient)
            }
        }
    }

    /// Binds the empty text.
    func bindEmptyText(_ index: Int32) {
        sqlite3_bind_text(pointer, index, emptyText.utf8Start, 0, nil)
    }

    func bind(_ index: Int32, _ octets: Octets) {
        octets.withSpan { span in
            span.withUnsafeBufferPointer { bind(index, $0) }
        }
    }

    func bind(_ index: Int32, _ bytes: [UInt8]?) {
        if let bytes {
            bytes.withUnsafeBufferPointer { bind(index, $0) }
        } else {
            sqlite3_bind_null(pointer, index)
        }
    }

    /// Binds octets that stay where they are until ``releaseParameters()``.
    func bind(_ index: Int32, inPlace octets: UnsafeRawBufferPointer) {
        sqlite3_bind_blob(pointer, index, octets.baseAddress, Int32(octets.count), nil)
    }

    /// Binds octets that are UTF-8 as text, and stay where they are until ``releaseParameters()``.
    func bind(_ index: Int32, textInPlace octets: UnsafeRawBufferPointer?) {
        guard let octets else {
            sqlite3_bind_null(pointer, index)
            return
        }
        let text = octets.assumingMemoryBound(to: CChar.self)
        sqlite3_bind_text(pointer, index, text.baseAddress, Int32(text.count), nil)
    }

    /// Forgets what is bound.
    func releaseParameters() {
        sqlite3_clear_bindings(pointer)
    }

    /// How many rows the connection's last statement changed.
    var changeCount: Int32 { sqlite3_changes(connection) }

    private func bind(_ index: Int32, _ buffer: UnsafeBufferPointer<UInt8>) {
        // A null address would bind NULL where an empty value is meant.
        if !buffer.isEmpty {
            let (address, destructor) = lasting(buffer)
            sqlite3_bind_blob(pointer, index, address, Int32(buffer.count), destructor)
        } else {
            sqlite3_bind_zeroblob(pointer, index, 0)
        }
    }

    /// Where SQLite finds what is bound, and what it is to do with it: leave it, or make a copy of its own.
    private func lasting(
        _ buffer: UnsafeBufferPointer<UInt8>
    ) -> (UnsafePointer<UInt8>?, sqlite3_destructor_type?) {
        if let kept = parameters?.keep(buffer) { return (kept, nil) }
        return (buffer.baseAddress, transient)
    }

    /// Whether there is a further row.
    func step() throws -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW:
            return true
        case SQLITE_DONE:
            sqlite3_reset(pointer)
            return false
        default:
            let code = ResultCode(rawValue: sqlite3_extended_errcode(connection))
            sqlite3_reset(pointer)
            throw DatabaseError(resultCode: code)
        }
    }

    /// Runs a statement that gives no rows.
    func run() throws {
        defer { parameters?.removeAll() }
        if try step() { sqlite3_reset(pointer) }
    }

    func reset() {
        sqlite3_reset(pointer)
        parameters?.removeAll()
    }

    func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(pointer, column) == SQLITE_NULL
    }

    func int64(_ column: Int32) -> Int64 {
        sqlite3_column_int64(pointer, column)
    }

    func optionalInt64(_ column: Int32) -> Int64? {
        isNull(column) ? nil : int64(column)
    }

    func bytes(_ column: Int32) -> [UInt8] {
        Array(borrowedBytes(column))
    }

    /// The octets where SQLite has them, good until the next step.
    func borrowedBytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let base = sqlite3_column_blob(pointer, column)
        return UnsafeRawBufferPointer(start: base, count: base == nil ? 0 : Int(sqlite3_column_bytes(pointer, column)))
    }

    func text(_ column: Int32) -> String {
        String(decoding: bytes(column), as: UTF8.self)
    }
}

private let emptyText: StaticString = ""

/// Tells SQLite to copy what is bound: the C macro SQLITE_TRANSIENT, which Swift does not import.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// What tables of cookies have in common: the columns `domain, path, name, host_only, partition_key`, times and flags.
extension RowStatement {
    /// Binds the identity of a cookie to five parameters.
    func bind(_ index: Int32, identity id: Cookie.ID) {
        bind(index, id.domain.octets)
        bind(index + 1, id.path)
        bind(index + 2, id.name)
        bind(index + 3, id.isHostOnly)
        if let key = id.partitionKey {
            bind(index + 4, text: key.serialized)
        } else {
            bindEmptyText(index + 4)
        }
    }

    /// The identity of a cookie in five columns.
    func identity(_ column: Int32) -> Cookie.ID {
        Cookie.ID(
            name: Octets(bytes(column + 2)), domain: WebHost(stored: Octets(bytes(column))),
            isHostOnly: int64(column + 3) != 0, path: Octets(bytes(column + 1)),
            partitionKey: partitionKey(column + 4))
    }

    /// The partition; few cookies have one.
    func partitionKey(_ column: Int32) -> PartitionKey? {
        let bytes = borrowedBytes(column)
        return bytes.isEmpty ? nil : PartitionKey(serialized: String(decoding: bytes, as: UTF8.self))
    }

    /// The same-site-flag; the strictest one where it is none that this version knows.
    func sameSite(_ column: Int32) -> SameSite {
        SameSite(rawValue: UInt8(truncatingIfNeeded: int64(column))) ?? .strict
    }

    /// A moment.
    func timestamp(_ column: Int32) -> Timestamp {
        Timestamp(microseconds: int64(column))
    }

    /// A moment, or NULL.
    func optionalTimestamp(_ column: Int32) -> Timestamp? {
        optionalInt64(column).map(Timestamp.init(microseconds:))
    }

    /// The octets of the first column of every row.
    func allOctets() throws -> [Octets] {
        defer { reset() }
        var octets: [Octets] = []
        while try step() { octets.append(Octets(bytes(0))) }
        return octets
    }
}
