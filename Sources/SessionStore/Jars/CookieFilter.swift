public import CookieModel

/// Which cookies of a jar are meant: those that meet every condition given; all of them where none is.
public struct CookieFilter: Sendable {
    /// Cookies of this name.
    public var name: Octets?
    /// Cookies of this domain and of the names below it.
    public var domain: WebHost?
    /// Cookies of exactly this path.
    public var path: Octets?
    /// Cookies that this request carries.
    public var request: RequestContext?

    /// No condition.
    public init() {}

    /// The domain that a person names; `nil` if it is not a host name. A dot before it, as lists show one for cookies that
    /// subdomains get, makes no difference.
    package static func domain(named text: String) -> WebHost? {
        WebHost(text.hasPrefix(".") ? String(text.dropFirst()) : text)
    }

    /// Whether a cookie has the name, domain and path that are asked for.
    func admits(_ cookie: Cookie) -> Bool {
        if let name, cookie.name != name { return false }
        if let domain, !CookiePolicy.domainMatches(cookie.domain, domain.octets) { return false }
        if let path, cookie.path != path { return false }
        return true
    }
}
