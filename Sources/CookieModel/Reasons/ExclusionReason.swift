package import WebPrimitives

/// Why a stored cookie is not sent with a request or not shown to a script.
public enum ExclusionReason: UInt8, DecisionReason {
    /// A cookie of exactly another host (section 5.8.3 of the draft, step 3).
    case hostOnlyMismatch
    /// A cookie of another domain (section 5.8.3 of the draft, step 3).
    case domainMismatch
    /// The cookie's domain has become a public suffix (section 5.8.3 of the draft, step 3).
    case domainPublicSuffix
    /// A cookie of another path (section 5.8.3 of the draft, step 3).
    case pathMismatch
    /// A Secure cookie and an insecure connection (section 5.8.3 of the draft, step 3).
    case secureOnly
    /// An HttpOnly cookie and a script (section 5.8.3 of the draft, step 3).
    case httpOnly
    /// A cross-site request and `SameSite=Strict` (section 5.8.3 of the draft, step 3).
    case sameSiteStrict
    /// A cross-site request and `SameSite=Lax` (section 5.8.3 of the draft, step 3).
    case sameSiteLax
    /// A cross-site request and no `SameSite` (section 5.8.3 of the draft, step 3).
    case sameSiteDefault
    /// The cookie has expired (section 5.7 of the draft).
    case expired
    /// CHIPS: the cookie belongs to another top-level site.
    case partitionMismatch
    /// The request has reached the jar's limit of cookies or octets.
    case requestLimit
    /// The stored value is damaged.
    case unreadable
    /// The cookie is stored under another site than the one of the current public suffix list.
    case suffixListChanged
    /// The browser that sends the request omits credentials, or blocks the cookies of third parties.
    case browserOmits

    /// The stable identifier, as `crumb explain` and scenarios write it.
    public var identifier: String {
        switch self {
        case .hostOnlyMismatch: "host-only-mismatch"
        case .domainMismatch: "domain-mismatch"
        case .domainPublicSuffix: "domain-public-suffix"
        case .pathMismatch: "path-mismatch"
        case .secureOnly: "secure-only"
        case .httpOnly: "http-only"
        case .sameSiteStrict: "same-site-strict"
        case .sameSiteLax: "same-site-lax"
        case .sameSiteDefault: "same-site-default"
        case .expired: "expired"
        case .partitionMismatch: "partition-mismatch"
        case .requestLimit: "request-limit"
        case .unreadable: "unreadable"
        case .suffixListChanged: "suffix-list-changed"
        case .browserOmits: "browser-omits"
        }
    }

    /// One sentence for a user.
    public var explanation: String {
        switch self {
        case .hostOnlyMismatch: "it is host-only: only the host that set it gets it"
        case .domainMismatch: "the request's host is neither the cookie's domain nor a subdomain of it"
        case .domainPublicSuffix: "its domain is a public suffix; its cookies never go to subdomains"
        case .pathMismatch: "the request's path is not at or below the cookie's path"
        case .secureOnly: "it is Secure and the connection is not"
        case .httpOnly: "it is HttpOnly, so scripts cannot see it"
        case .sameSiteStrict: "it is SameSite=Strict, and the request is cross-site"
        case .sameSiteLax: "it is SameSite=Lax: cross-site, only a top-level navigation with a safe method carries it"
        case .sameSiteDefault:
            "it has no SameSite, so it is Lax: cross-site, only a top-level navigation with a safe method carries it"
        case .expired: "it has expired"
        case .partitionMismatch: "it belongs to another partition than the request"
        case .requestLimit: "it exceeds the jar's limit of cookies or octets in one request"
        case .unreadable: "its stored value cannot be read back"
        case .suffixListChanged: "it is stored under another site than the public suffix list in force gives its domain"
        case .browserOmits: "the browser sends no such cookie: it omits credentials, or blocks third-party cookies"
        }
    }

    /// The sentence for one cookie: the same with its own domain, path or partition.
    public func explanation(for cookie: Cookie) -> String {
        switch self {
        case .hostOnlyMismatch: "it is host-only: only \(cookie.domain) gets it"
        case .domainMismatch: "the request's host is neither \(cookie.domain) nor a subdomain of it"
        case .domainPublicSuffix: "\(cookie.domain) is a public suffix; its cookies never go to subdomains"
        case .pathMismatch: "the request's path is not at or below \(cookie.path)"
        case .partitionMismatch:
            cookie.id.partitionKey.map { "it belongs to the partition \($0.serialized), and the request does not" }
                ?? explanation
        default: explanation
        }
    }

    /// The fix, for a developer, a user or a server.
    public var remedy: String { remedySentence.text }

    package var remedySentence: ErrorSentence {
        switch self {
        case .hostOnlyMismatch: "request the host that set it; the server can set Domain if subdomains need it"
        case .domainMismatch: "check the host in the URL"
        case .domainPublicSuffix: "request that domain itself, or log in at the host in the URL"
        case .pathMismatch: "check the path in the URL; the server can set Path=/"
        case .secureOnly: "use https"
        case .httpOnly: "send it with the request\(command: " (crumb header)"), or put it into the web view's own store"
        case .sameSiteStrict:
            "check \(app: "topLevel and initiator", command: "--top-level and --initiator"); the server can set SameSite=Lax"
        case .sameSiteLax:
            "check \(app: "topLevel, initiator and method", command: "--top-level, --initiator and --method"); "
                + "the server can set SameSite=None; Secure"
        case .sameSiteDefault:
            "check \(app: "topLevel, initiator and method", command: "--top-level, --initiator and --method"); "
                + "the server can set SameSite=None; Secure"
        case .expired: "log in again and import the new session"
        case .partitionMismatch: "check \(app: "topLevel", command: "--top-level"), and the scheme of both URLs"
        case .requestLimit: "raise the limit\(command: " ('crumb jars settings')"), or remove cookies"
        case .unreadable: "import the session again"
        case .suffixListChanged:
            "import the session again, or use \(command: "--public-suffix-list with ")the list that stored it"
        case .browserOmits: "load the page itself once, or allow third-party cookies in the browser"
        }
    }
}
