// `Octets`, `Timestamp`, `WebHost` and `RequestURL` are in nearly every signature of this module, so an import of it brings
// them too, as Hummingbird and NIO do with their parts.
@_exported public import WebPrimitives

/// A cookie that was validated against the URL it came from: the fields of section 5.7 of the draft.
public struct Cookie: Sendable, Hashable {
    /// The identity of a cookie. A new cookie with the ID of a stored one replaces it.
    public struct ID: Hashable, Sendable {
        /// The name, possibly empty.
        public var name: Octets
        /// The domain, without a leading dot.
        public var domain: WebHost
        /// The host-only-flag.
        public var isHostOnly: Bool
        /// The path.
        public var path: Octets
        /// The partition, `nil` for an unpartitioned cookie.
        public var partitionKey: PartitionKey?

        /// Creates an ID from its parts.
        public init(name: Octets, domain: WebHost, isHostOnly: Bool, path: Octets, partitionKey: PartitionKey?) {
            self.name = name
            self.domain = domain
            self.isHostOnly = isHostOnly
            self.path = path
            self.partitionKey = partitionKey
        }

        /// How many octets it has. The domain counts twice, since a database keeps the registrable domain besides it.
        package var octetCount: Int {
            name.count + path.count + 2 * domain.octets.count + (partitionKey?.serialized.utf8.count ?? 0)
        }
    }

    /// Name, domain, host-only-flag, path and partition.
    public var id: ID
    /// The value, possibly empty.
    public var value: Octets
    /// The secure-only-flag and the http-only-flag.
    public var attributes: CookieAttributes
    /// The same-site-flag.
    public var sameSite: SameSite
    /// The expiry-time; `nil` if the persistent-flag is false, for a cookie that ends with the session.
    public var expiry: Timestamp?
    /// The creation-time, kept when a cookie is replaced.
    public var creation: Timestamp
    /// The last-access-time.
    public var lastAccess: Timestamp
    /// The place in the order of creation, for cookies created at the same moment; kept like ``creation``.
    package var sequence: Int64
    /// The request that told of the cookie; `nil` for one that was set.
    package var request: CookieRequest?

    /// Creates a cookie from its fields, without validation.
    public init(
        id: ID, value: Octets, isSecure: Bool, isHTTPOnly: Bool, sameSite: SameSite, expiry: Timestamp?,
        creation: Timestamp, lastAccess: Timestamp, sequence: Int64 = 0
    ) {
        self.init(
            id: id, value: value, attributes: CookieAttributes(isSecure: isSecure, isHTTPOnly: isHTTPOnly),
            sameSite: sameSite, expiry: expiry, creation: creation, lastAccess: lastAccess, sequence: sequence)
    }

    /// Creates a cookie from its fields, without validation.
    public init(
        id: ID, value: Octets, attributes: CookieAttributes, sameSite: SameSite, expiry: Timestamp?,
        creation: Timestamp, lastAccess: Timestamp, sequence: Int64 = 0
    ) {
        self.id = id
        self.value = value
        self.attributes = attributes
        self.sameSite = sameSite
        self.expiry = expiry
        self.creation = creation
        self.lastAccess = lastAccess
        self.sequence = sequence
    }

    /// The secure-only-flag.
    @inlinable public var isSecure: Bool {
        get { attributes[.secure] }
        set { attributes[.secure] = newValue }
    }

    /// The http-only-flag.
    @inlinable public var isHTTPOnly: Bool {
        get { attributes[.httpOnly] }
        set { attributes[.httpOnly] = newValue }
    }

    /// The name, possibly empty.
    public var name: Octets { id.name }
    /// The domain, without a leading dot.
    public var domain: WebHost { id.domain }
    /// Whether only the exact host gets the cookie.
    public var isHostOnly: Bool { id.isHostOnly }
    /// The path.
    public var path: Octets { id.path }
    /// Whether the cookie outlives the session (the persistent-flag).
    public var isPersistent: Bool { expiry != nil }

    /// The octets of this cookie in a Cookie field (section 5.8.3 of the draft, step 6): only the value if there is no
    /// name.
    package var pair: Octets { Octets.pair(name, value) }

