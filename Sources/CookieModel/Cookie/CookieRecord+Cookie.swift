public import WebPrimitives

extension CookieRecord {
    /// What another program's store would hold of a cookie: all of it but its place in the order of creation.
    public init(_ cookie: Cookie) {
        self.init(
            name: cookie.name, value: cookie.value, domain: cookie.domain.description, isHostOnly: cookie.isHostOnly,
            path: cookie.path, isSecure: cookie.isSecure, isHTTPOnly: cookie.isHTTPOnly, sameSite: cookie.sameSite,
            expiry: cookie.expiry, creation: cookie.creation)
        lastAccess = cookie.lastAccess
        partitionKey = cookie.id.partitionKey
    }

    /// The octets of this cookie in a Cookie field; see ``Cookie/pair``.
    public var pair: Octets { Octets.pair(name, value) }
}
