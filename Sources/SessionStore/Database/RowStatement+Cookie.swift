internal import CookieModel

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

    /// The octets of four columns, which share one piece of memory.
    func octets(
        _ first: Int32, _ second: Int32, _ third: Int32, _ fourth: Int32
    ) -> (Octets, Octets, Octets, Octets) {
        let parts = (borrowedBytes(first), borrowedBytes(second), borrowedBytes(third), borrowedBytes(fourth))
        let ends = (
            parts.0.count, parts.0.count + parts.1.count, parts.0.count + parts.1.count + parts.2.count,
            parts.0.count + parts.1.count + parts.2.count + parts.3.count
        )
        let memory = [UInt8](unsafeUninitializedCapacity: ends.3) { buffer, count in
            let room = UnsafeMutableRawBufferPointer(buffer)
            UnsafeMutableRawBufferPointer(rebasing: room[..<ends.0]).copyMemory(from: parts.0)
            UnsafeMutableRawBufferPointer(rebasing: room[ends.0..<ends.1]).copyMemory(from: parts.1)
            UnsafeMutableRawBufferPointer(rebasing: room[ends.1..<ends.2]).copyMemory(from: parts.2)
            UnsafeMutableRawBufferPointer(rebasing: room[ends.2..<ends.3]).copyMemory(from: parts.3)
            count = ends.3
        }
        return (
            Octets(memory, in: 0..<ends.0), Octets(memory, in: ends.0..<ends.1), Octets(memory, in: ends.1..<ends.2),
            Octets(memory, in: ends.2..<ends.3)
        )
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
