internal import CookieModel

/// A row that begins with the columns of ``CookieRows``, its octets put behind those of other rows.
struct CookieRow {
    private let start: Int
    private let pathStart: Int
    private let nameStart: Int
    private let valueStart: Int
    private let end: Int
    private let partitionKey: PartitionKey?
    private let isHostOnly: Bool
    private let isSecure: Bool
    private let isHTTPOnly: Bool
    private let sameSite: SameSite
    private let expiry: Timestamp?
    private let creation: Timestamp
    private let sequence: Int64
    private let lastAccess: Timestamp

    /// The row at hand; its domain, path, name and value go to the end of `memory`.
    init(_ statement: RowStatement, _ memory: inout [UInt8]) {
        start = memory.count
        memory.append(contentsOf: statement.borrowedBytes(0))
        pathStart = memory.count
        memory.append(contentsOf: statement.borrowedBytes(1))
        nameStart = memory.count
        memory.append(contentsOf: statement.borrowedBytes(2))
        valueStart = memory.count
        memory.append(contentsOf: statement.borrowedBytes(5))
        end = memory.count
        isHostOnly = statement.int64(3) != 0
        partitionKey = statement.partitionKey(4)
        isSecure = statement.int64(6) != 0
        isHTTPOnly = statement.int64(7) != 0
        sameSite = statement.sameSite(8)
        expiry = statement.optionalTimestamp(9)
        creation = statement.timestamp(10)
        sequence = statement.int64(11)
        lastAccess = statement.timestamp(12)
    }

    /// The cookie, its octets cut from the memory that they were put into.
    func cookie(in memory: Octets) -> Cookie {
        Cookie(
            id: Cookie.ID(
                name: memory[nameStart..<valueStart], domain: WebHost(stored: memory[start..<pathStart]),
                isHostOnly: isHostOnly, path: memory[pathStart..<nameStart], partitionKey: partitionKey),
            value: memory[valueStart..<end], isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite,
            expiry: expiry, creation: creation, lastAccess: lastAccess, sequence: sequence)
    }
}
