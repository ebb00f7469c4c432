import WebPrimitives

/// What the retrieval rules read of a cookie, however it is kept.
protocol CookieFields {
    associatedtype Bytes: ContiguousOctets

    var domainOctets: Bytes { get }
    var pathOctets: Bytes { get }
    var isHostOnly: Bool { get }
    var isSecure: Bool { get }
    var isHTTPOnly: Bool { get }
    var sameSite: SameSite { get }
    var expiry: Timestamp? { get }
    var creation: Timestamp { get }

    /// Whether the cookie is partitioned and of another partition. Few cookies are, so few keys are asked for.
    func isOutside(_ key: @autoclosure () -> PartitionKey) -> Bool
}

extension CookieFields {
    /// Whether the expiry-time is in the past (section 5.7).
    @inline(__always)
    func hasExpired(at now: Timestamp) -> Bool { isPast(expiry, at: now) }
}

extension CookieRecord {
    /// Whether the expiry-time is in the past (section 5.7).
    package func hasExpired(at now: Timestamp) -> Bool { isPast(expiry, at: now) }
}

/// Whether an expiry-time is in the past (section 5.7): not yet at that very moment.
@inline(__always)
private func isPast(_ expiry: Timestamp?, at now: Timestamp) -> Bool {
    guard let expiry else { return false }
    return expiry < now
}

extension Cookie: CookieFields {
    var domainOctets: Octets { id.domain.octets }
    var pathOctets: Octets { id.path }

    func isOutside(_ key: @autoclosure () -> PartitionKey) -> Bool {
        id.partitionKey.map { $0 != key() } ?? false
    }
}
