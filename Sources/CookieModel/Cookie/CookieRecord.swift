/// A cookie as another program's store holds it: no response line, no request URL, nothing validated yet.
///
/// Cookie files and browser databases give records. ``CookiePolicy/decision(for:existing:now:)`` checks a record against the
/// same rules that a response meets, as far as a dump still shows what they need.
public struct CookieRecord: Sendable, Hashable {
    /// The cookie's name, possibly empty.
    public var name: Octets
    /// The cookie's value, possibly empty.
    public var value: Octets
    /// The host or domain as the store writes it, without the leading dot by which some stores mark domain cookies.
    public var domain: String
    /// Whether only the exact host gets the cookie.
    public var isHostOnly: Bool
    /// The cookie's path, beginning with `/`.
    public var path: Octets
    /// Whether only secure connections get the cookie.
    public var isSecure: Bool
    /// Whether scripts may not see the cookie.
    public var isHTTPOnly: Bool
    /// The same-site-flag; `default` where the store does not keep it.
    public var sameSite: SameSite
    /// When the cookie ends; `nil` for one that ends with the session.
    public var expiry: Timestamp?
    /// When the cookie was first set, where the store tells.
    public var creation: Timestamp?
    /// When the cookie was last sent or set, where the store tells.
    public var lastAccess: Timestamp?
    /// The partition; `nil` for an unpartitioned cookie, and where the store does not keep it.
    public var partitionKey: PartitionKey?

    /// A record with the fields that every store has; the others can be set afterwards.
    public init(
        name: Octets, value: Octets, domain: String, isHostOnly: Bool, path: Octets = "/", isSecure: Bool = false,
        isHTTPOnly: Bool = false, sameSite: SameSite = .default, expiry: Timestamp? = nil, creation: Timestamp? = nil
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
        self.expiry = expiry
        self.creation = creation
    }
}
