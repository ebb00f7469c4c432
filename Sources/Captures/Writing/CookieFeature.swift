package import CookieModel

/// A property of a cookie that a format may have no place for.
public enum CookieFeature: String, Sendable, CaseIterable, Hashable {
    /// The host or domain that it belongs to.
    case domain
    /// That only the exact host gets it.
    case hostOnly = "host-only"
    /// The path.
    case path
    /// That only secure connections get it.
    case secure
    /// That scripts may not see it.
    case httpOnly = "http-only"
    /// Its `SameSite` attribute.
    case sameSite = "same-site"
    /// When it ends.
    case expiry
    /// When it ends to the microsecond: some formats know whole seconds, or no year beyond 9999.
    case exactExpiry = "exact-expiry"
    /// The partition that it belongs to.
    case partition
    /// When it was first set.
    case creation
    /// When it was last used.
    case lastAccess = "last-access"

    /// The property for a person.
    public var title: String {
        switch self {
        case .domain: "domain"
        case .hostOnly: "host-only"
        case .path: "path"
        case .secure: "Secure"
        case .httpOnly: "HttpOnly"
        case .sameSite: "SameSite"
        case .expiry: "end of the lifetime"
        case .exactExpiry: "exact end of the lifetime"
        case .partition: "partition"
        case .creation: "time of creation"
        case .lastAccess: "time of last use"
        }
    }

    /// What it means that the property is lost: one sentence for a person.
    public var consequence: String {
        switch self {
        case .domain: "who reads it has to know which site it belongs to"
        case .hostOnly: "who reads it may send the cookie to hosts below its own as well"
        case .path: "who reads it may send the cookie to every path"
        case .secure: "who reads it may send the cookie over an insecure connection"
        case .httpOnly: "who reads it may show the cookie to scripts"
        case .sameSite: "who reads it decides which cross-site requests carry the cookie"
        case .expiry: "who reads it keeps the cookie for as long as it likes"
        case .exactExpiry: "the cookie ends up to a second earlier, and at the end of the year 9999 at the latest"
        case .partition: "who reads it has the cookie outside of its partition too"
        case .creation, .lastAccess: "who reads it takes the cookie for a new one, which matters for order and limits"
        }
    }
}

extension CookieFeature {
    /// The properties by which a record says that its store has no place for this one.
    var properties: CookieProperties {
        switch self {
        case .hostOnly: .hostOnly
        case .secure: .secure
        case .httpOnly: .httpOnly
        case .sameSite: [.sameSite, .noSameSite]
        case .exactExpiry: .exactExpiry
        case .partition: .partition
        // Without these a record would be no cookie, or they never come from it: a cookie keeps its creation.
        case .domain, .path, .expiry, .creation, .lastAccess: []
        }
    }

    /// The features that a decision on a cookie kept.
    package static func kept(_ kept: CookieProperties) -> [CookieFeature] {
        allCases.filter { !$0.properties.isDisjoint(with: kept) }
    }
}
