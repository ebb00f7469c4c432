internal import CookieModel
internal import SQLiteEngine
internal import StoreEngine

/// A prepared statement of an ``Engine``: parameters count from 1 and columns from 0.
enum Statement: StoreStatement {
    case sqlite(SQLiteStatement)
    case served(any ServedStatement)
}

// Each call is forwarded to the engine's statement, for SQLite directly.
extension Statement {
    @inline(__always)
    func bindNull(_ index: Int32) {
        switch self {
        case .sqlite(let statement): statement.bindNull(index)
        case .served(let statement): statement.bindNull(index)
        }
    }

    @inline(__always)
    func bind(_ index: Int32, _ number: Int64) {
        switch self {
        case .sqlite(let statement): statement.bind(index, number)
        case .served(let statement): statement.bind(index, number)
        }
    }

    @inline(__always)
    func bind(_ index: Int32, text octets: UnsafeRawBufferPointer) {
        switch self {
        case .sqlite(let statement): statement.bind(index, text: octets)
        case .served(let statement): statement.bind(index, text: octets)
        }
    }

    @inline(__always)
    func bind(_ index: Int32, _ octets: UnsafeRawBufferPointer) {
        switch self {
        case .sqlite(let statement): statement.bind(index, octets)
        case .served(let statement): statement.bind(index, octets)
        }
    }

    @inline(__always)
    func bind(_ index: Int32, inPlace octets: UnsafeRawBufferPointer) {
        switch self {
        case .sqlite(let statement): statement.bind(index, inPlace: octets)
        case .served(let statement): statement.bind(index, inPlace: octets)
        }
    }

    @inline(__always)
    func bind(_ index: Int32, textInPlace octets: UnsafeRawBufferPointer?) {
        switch self {
        case .sqlite(let statement): statement.bind(index, textInPlace: octets)
        case .served(let statement): statement.bind(index, textInPlace: octets)
        }
    }

    @inline(__always)
    func releaseParameters() {
        switch self {
        case .sqlite(let statement): statement.releaseParameters()
        case .served(let statement): statement.releaseParameters()
        }
    }

    @inline(__always)
    func step() throws -> Bool {
        switch self {
        case .sqlite(let statement): try statement.step()
        case .served(let statement): try statement.step()
        }
    }

    @inline(__always)
    func run() throws {
        switch self {
        case .sqlite(let statement): try statement.run()
        case .served(let statement): try statement.run()
        }
    }

    @inline(__always)
    func runChangingOneRow() throws {
        switch self {
        case .sqlite(let statement): try statement.runChangingOneRow()
        case .served(let statement): try statement.runChangingOneRow()
        }
    }

    @inline(__always)
    func reset() {
        switch self {
        case .sqlite(let statement): statement.reset()
        case .served(let statement): statement.reset()
        }
    }

    @inline(__always)
    var changeCount: Int {
        switch self {
        case .sqlite(let statement): statement.changeCount
        case .served(let statement): statement.changeCount
        }
    }

    @inline(__always)
    func isNull(_ column: Int32) -> Bool {
        switch self {
        case .sqlite(let statement): statement.isNull(column)
        case .served(let statement): statement.isNull(column)
        }
    }

    @inline(__always)
    func int64(_ column: Int32) -> Int64 {
        switch self {
        case .sqlite(let statement): statement.int64(column)
        case .served(let statement): statement.int64(column)
        }
    }

    @inline(__always)
    func borrowedBytes(_ column: Int32) -> UnsafeRawBufferPointer {
        switch self {
        case .sqlite(let statement): statement.borrowedBytes(column)
        case .served(let statement): statement.borrowedBytes(column)
        }
    }
}

/// A value for one parameter of a statement, or several in a row. Strings are bound as text, octets as a blob.
protocol StatementParameter {
    /// Binds the value to the parameter at `index`, and moves `index` on to the next one.
    func bind(to statement: Statement, at index: inout Int32)
}

extension Int64: StatementParameter {
    func bind(to statement: Statement, at index: inout Int32) {
        statement.bind(index, self)
        index += 1
    }
}

extension Int: StatementParameter {
    func bind(to statement: Statement, at index: inout Int32) { Int64(self).bind(to: statement, at: &index) }
}

extension UInt32: StatementParameter {
    func bind(to statement: Statement, at index: inout Int32) { Int64(self).bind(to: statement, at: &index) }
}

extension Bool: StatementParameter {
    func bind(to statement: Statement, at index: inout Int32) { Int64(self ? 1 : 0).bind(to: statement, at: &index) }
}

extension Timestamp: StatementParameter {
    func bind(to statement: Statement, at index: inout Int32) { microseconds.bind(to: statement, at: &index) }
}

extension String: StatementParameter {
    func bind(to statement: Statement, at index: inout Int32) {
        statement.bind(index, text: self)
        index += 1
    }
}

extension Octets: StatementParameter {
    func bind(to statement: Statement, at index: inout Int32) {
        statement.bind(index, self)
        index += 1
    }
}

