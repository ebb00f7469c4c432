public import CookieModel

/// A cookie as a web view's own store holds it: text, with a dot in front of the domain if it is not host-only.
public struct NativeCookie: Sendable, Hashable {
    /// The identity of a cookie in a native store.
    public struct ID: Sendable, Hashable {
        /// The name.
        package let name: String
        /// The domain, with a leading dot unless the cookie is host-only.
        package let domain: String
        /// The path.
        package let path: String
        /// The partition, serialized as by ``PartitionKey``; empty for none.
        package let partition: String

        /// The ID that a cookie has in a native store; `nil` if its octets are no text.
        package init?(_ id: Cookie.ID) {
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
    /// The domain, with a leading dot unless the cookie is host-only.
    public var domain: String
    /// The path.
    public var path: String
    /// When it ends, in whole seconds, as stores keep it; `nil` for a cookie that ends with the session.
    public var expiry: Timestamp?
    /// Whether only secure connections get it.
    public var isSecure: Bool
    /// Whether scripts may not see it.
    public var isHTTPOnly: Bool
    /// The same-site-flag; `default` if there is none or the store does not report it.
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

    /// The identity of the cookie.
    public var id: ID { ID(name: name, domain: domain, path: path, partition: partitionKey?.serialized ?? "") }

    /// Whether only the exact host gets it.
    package var isHostOnly: Bool { !domain.hasPrefix(".") }

    /// Whether its lifetime is over.
    package func isExpired(at now: Timestamp) -> Bool {
        expiry.map { $0 < now } ?? false
    }

    /// Whether a native store that was given `other` may show this cookie. The store may not report `SameSite`, and
    /// some cannot represent `None`. libsoup recomputes the expiry from the remaining seconds when it reads its file,
    /// and is late by one second if the clock ticks meanwhile.
    func holds(_ other: NativeCookie) -> Bool {
        var comparable = other
        if let expiry, let given = other.expiry, abs(expiry.seconds - given.seconds) <= 1 { comparable.expiry = expiry }
        if sameSite == .default || other.sameSite == .default || (sameSite == .none && other.sameSite == .none) {
            comparable.sameSite = sameSite
        }
        return comparable == self
    }
}

/// The capabilities of a native store beyond ordinary cookies.
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

extension NativeCookie {
    /// Why a native store cannot hold a cookie.
    package enum Obstacle: String, DescribedError, Sendable, CaseIterable {
        /// Name, value or path is not UTF-8, and the store holds text.
        case octetsNotUTF8 = "octets-not-utf8"
        /// It is partitioned, and the store would give it to every site.
        case partitionNotHeld = "partition-not-held"
        /// It has no name, and the store needs one.
        case namelessNotHeld = "nameless-not-held"

        /// The ``explanation``.
        package var description: String { explanation }

        /// One sentence for a user.
        package var explanation: String {
            switch self {
            case .octetsNotUTF8: "its octets are not UTF-8, and the web view's store holds only text"
            case .partitionNotHeld: "it is partitioned, and the web view's store would give it to every site"
            case .namelessNotHeld: "it has no name, and the web view's store needs one"
            }
        }
    }

    /// The cookie as a native store holds it, `HttpOnly` included.
    package init(_ cookie: Cookie, capabilities: NativeStoreCapabilities = .webKit) throws(Obstacle) {
        guard let id = ID(cookie.id), let value = cookie.value.utf8String else { throw .octetsNotUTF8 }
        if cookie.id.partitionKey != nil, !capabilities.contains(.partitions) { throw .partitionNotHeld }
        if cookie.name.isEmpty, !capabilities.contains(.namelessCookies) { throw .namelessNotHeld }
        self.init(
            name: id.name, value: value, domain: id.domain, path: id.path, expiry: cookie.expiry,
            isSecure: cookie.isSecure, isHTTPOnly: cookie.isHTTPOnly, sameSite: cookie.sameSite,
            partitionKey: cookie.id.partitionKey)
    }

    /// The cookie in the form that a jar receives: ``CookieJar/withBatch(now:_:)`` and its `receive`.
    ///
    /// - Parameter known: the jar's own cookie of that identity, whose `SameSite` applies if the store does not report
    ///   one.
    package func record(over known: NativeCookie? = nil) -> CookieRecord {
        var record = CookieRecord(
            name: Octets(name), value: Octets(value), domain: isHostOnly ? domain : String(domain.dropFirst()),
            isHostOnly: isHostOnly, path: Octets(path), isSecure: isSecure, isHTTPOnly: isHTTPOnly,
            sameSite: sameSite == .default ? known?.sameSite ?? .default : sameSite, expiry: expiry)
        record.partitionKey = partitionKey
        return record
    }

    /// The record that ends the cookie in a jar.
    func deletion() -> CookieRecord {
        var record = record()
        record.expiry = .distantPast
        return record
    }
}

extension NativeCookie: ValueHiding {
    /// The name, domain and path, without the value: `sid (.shop.example/account, value hidden)`.
    public var description: String { "\(name) (\(domain)\(path), value hidden)" }
}