    /// Whether the expiry-time is in the past (section 5.7 of the draft): not yet at that very moment.
    public func isExpired(at now: Timestamp) -> Bool {
        hasExpired(at: now)
    }

    /// Whether all but name and value was assumed, since a request's `Cookie` field tells no more.
    package var isAssumed: Bool {
        request != nil && isHostOnly && isHTTPOnly && path == "/" && expiry == nil && sameSite == .default
            && id.partitionKey == nil
    }

    /// Whether this cookie goes before `other` in a header (section 5.8.3 of the draft, step 4): longer paths first,
    /// then earlier creation. A total and stable order.
    package func precedes(_ other: Cookie) -> Bool {
        HeaderRank(pathCount: path.count, creation: creation, sequence: sequence)
            < HeaderRank(pathCount: other.path.count, creation: other.creation, sequence: other.sequence)
    }
}

extension Octets {
    /// Name and value in a Cookie field (section 5.8.3 of the draft, step 6).
    static func pair(_ name: Octets, _ value: Octets) -> Octets {
        // Step 6.1: Write a name that is not empty, and an equals sign.
        // Step 6.2: Write the value.
        name.isEmpty ? value : Octets(name.bytes + [ASCII.equals] + value.bytes)
    }
}

/// The same-site-flag of a cookie: when cross-site requests may carry it (section 5.7 of the draft, step 17).
public enum SameSite: UInt8, Sendable, CaseIterable {
    /// No `SameSite` attribute, or one with an unknown value: enforced as `lax`.
    case `default` = 0
    /// `SameSite=None`: sent everywhere, and needs `Secure`.
    case none = 1
    /// `SameSite=Lax`: sent same-site, and cross-site with top-level navigations by safe methods.
    case lax = 2
    /// `SameSite=Strict`: sent same-site only.
    case strict = 3

    /// The attribute's value as servers write it, `nil` for `default`, which has none.
    public var attributeValue: String? {
        switch self {
        case .default: nil
        case .none: "None"
        case .lax: "Lax"
        case .strict: "Strict"
        }
    }
}

/// The top-level site that a partitioned cookie belongs to (CHIPS, "Partitioned Cookies").
public struct PartitionKey: Hashable, Sendable {
    /// The site of the page in the address bar, serialized: `https://example.com`.
    public let topLevelSite: String
    /// Whether a frame of another site stood between that page and the request.
    public let hasCrossSiteAncestor: Bool

    /// Creates a key from its parts.
    public init(topLevelSite: String, hasCrossSiteAncestor: Bool) {
        self.topLevelSite = topLevelSite
        self.hasCrossSiteAncestor = hasCrossSiteAncestor
    }

    private static let crossSiteMark = " cross-site"

    /// The key as text, for storage and reports; never empty.
    package var serialized: String {
        hasCrossSiteAncestor ? topLevelSite + PartitionKey.crossSiteMark : topLevelSite
    }

    /// Reads ``serialized`` back; `nil` for empty text, which means "not partitioned".
    package init?(serialized: String) {
        guard !serialized.isEmpty else { return nil }
        hasCrossSiteAncestor = serialized.hasSuffix(PartitionKey.crossSiteMark)
        topLevelSite =
            hasCrossSiteAncestor ? String(serialized.dropLast(PartitionKey.crossSiteMark.count)) : serialized
    }
}

extension PartitionKey {
    /// Whether this is the partition of the top-level pages of the site that `host` belongs to.
    ///
    /// A top-level site is a scheme and a registrable domain, so no list is needed to compare them.
    package func isOwnSite(of host: WebHost) -> Bool {
        // Pages of a loopback host are trustworthy without encryption, and their Secure cookies are partitioned too.
        guard let scheme = ["https://", "http://"].first(where: topLevelSite.hasPrefix), !hasCrossSiteAncestor,
            let site = WebHost(String(topLevelSite.dropFirst(scheme.count)))
        else { return false }
        return (scheme == "https://" || host.isLoopback) && CookiePolicy.domainMatches(host, site.octets)
    }
}