extension [UInt8]: StatementParameter {
    func bind(to statement: Statement, at index: inout Int32) {
        statement.bind(index, self)
        index += 1
    }
}

extension Optional: StatementParameter where Wrapped: StatementParameter {
    func bind(to statement: Statement, at index: inout Int32) {
        if let self {
            self.bind(to: statement, at: &index)
        } else {
            statement.bindNull(index)
            index += 1
        }
    }
}

/// The identity of a cookie takes five parameters: `domain, path, name, host_only, partition_key`.
extension Cookie.ID: StatementParameter {
    func bind(to statement: Statement, at index: inout Int32) {
        statement.bind(index, identity: self)
        index += 5
    }
}

// Parameters in a pack cost some 40 instructions each. The statements of each cookie bind theirs by number instead.
extension Statement {
    /// Binds values to the parameters, from the first one on.
    func bindAll<each Parameter: StatementParameter>(_ parameters: repeat each Parameter) {
        var index: Int32 = 1
        repeat (each parameters).bind(to: self, at: &index)
    }

    /// Runs the statement with these parameters. Its rows, if it has any, are not read.
    func run<each Parameter: StatementParameter>(_ parameters: repeat each Parameter) throws {
        bindAll(repeat each parameters)
        try run()
    }

    /// Runs the statement with these parameters.
    ///
    /// - Returns: how many rows it changed.
    func runCounting<each Parameter: StatementParameter>(_ parameters: repeat each Parameter) throws -> Int {
        bindAll(repeat each parameters)
        try run()
        return changeCount
    }

    /// Runs a statement with these parameters that returns one number, such as the id of the row that it inserts.
    func returnedNumber<each Parameter: StatementParameter>(_ parameters: repeat each Parameter) throws -> Int64 {
        bindAll(repeat each parameters)
        guard try step() else { throw StoreFailure.unexpectedResult }
        let number = int64(0)
        // Foreign keys are checked only at the end of the statement.
        while try step() {}
        return number
    }

    /// Calls `body` for each row that the statement returns with these parameters.
    func forEach<each Parameter: StatementParameter>(
        _ parameters: repeat each Parameter, body: (Statement) throws -> Void
    ) throws {
        bindAll(repeat each parameters)
        defer { reset() }
        while try step() { try body(self) }
    }

    /// The rows that the statement returns with these parameters, each as `row` reads it.
    func rows<each Parameter: StatementParameter, Row>(
        _ parameters: repeat each Parameter, row: (Statement) throws -> Row
    ) throws -> [Row] {
        var rows: [Row] = []
        try forEach(repeat each parameters) { rows.append(try row($0)) }
        return rows
    }

    /// The first row that the statement returns with these parameters, as `row` reads it; `nil` if it returns none.
    func first<each Parameter: StatementParameter, Row>(
        _ parameters: repeat each Parameter, row: (Statement) throws -> Row?
    ) throws -> Row? {
        bindAll(repeat each parameters)
        defer { reset() }
        return try step() ? try row(self) : nil
    }
}

/// The columns that the tables of cookies have in common: `domain, path, name, host_only, partition_key`, times and flags.
extension Statement {
    /// Binds the identity of a cookie to five parameters.
    func bind(_ index: Int32, identity id: Cookie.ID) {
        bind(index, id.domain.octets)
        bind(index + 1, id.path)
        bind(index + 2, id.name)
        bind(index + 3, id.isHostOnly)
        if let key = id.partitionKey {
            bind(index + 4, text: key.serialized)
        } else {
            bind(index + 4, text: UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }

    /// The identity of a cookie in five columns.
    func identity(_ column: Int32) -> Cookie.ID {
        Cookie.ID(
            name: Octets(bytes(column + 2)), domain: WebHost(stored: Octets(bytes(column))),
            isHostOnly: int64(column + 3) != 0, path: Octets(bytes(column + 1)),
            partitionKey: partitionKey(column + 4))
    }

    /// The partition, which few cookies have.
    func partitionKey(_ column: Int32) -> PartitionKey? {
        let bytes = borrowedBytes(column)
        return bytes.isEmpty ? nil : PartitionKey(serialized: String(decoding: bytes, as: UTF8.self))
    }

    /// The attributes in two columns: `secure`, `http_only`.
    @inline(__always)
    func attributes(_ column: Int32) -> CookieAttributes {
        CookieAttributes(isSecure: int64(column) != 0, isHTTPOnly: int64(column + 1) != 0)
    }

    /// The same-site-flag; the strictest one where it is none that this version knows.
    func sameSite(_ column: Int32) -> SameSite {
        SameSite(rawValue: UInt8(truncatingIfNeeded: int64(column))) ?? .strict
    }

    /// A time.
    func timestamp(_ column: Int32) -> Timestamp {
        Timestamp(microseconds: int64(column))
    }

    /// A time, or NULL.
    func optionalTimestamp(_ column: Int32) -> Timestamp? {
        isNull(column) ? nil : timestamp(column)
    }
}
