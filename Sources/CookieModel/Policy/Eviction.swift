/// A cookie that went out of a store because there were too many ("remove excess cookies", section 5.7).
public struct Eviction: Sendable, Hashable {
    /// The cookie.
    public let cookie: Cookie
    /// The limit that was passed.
    public let reason: EvictionReason

    /// An eviction from its parts.
    public init(cookie: Cookie, reason: EvictionReason) {
        self.cookie = cookie
        self.reason = reason
    }
}
