internal import CookieModel

/// A row that begins with the columns of ``CookieRows``, its octets put behind those of other rows.
struct CookieRow {
    private let start, pathStart, nameStart, partitionStart, valueStart, end: UInt32
    private let isHostOnly: Bool
    private let isSecure: Bool
    private let isHTTPOnly: Bool
    private let sameSite: SameSite
    private let expiry: Timestamp?
    private let creation: Timestamp
    private let sequence: Int64
    /// The last-access-time.
    var lastAccess: Timestamp

    /// The row at hand; its domain, path, name, partition and value go to the end of `memory`.
    init(_ statement: RowStatement, _ memory: inout [UInt8]) {
        start = memory.appending(statement.borrowedBytes(0))
        pathStart = memory.appending(statement.borrowedBytes(1))
        nameStart = memory.appending(statement.borrowedBytes(2))
        partitionStart = memory.appending(statement.borrowedBytes(4))
        valueStart = memory.appending(statement.borrowedBytes(5))
        end = UInt32(truncatingIfNeeded: memory.count)
        isHostOnly = statement.int64(3) != 0
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
        let partition = memory[partitionStart, valueStart]
        return Cookie(
            id: Cookie.ID(
                name: memory[nameStart, partitionStart], domain: WebHost(stored: memory[start, pathStart]),
                isHostOnly: isHostOnly, path: memory[pathStart, nameStart],
                partitionKey: partition.isEmpty
                    ? nil : PartitionKey(serialized: String(decoding: partition, as: UTF8.self))),
            value: memory[valueStart, end], isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite,
            expiry: expiry, creation: creation, lastAccess: lastAccess, sequence: sequence)
    }

    /// The cookie in the memory that its octets were put into, without its value.
    func inPlace(_ memory: UnsafeRawBufferPointer) -> CookieInPlace {
        CookieInPlace(
            domain: memory[start, pathStart], path: memory[pathStart, nameStart],
            name: memory[nameStart, partitionStart], partitionKey: memory[partitionStart, valueStart],
            isHostOnly: isHostOnly, isSecure: isSecure, isHTTPOnly: isHTTPOnly, sameSite: sameSite, expiry: expiry,
            creation: creation, sequence: sequence)
    }

    /// The value, sealed.
    func value(_ memory: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        memory[valueStart, end]
    }
}

extension UnsafeRawBufferPointer {
    fileprivate subscript(start: UInt32, end: UInt32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[Int(start)..<Int(end)])
    }
}

extension [UInt8] {
    /// Appends bytes and says where they begin. The rows of a site are far from 4 GiB.
    fileprivate mutating func appending(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        let start = UInt32(truncatingIfNeeded: count)
        append(contentsOf: bytes)
        return start
    }
}

extension Octets {
    fileprivate subscript(start: UInt32, end: UInt32) -> Octets {
        self[Int(start)..<Int(end)]
    }
}
