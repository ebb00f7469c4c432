/// Why a stored cookie is not sent with a request or not shown to a script.
public enum ExclusionReason: UInt8, DecisionReason {
    /// A cookie of exactly another host (section 5.8.3, step 3).
    case hostOnlyMismatch
    /// A cookie of another domain (section 5.8.3, step 3).
    case domainMismatch
    /// The cookie's domain has become a public suffix (section 5.8.3, step 3).
    case domainPublicSuffix
    /// A cookie of another path (section 5.8.3, step 3).
    case pathMismatch
    /// A Secure cookie and an insecure connection (section 5.8.3, step 3).
    case secureOnly
    /// An HttpOnly cookie and a script (section 5.8.3, step 3).
    case httpOnly
    /// A cross-site request and `SameSite=Strict` (section 5.8.3, step 3).
    case sameSiteStrict
    /// A cross-site request and `SameSite=Lax` (section 5.8.3, step 3).
    case sameSiteLax
    /// A cross-site request and no `SameSite` (section 5.8.3, step 3).
    case sameSiteDefault
    /// The cookie's lifetime is over (section 5.7).
    case expired
    /// CHIPS: the cookie belongs to another top-level site.
    case partitionMismatch
    /// The request has as many cookies, or octets of them, as the jar puts into one.
    case requestLimit
    /// The stored value cannot be read back; storage found it damaged.
    case unreadable
    /// The cookie is kept with another site than the list in force gives; storage found no way to it.
    case suffixListChanged

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
        }
    }

    /// One sentence for a person.
    public var explanation: String {
        switch self {
        case .hostOnlyMismatch: "it was set without Domain, so only the exact host that set it gets it"
        case .domainMismatch: "the host is neither the cookie's domain nor below it"
        case .domainPublicSuffix: "its domain is now a public suffix"
        case .pathMismatch: "the request's path is not at or below the cookie's path"
        case .secureOnly: "it is Secure and the connection is not"
        case .httpOnly: "it is HttpOnly, which no script can see"
        case .sameSiteStrict: "SameSite=Strict keeps it from requests that another site causes"
        case .sameSiteLax: "SameSite=Lax lets another site send it only by top-level navigation with a safe method"
        case .sameSiteDefault:
            "it has no SameSite, which counts as Lax: another site sends it only by top-level navigation with a safe method"
        case .expired: "its lifetime is over"
        case .partitionMismatch: "it is partitioned and belongs to another top-level site"
        case .requestLimit: "the request has as many cookies as the jar puts into one"
        case .unreadable: "its stored value cannot be read back"
        case .suffixListChanged:
            "another public suffix list was in force when it was stored, and put it with another site"
        }
    }

    /// What a server or a user does about it, for a person.
    public var remedy: String {
        switch self {
        case .hostOnlyMismatch: "user: use the host that set it; server: add Domain where subdomains need it"
        case .domainMismatch: "user: check the host in the URL"
        case .domainPublicSuffix: "user: log in again; server: name the registrable domain, or leave Domain out"
        case .pathMismatch: "user: check the path in the URL; server: Path=/"
        case .secureOnly: "user: use https"
        case .httpOnly:
            "user: send it with the request (crumb header), or put it into the web view's own store"
        case .sameSiteStrict: "server: SameSite=Lax; user: check --top-level and --initiator"
        case .sameSiteLax: "server: SameSite=None; Secure; user: check --top-level, --initiator and --method"
        case .sameSiteDefault: "server: SameSite=None; Secure; user: check --top-level, --initiator and --method"
        case .expired: "user: log in again, and import that"
        case .partitionMismatch: "user: check --top-level, and whether https is meant"
        case .requestLimit: "user: raise the limit, or remove cookies"
        case .unreadable: "user: import the session again"
        case .suffixListChanged:
            "user: import the session again, or give the list of that time with --public-suffix-list"
        }
    }
}
