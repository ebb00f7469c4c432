public import CookieModel

/// The URLs that a credential or a header field is meant for: an origin, and the paths at or below one.
///
/// `https://api.example.com/v2` holds `https://api.example.com/v2` and `https://api.example.com/v2/users?q=1`, but not
/// `/v21`, not another port and not `http`.
public struct URLScope: Sendable, Hashable, CustomStringConvertible {
    /// The URL that all others begin with; its query counts for nothing.
    public let prefix: RequestURL

    /// The URLs at and below `prefix`.
    public init(_ prefix: RequestURL) {
        self.prefix = prefix
    }

    /// The URLs at and below a URL as text.
    public init(_ text: String) throws(RequestURLError) {
        prefix = try RequestURL(text)
    }

    /// Whether the host has an asterisk in it, as no host has that a scope is meant for.
    package var hasWildcard: Bool { prefix.host.octets.contains(UInt8(ascii: "*")) }

    /// Whether `url` is one of them.
    public func contains(_ url: RequestURL) -> Bool {
        guard url.isSameOrigin(as: prefix), url.path.starts(with: prefix.path) else { return false }
        let end = prefix.path.count
        return url.path.count == end || prefix.path.last == UInt8(ascii: "/") || url.path[end] == UInt8(ascii: "/")
    }

    /// The URL that all others begin with.
    public var description: String {
        prefix.origin + String(decoding: prefix.path, as: UTF8.self)
    }
}
