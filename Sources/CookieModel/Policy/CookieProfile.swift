import WebPrimitives

/// Which divergences from draft-ietf-httpbis-rfc6265bis-22 apply, a flag each.
public struct CookieProfile: OptionSet, Sendable, Hashable {
    /// The flags as bits.
    public let rawValue: UInt32

    /// A set of flags from its bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A `Path` that does not begin with `/` is ignored, so that an earlier one stands
    /// (draft-ietf-httpbis-layered-cookies, "Parse a Cookie").
    public static let ignoresRelativePath = CookieProfile(rawValue: 1 << 0)
    /// An unknown `SameSite` value is ignored, so that an earlier one stands (same place).
    public static let keepsEarlierSameSite = CookieProfile(rawValue: 1 << 1)
    /// A non-ASCII octet in the path that counts rejects the cookie, as in today's browsers.
    public static let rejectsNonASCIIPath = CookieProfile(rawValue: 1 << 2)
    /// `__Http-` and `__Host-Http-` names need `HttpOnly` as well (layered cookies, "Store a Cookie").
    public static let honoursHTTPPrefixes = CookieProfile(rawValue: 1 << 3)
    /// `__Host-` needs a `Path` that says `/` itself, not one that comes to it by the default-path (same place).
    public static let hostPrefixNeedsExplicitPath = CookieProfile(rawValue: 1 << 4)
    /// A `Domain` of one dot is no host, and refuses the cookie, rather than an empty one that counts as absent (layered
    /// cookies, "Parse a Cookie"; so do browsers).
    public static let refusesLoneDotDomain = CookieProfile(rawValue: 1 << 5)

    /// The draft to the letter; the default.
    public static let rfc6265bis: CookieProfile = []
    /// What the layered-cookies draft and today's browsers do.
    public static let browser: CookieProfile = [
        .ignoresRelativePath, .keepsEarlierSameSite, .rejectsNonASCIIPath, .honoursHTTPPrefixes,
        .hostPrefixNeedsExplicitPath, .refusesLoneDotDomain,
    ]

    /// The name of the profile; `nil` for another choice of flags.
    public var name: String? {
        switch self {
        case .rfc6265bis: "rfc6265bis"
        case .browser: "browser"
        default: nil
        }
    }

    /// The profile of a name: `rfc6265bis` or `browser`.
    public init?(name: String) {
        switch name {
        case "rfc6265bis": self = .rfc6265bis
        case "browser": self = .browser
        default: return nil
        }
    }
}
