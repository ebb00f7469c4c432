internal import CookieModel
internal import SQLiteEngine
internal import StoreEngine

/// A prepared statement of an ``Engine``: parameters count from 1 and columns from 0.
enum Statement: StoreStatement {
    case sqlite(SQLiteStatement)
    case served(any ServedStatement)
}

// Each call goes to the statement behind, without a detour for SQLite.
extension Statement {
    @inline(__always)
    func bind(_ index: Int32, _ number: Int64) {
        switch self {
        case .sqlite(let statement): statement.bind(index, number)
        case .served(let statement): statement.bind(index, number)
        }
    }

    @inline(__always)
    func bind(_ index: Int32, _ number: Int64?) {
        switch self {
        case .sqlite(let statement): statement.bind(index, number)
        case .served(let statement): statement.bind(index, number)
        }
    }

    @inline(__always)
    func bind(_ index: Int32, _ flag: Bool) {
        switch self {
        case .sqlite(let statement): statement.bind(index, flag)
        case .served(let statement): statement.bind(index, flag)
        }
    }

    @inline(__always)
    func bind(_ index: Int32, text: String) {
        switch self {
        case .sqlite(let statement): statement.bind(index, text: text)
        case .served(let statement): statement.bind(index, text: text)
        }
    }

    @inline(__always)
    func bind(_ index: Int32, text octets: Octets?) {
        switch self {
        case .sqlite(let statement): statement.bind(index, text: octets)
        case .served(let statement): statement.bind(index, text: octets)
        }
    }

    @inline(__always)
    func bindEmptyText(_ index: Int32) {
        switch self {
        case .sqlite(let statement): statement.bindEmptyText(index)
        case .served(let statement): statement.bindEmptyText(index)
        }
    }

    @inline(__always)
    func bind(_ index: Int32, _ octets: Octets) {
        switch self {
        case .sqlite(let statement): statement.bind(index, octets)
        case .served(let statement): statement.bind(index, octets)
        }
    }

    @inline(__always)
    func bind(_ index: Int32, _ bytes: [UInt8]?) {
        switch self {
        case .sqlite(let statement): statement.bind(index, bytes)
        case .served(let statement): statement.bind(index, bytes)
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
    func optionalInt64(_ column: Int32) -> Int64? {
        switch self {
        case .sqlite(let statement): statement.optionalInt64(column)
        case .served(let statement): statement.optionalInt64(column)
        }
    }

    @inline(__always)
    func bytes(_ column: Int32) -> [UInt8] {
        switch self {
        case .sqlite(let statement): statement.bytes(column)
        case .served(let statement): statement.bytes(column)
        }
    }

    @inline(__always)
    func borrowedBytes(_ column: Int32) -> UnsafeRawBufferPointer {
        switch self {
        case .sqlite(let statement): statement.borrowedBytes(column)
        case .served(let statement): statement.borrowedBytes(column)
        }
    }

    @inline(__always)
    func text(_ column: Int32) -> String {
        switch self {
        case .sqlite(let statement): statement.text(column)
        case .served(let statement): statement.text(column)
        }
    }
}

extension Statement {
    /// Runs a statement that returns one number, such as the id of the row that it inserts.
    func returnedNumber() throws -> Int64 {
        guard try step() else { throw StoreFailure.unexpectedResult }
        let number = int64(0)
        // Only at its end are foreign keys checked.
        while try step() {}
        return number
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
