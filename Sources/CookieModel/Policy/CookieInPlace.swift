import WebPrimitives

/// A cookie of a store where it lies: what reads it counts and copies none of its parts.
package struct CookieInPlace: CookieFields {
    package let domainOctets: UnsafeRawBufferPointer
    package let pathOctets: UnsafeRawBufferPointer
    package let name: UnsafeRawBufferPointer
    /// The partition as ``PartitionKey/serialized`` writes it; empty where there is none.
    package let partitionKey: UnsafeRawBufferPointer
    package let isHostOnly: Bool
    package let isSecure: Bool
    package let isHTTPOnly: Bool
    package let sameSite: SameSite
    package let expiry: Timestamp?
    package let creation: Timestamp
    private let sequence: Int64

    /// A cookie from its fields; the memory must outlive this.
    package init(
        domain: UnsafeRawBufferPointer, path: UnsafeRawBufferPointer, name: UnsafeRawBufferPointer,
        partitionKey: UnsafeRawBufferPointer, isHostOnly: Bool, isSecure: Bool, isHTTPOnly: Bool, sameSite: SameSite,
        expiry: Timestamp?, creation: Timestamp, sequence: Int64
    ) {
        domainOctets = domain
        pathOctets = path
        self.name = name
        self.partitionKey = partitionKey
        self.isHostOnly = isHostOnly
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
        self.expiry = expiry
        self.creation = creation
        self.sequence = sequence
    }

    /// What the order of a header goes by.
    var rank: HeaderRank {
        HeaderRank(pathCount: pathOctets.count, creation: creation, sequence: sequence)
    }

    func isOutside(_ key: @autoclosure () -> PartitionKey) -> Bool {
        !partitionKey.isEmpty && !partitionKey.elementsEqual(key().serialized.utf8)
    }
}
