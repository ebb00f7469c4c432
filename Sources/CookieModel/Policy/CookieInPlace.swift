/// A cookie where it lies: a rule that reads it so copies no more of it than it asks for.
struct CookieInPlace: CookieFields {
    private let cookie: UnsafePointer<Cookie>

    /// The cookie at `pointer`, which must outlive this.
    init(_ pointer: UnsafePointer<Cookie>) {
        cookie = pointer
    }

    var domainOctets: Octets { cookie.pointee.id.domain.octets }
    var pathOctets: Octets { cookie.pointee.id.path }
    var isHostOnly: Bool { cookie.pointee.id.isHostOnly }
    var isSecure: Bool { cookie.pointee.isSecure }
    var isHTTPOnly: Bool { cookie.pointee.isHTTPOnly }
    var sameSite: SameSite { cookie.pointee.sameSite }
    var expiry: Timestamp? { cookie.pointee.expiry }
    var creation: Timestamp { cookie.pointee.creation }

    /// What the order of a header goes by.
    var rank: HeaderRank {
        HeaderRank(
            pathCount: cookie.pointee.id.path.count, creation: cookie.pointee.creation,
            sequence: cookie.pointee.sequence)
    }

    func isOutside(_ key: @autoclosure () -> PartitionKey) -> Bool {
        cookie.pointee.id.partitionKey.map { $0 != key() } ?? false
    }
}
