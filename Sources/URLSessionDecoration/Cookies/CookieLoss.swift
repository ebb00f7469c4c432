/// What of a cookie Foundation's `HTTPCookie` cannot hold on this platform, or does not tell.
///
/// Creation and last access are never held: cookies that come back count as new, and may change their order in a header.
public enum CookieLoss: String, Sendable, CaseIterable {
    /// The name, the value or the path: they are octets, and Foundation takes text.
    case octets
    /// The host or domain, or whether it is one host's only.
    case domain
    /// Whether only secure connections get the cookie.
    case secure
    /// Whether scripts may not see the cookie.
    case httpOnly = "http-only"
    /// The same-site-flag.
    case sameSite = "same-site"
    /// When the cookie ends, or that it ends with the session.
    case expiry
    /// The partition that the cookie belongs to.
    case partition

    /// Whether the cookie would go where it must not, or be another one, so that it is not converted at all.
    public var isPrevention: Bool {
        switch self {
        case .octets, .domain, .secure, .partition: true
        case .httpOnly, .sameSite, .expiry: false
        }
    }

    /// One sentence for a person.
    public var explanation: String {
        switch self {
        case .octets: "Foundation does not accept the octets of its name, value or path"
        case .domain: "it would lose its domain or its host-only flag"
        case .secure: "it would lose Secure"
        case .httpOnly: "it loses HttpOnly"
        case .sameSite: "it loses SameSite"
        case .expiry: "it loses its expiry"
        case .partition: "it is partitioned, and would be sent on other sites' pages"
        }
    }
}
