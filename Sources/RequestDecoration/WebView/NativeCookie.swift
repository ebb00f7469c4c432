public import CookieModel

/// A cookie as a web view's own store holds it: text, with a dot in front of the domain where it is not host-only.
public struct NativeCookie: Sendable, Hashable {
    /// What makes two cookies of a native store the same one.
    public struct ID: Sendable, Hashable {
        /// The name.
        public let name: String
        /// The domain, with a dot in front where it is not host-only.
        public let domain: String
        /// The path.
        public let path: String
        /// The partition, serialized as by ``PartitionKey``; empty for none.
        public let partition: String

        /// The ID that a cookie has in a native store; `nil` where its octets are no text.
        public init?(_ id: Cookie.ID) {
            guard let name = id.name.utf8String, let path = id.path.utf8String else { return nil }
            self.init(
                name: name, domain: (id.isHostOnly ? "" : ".") + id.domain.description, path: path,
                partition: id.partitionKey?.serialized ?? "")
        }

        init(name: String, domain: String, path: String, partition: String) {
            self.name = name
            self.domain = domain
            self.path = path
            self.partition = partition
        }
    }

    /// The name.
    public var name: String
    /// The value.
    public var value: String
    /// The domain, with a dot in front where it is not host-only.
    public var domain: String
    /// The path.
    public var path: String
    /// When it ends, in whole seconds, as stores keep it; `nil` for a cookie that ends with the session.
    public var expiry: Timestamp?
    /// Whether only secure connections get it.
    public var isSecure: Bool
    /// Whether scripts may not see it.
    public var isHTTPOnly: Bool
    /// The same-site-flag; `default` where there is none or the store does not say.
    public var sameSite: SameSite
    /// The partition; `nil` for an unpartitioned cookie.
    public var partitionKey: PartitionKey?

    /// A cookie of a native store.
    public init(
        name: String, value: String, domain: String, path: String = "/", expiry: Timestamp? = nil,
        isSecure: Bool = false, isHTTPOnly: Bool = false, sameSite: SameSite = .default,
        partitionKey: PartitionKey? = nil
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.path = path
        self.expiry = expiry.map { Timestamp(seconds: $0.seconds) }
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
        self.partitionKey = partitionKey
    }

    /// What makes it the same one as another.
    public var id: ID { ID(name: name, domain: domain, path: path, partition: partitionKey?.serialized ?? "") }

    /// Whether only the exact host gets it.
    public var isHostOnly: Bool { !domain.hasPrefix(".") }

    /// Whether its lifetime is over.
    public func isExpired(at now: Timestamp) -> Bool {
        expiry.map { $0 < now } ?? false
    }

    /// Whether a native store that was given `other` may show this: the store may not say what `SameSite` is, and some
    /// have no word for `None`.
    func holds(_ other: NativeCookie) -> Bool {
        var comparable = other
        if sameSite == .default || other.sameSite == .default || (sameSite == .none && other.sameSite == .none) {
            comparable.sameSite = sameSite
        }
        return comparable == self
    }
}

/// What a native store can hold beside ordinary cookies.
public struct NativeStoreCapabilities: OptionSet, Sendable, Hashable {
    /// The capabilities as bits.
    public let rawValue: UInt32

    /// A set of capabilities from its bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Partitioned cookies (CHIPS).
    public static let partitions = NativeStoreCapabilities(rawValue: 1 << 0)
    /// Cookies without a name.
    public static let namelessCookies = NativeStoreCapabilities(rawValue: 1 << 1)

    /// `WKHTTPCookieStore`, and WebKitGTK's cookie manager: neither.
    public static let webKit: NativeStoreCapabilities = []
}
