public import CookieModel

/// Where a sealed value is kept, in a person's words.
public struct SealedValueLocation: Sendable, Hashable, CustomStringConvertible {
    /// What kind of value it is.
    public enum Kind: String, Sendable {
        /// A cookie of a jar.
        case cookie
        /// A cookie of a saved session.
        case savedCookie = "saved-cookie"
        /// An OAuth2 token.
        case token
        /// A header field of a jar.
        case headerField = "header-field"
        /// An item of a page's `localStorage`, of a jar or one of its saved sessions.
        case webStorage = "web-storage"
    }

    /// What kind of value it is.
    public let kind: Kind
    /// The jar's name; `nil` for a token, and for a value whose jar is not there.
    public let jar: String?
    /// The name of the saved session or of the token's profile, or what the URLs begin with that a header field is for, or the
    /// origin of an item of web storage.
    public let owner: String?
    /// The cookie's domain; empty for all else.
    public let domain: Octets
    /// The cookie's path; empty for all else.
    public let path: Octets
    /// The cookie's or field's name, an item's key, or which of the profile's tokens it is.
    public let name: Octets

    /// The value's place for a message: never the value.
    public var description: String {
        let cookie = "'\(name)' of \(domain)\(path)"
        let jarText = jar.map { "jar '\($0)'" } ?? "a jar that is not there"
        switch kind {
        case .cookie: return "cookie \(cookie) in \(jarText)"
        case .savedCookie: return "cookie \(cookie) in saved session '\(owner ?? "")' of \(jarText)"
        case .headerField: return "header field '\(name)' for \(owner ?? "all URLs") in \(jarText)"
        case .webStorage: return "localStorage item '\(name)' of \(owner ?? "") in \(jarText)"
        case .token: return "\(name) of '\(owner ?? "")'"
        }
    }
}
