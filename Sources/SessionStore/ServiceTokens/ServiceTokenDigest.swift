/// The SHA-256 of an access token: what the database has of it, and what it is looked up by.
///
/// How long a look-up takes says nothing of a token. What a guess has in common with a digest is chance, since nobody
/// can choose the digest of a guess; and two digests are compared to their ends all the same.
struct ServiceTokenDigest: Hashable, Sendable {
    let bytes: [UInt8]

    static func == (one: ServiceTokenDigest, other: ServiceTokenDigest) -> Bool {
        one.bytes.count == other.bytes.count && areEqual(one.bytes, other.bytes)
    }

    /// Whether octets, as many here as there, are the same. Looks at all of them, wherever they differ.
    static func areEqual(_ some: some Sequence<UInt8>, _ others: some Sequence<UInt8>) -> Bool {
        var difference: UInt8 = 0
        for (one, other) in zip(some, others) { difference |= one ^ other }
        return difference == 0
    }
}
