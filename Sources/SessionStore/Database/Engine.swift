internal import CookieModel
internal import SQLiteEngine
internal import StoreEngine

// The only place that names the engine. Rows, caches and maintenance use these names, and of their types what
// `StoreConnection`, `StoreStatement` and `StoreReader` require: with a second engine, the names become types that
// switch between the two.
//
// Aliases rather than existentials or generic parameters: a row costs some twenty calls, which stay direct calls.
typealias Engine = SQLiteDatabase
typealias Connection = SQLiteConnection
typealias Statement = SQLiteStatement
typealias Reader = SQLiteReader

/// A statement that every batch runs, or every cookie of one.
enum KeptStatement: Int {
    case cookieOutlines, insertCookie, updateCookie, deleteCookie
    case journalEnd, insertChange

    fileprivate var sql: String {
        switch self {
        case .cookieOutlines: CookieRows.outlineQuery
        case .insertCookie: CookieRows.insertion
        case .updateCookie: CookieRows.update
        case .deleteCookie: CookieRows.deletion
        case .journalEnd: ChangeRows.endQuery
        case .insertChange: ChangeRows.insertion
        }
    }
}

extension Connection {
    /// A statement that stays prepared, found without its text.
    func statement(_ kept: KeptStatement) throws -> Statement {
        try statement(kept: kept.rawValue, kept.sql)
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

/// What tables of cookies have in common: the columns `domain, path, name, host_only, partition_key`, times and flags.
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
