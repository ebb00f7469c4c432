public import PublicSuffix
public import WebPrimitives

/// The rules of draft-ietf-httpbis-rfc6265bis-22, with what may vary as parameters. Pure: no rule reads a clock, a
/// file or the network.
public struct CookiePolicy: Sendable {
    /// The draft that every section number in this module refers to.
    public static let standard = "draft-ietf-httpbis-rfc6265bis-22"

    /// Which connections count as "secure".
    public enum SecureConnections: Sendable {
        /// `https` and `wss`.
        case cryptographic
        /// `https` and `wss`, and any scheme to this machine itself (``WebHost/isLoopback``), as in Chromium and
        /// Firefox; WebKit does not.
        case cryptographicOrLoopback
    }

    /// The divergences from the draft that apply.
    public var profile = CookieProfile.rfc6265bis
    /// The public suffix list.
    public var publicSuffixes = PublicSuffixList.bundled
    /// Which connections count as "secure" (section 5.8.3 leaves it to the user agent).
    public var secureConnections = SecureConnections.cryptographicOrLoopback
    /// How many cookies are kept and sent.
    public var limits = CookieLimits()
    /// The longest lifetime in seconds (section 5.5): 400 days.
    public var lifetimeLimit: Int64 = 34_560_000
    /// The age in seconds up to which a cookie without `SameSite` goes with cross-site top-level requests by unsafe
    /// methods too ("Lax-allowing-unsafe", section 5.6.7.2); 0 for never. Browsers that do it use 120.
    public var laxAllowingUnsafeAge: Int64 = 0
    /// Whether a request is cross-site as soon as one URL that redirected to it was. The draft looks at the current
    /// URL only; Firefox looks at the chain.
    public var considersRedirectChain = false

    /// The draft's rules; with the profile `browser`, also the limits that browsers have.
    public init(profile: CookieProfile = .rfc6265bis) {
        self.profile = profile
        if profile == .browser { limits = .browser }
    }

    /// Whether `url` denotes a "secure" connection.
    public func isSecure(_ url: RequestURL) -> Bool {
        url.scheme.isCryptographic || (secureConnections == .cryptographicOrLoopback && url.host.isLoopback)
    }

    /// Domain matching (section 5.1.3): whether `host` is `domain` or a name below it.
    public static func domainMatches(_ host: WebHost, _ domain: Octets) -> Bool {
        host.octets.withSpan { domainMatches($0, host.kind, domain) }
    }

    @inline(__always)
    static func domainMatches(
        _ host: Span<UInt8>, _ kind: WebHost.Kind, _ domain: some ContiguousOctets
    ) -> Bool {
        let start = host.count - domain.count
        guard start >= 0, host.hasBytes(domain, at: start) else { return false }
        return start == 0 || (!domain.isEmpty && kind == .domain && host[start - 1] == ASCII.dot)
    }

    /// The default-path of a request path (section 5.1.4, first algorithm).
    public static func defaultPath(_ path: Octets) -> Octets {
        guard let first = path.first, first == ASCII.slash, let last = path.lastIndex(of: ASCII.slash), last > 0
        else { return "/" }
        return path[0..<last]
    }

    /// Path matching (section 5.1.4, second algorithm).
    package static func pathMatches(_ requestPath: Octets, _ cookiePath: Octets) -> Bool {
        requestPath.withSpan { pathMatches($0, cookiePath) }
    }

    @inline(__always)
    static func pathMatches(_ requestPath: Span<UInt8>, _ cookiePath: some ContiguousOctets) -> Bool {
        let length = cookiePath.count
        guard requestPath.count >= length, requestPath.hasBytes(cookiePath, at: 0) else { return false }
        return requestPath.count == length || cookiePath.last == ASCII.slash || requestPath[length] == ASCII.slash
    }
}
