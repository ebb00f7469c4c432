public import CookieModel

extension NativeCookie {
    /// Why a native store cannot hold a cookie.
    public enum Obstacle: String, Error, Sendable, CaseIterable {
        /// Name, value or path is not UTF-8, and the store holds text.
        case octetsNotUTF8 = "octets-not-utf8"
        /// It is partitioned, and the store would give it to every site.
        case partitionNotHeld = "partition-not-held"
        /// It has no name, and the store needs one.
        case namelessNotHeld = "nameless-not-held"

        /// One sentence for a person.
        public var explanation: String {
            switch self {
            case .octetsNotUTF8: "its octets are not UTF-8, and the web view's store holds only text"
            case .partitionNotHeld: "it is partitioned, and the web view's store would give it to every site"
            case .namelessNotHeld: "it has no name, and the web view's store needs one"
            }
        }
    }

    /// The cookie as a native store holds it, `HttpOnly` included.
    public init(_ cookie: Cookie, capabilities: NativeStoreCapabilities = .webKit) throws(Obstacle) {
        guard let id = ID(cookie.id), let value = cookie.value.utf8String else { throw .octetsNotUTF8 }
        if cookie.id.partitionKey != nil, !capabilities.contains(.partitions) { throw .partitionNotHeld }
        if cookie.name.isEmpty, !capabilities.contains(.namelessCookies) { throw .namelessNotHeld }
        self.init(
            name: id.name, value: value, domain: id.domain, path: id.path, expiry: cookie.expiry,
            isSecure: cookie.isSecure, isHTTPOnly: cookie.isHTTPOnly, sameSite: cookie.sameSite,
            partitionKey: cookie.id.partitionKey)
    }

    /// The cookie as a jar takes it in: ``CookieJar/withBatch(from:now:_:)`` and its `receive`.
    ///
    /// - Parameter known: the jar's own cookie of that identity, whose `SameSite` stands where the store does not say
    ///   any.
    public func record(over known: NativeCookie? = nil) -> CookieRecord {
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
