public import PublicSuffix
package import WebPrimitives

/// The rules of draft-ietf-httpbis-rfc6265bis-22, with their variable parts as parameters. Pure: no rule reads a clock,
/// a file or the network.
public struct CookiePolicy: Sendable, Equatable {
    /// The draft that every section and step number in this module refers to:
    /// <https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis-22>.
    package static let standard = "draft-ietf-httpbis-rfc6265bis-22"

    /// Which connections count as "secure".
    public enum SecureConnections: Sendable {
        /// `https` and `wss`.
        case cryptographic
        /// `https` and `wss`, and any scheme to this machine itself, by its loopback names and addresses, as in Chromium
        /// and Firefox; WebKit does not.
        case cryptographicOrLoopback
    }

    /// The divergences from the draft that apply.
    public var profile = CookieProfile.rfc6265bis
    /// The public suffix list.
    public var publicSuffixes = PublicSuffixList.bundled
    /// Which connections count as "secure" (section 5.8.3 of the draft leaves it to the user agent).
    public var secureConnections = SecureConnections.cryptographicOrLoopback
    /// The limits of stored and sent cookies.
    public var limits = CookieLimits()
    /// The longest lifetime in seconds (section 5.5 of the draft): 400 days.
    public var lifetimeLimit: Int64 = 34_560_000
    /// The age in seconds up to which a cookie without `SameSite` goes with cross-site top-level requests by unsafe
    /// methods too ("Lax-allowing-unsafe", section 5.6.7.2); 0 for never. Browsers with this rule use 120.
    public var laxAllowingUnsafeAge: Int64 = 0
    /// How many octets what identifies a cookie may have (``Cookie/ID/octetCount``); `nil` for no limit. The draft has
    /// none; a database whose index has one may need it.
    package var identityLimit: Int?
    /// Whether the cookies by which a gateway knows a browser are stored: only by what stands for that browser.
    package var keepsWitnesses = false
    /// Whether a request is cross-site as soon as one URL that redirected to it was. The draft looks at the current
    /// URL only; Firefox looks at the chain.
    public var considersRedirectChain = false

    /// Creates a policy with the rules of the draft. The profile `browser` also has the limits of browsers.
    public init(profile: CookieProfile = .rfc6265bis) {
        self.profile = profile
        if profile == .browser { limits = .browser }
    }

    /// Whether `url` denotes a "secure" connection.
    package func isSecure(_ url: RequestURL) -> Bool {
        url.scheme.isCryptographic || (secureConnections == .cryptographicOrLoopback && url.host.isLoopback)
    }

    /// Domain matching (section 5.1.3 of the draft): whether `host` is `domain` or a name below it.
    package static func domainMatches(_ host: WebHost, _ domain: Octets) -> Bool {
        host.octets.withSpan { domainMatches($0, host.kind, domain) }
    }

    @inline(__always)
    static func domainMatches(
        _ host: Span<UInt8>, _ kind: WebHost.Kind, _ domain: some ContiguousOctets
    ) -> Bool {
        // Second condition, first part: The domain is a suffix of the host.
        let start = host.count - domain.count
        guard start >= 0, host.hasBytes(domain, at: start) else { return false }
        // First condition: They are identical.
        // Second condition, the rest: A dot precedes the suffix, and the host is a name, no IP address.
        return start == 0 || (!domain.isEmpty && kind == .domain && host[start - 1] == ASCII.dot)
    }

    /// The default-path of a request path (section 5.1.4 of the draft, first algorithm).
    package static func defaultPath(_ path: Octets) -> Octets {
        // Step 1: Take the path of the request's URL.
        // Step 2: If it is empty or does not begin with a slash, the default-path is `/`.
        // Step 3: If it has no other slash, the default-path is `/`.
        guard let first = path.first, first == ASCII.slash, let last = path.lastIndex(of: ASCII.slash), last > 0
        else { return "/" }
        // Step 4: The default-path ends before the last slash.
        return path[0..<last]
    }

    /// Path matching (section 5.1.4 of the draft, second algorithm).
    package static func pathMatches(_ requestPath: Octets, _ cookiePath: Octets) -> Bool {
        requestPath.withSpan { pathMatches($0, cookiePath) }
    }

    @inline(__always)
    static func pathMatches(_ requestPath: Span<UInt8>, _ cookiePath: some ContiguousOctets) -> Bool {
        // Every condition: The cookie's path is a prefix of the request's.
        let length = cookiePath.count
        guard requestPath.count >= length, requestPath.hasBytes(cookiePath, at: 0) else { return false }
        // And they are identical, or the cookie's path ends with a slash, or a slash follows it in the request's.
        return requestPath.count == length || cookiePath.last == ASCII.slash || requestPath[length] == ASCII.slash
    }

    /// The cookie paths that a request path matches: those with at most 100 slashes, and its own.
    package static func cookiePaths(for requestPath: Octets) -> [Octets] {
        var paths = [requestPath]
        for index in requestPath.indices.filter({ requestPath[$0] == ASCII.slash }).prefix(100) {
            if index > 0, requestPath[index - 1] != ASCII.slash { paths.append(requestPath[..<index]) }
            if index + 1 < requestPath.count { paths.append(requestPath[...index]) }
        }
        return paths
    }
}

/// The divergences from the draft (`CookiePolicy.standard`) that apply, one flag each.
public struct CookieProfile: OptionSet, Sendable, Hashable {
    /// The flags as bits.
    public let rawValue: UInt32

    /// Creates a set of flags from its bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A `Path` that does not begin with `/` is ignored, so an earlier one applies
    /// (draft-ietf-httpbis-layered-cookies, "Parse a Cookie").
    public static let ignoresRelativePath = CookieProfile(rawValue: 1 << 0)
    /// An unknown `SameSite` value is ignored, so an earlier one applies (same place).
    public static let keepsEarlierSameSite = CookieProfile(rawValue: 1 << 1)
    /// A non-ASCII octet in the path that counts rejects the cookie, as in today's browsers.
    public static let rejectsNonASCIIPath = CookieProfile(rawValue: 1 << 2)
    /// `__Http-` and `__Host-Http-` names need `HttpOnly` as well (layered cookies, "Store a Cookie").
    public static let honoursHTTPPrefixes = CookieProfile(rawValue: 1 << 3)
    /// `__Host-` needs an explicit `Path=/`, not one that the default-path provides (same place).
    public static let hostPrefixNeedsExplicitPath = CookieProfile(rawValue: 1 << 4)
    /// A `Domain` of one dot rejects the cookie, since it is not a host. The draft treats it as empty and absent
    /// (layered cookies, "Parse a Cookie"; so do browsers).
    public static let refusesLoneDotDomain = CookieProfile(rawValue: 1 << 5)

    /// The draft to the letter; the default.
    public static let rfc6265bis: CookieProfile = []
    /// The behavior of the layered-cookies draft and of current browsers.
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

    /// Creates the profile with a name: `rfc6265bis` or `browser`.
    public init?(name: String) {
        switch name {
        case "rfc6265bis": self = .rfc6265bis
        case "browser": self = .browser
        default: return nil
        }
    }
}

/// The limits of cookies in a store and in a request. Cookies over a limit are reported, never dropped silently. `nil`
/// means "no limit".
public struct CookieLimits: Sendable, Hashable {
    /// The most unpartitioned cookies of one registrable domain; at least 50 by section 6.1 of the draft.
    public var domainCookies: Int? = 180
    /// The most cookies in total; at least 3000 by the same section.
    public var totalCookies: Int?
    /// The most cookies of one registrable domain within one partition (CHIPS).
    public var partitionCookies: Int? = 180
    /// The most octets of names and values of one registrable domain within one partition (CHIPS).
    public var partitionOctets: Int? = 10_240
    /// The most cookies in one Cookie field.
    public var requestCookies: Int?
    /// The most octets of one Cookie field's value.
    public var requestOctets: Int?

    /// Creates the default limits: 180 cookies per registrable domain, as in Chromium and Firefox, and no total, so an
    /// imported capture stays complete.
    public init() {}

    /// Chromium's limits: 180 cookies per registrable domain and 3,300 in total.
    public static let browser: CookieLimits = {
        var limits = CookieLimits()
        limits.totalCookies = 3300
        return limits
    }()

    /// No limits. Time and memory then depend on what servers send.
    public static let unlimited: CookieLimits = {
        var limits = CookieLimits()
        limits.domainCookies = nil
        limits.partitionCookies = nil
        limits.partitionOctets = nil
        return limits
    }()
}

/// The fields of a cookie, in whatever form it is kept: a sealed value is bound to them.
package protocol CookieFields {
    associatedtype Bytes: ContiguousOctets

    var domainOctets: Bytes { get }
    var pathOctets: Bytes { get }
    var nameOctets: Bytes { get }
    /// The partition as ``PartitionKey/serialized`` writes it; empty if there is none.
    var partitionOctets: Bytes { get }
    var isHostOnly: Bool { get }
    var attributes: CookieAttributes { get }
    var sameSite: SameSite { get }
    var expiry: Timestamp? { get }
    var creation: Timestamp { get }
}

extension CookieFields {
    @inlinable @inline(__always) package var isSecure: Bool { attributes[.secure] }
    @inlinable @inline(__always) package var isHTTPOnly: Bool { attributes[.httpOnly] }

    /// Whether the expiry-time is in the past (section 5.7 of the draft).
    @inline(__always)
    func hasExpired(at now: Timestamp) -> Bool { isPast(expiry, at: now) }
}

extension CookieRecord {
    /// Whether the expiry-time is in the past (section 5.7 of the draft).
    package func hasExpired(at now: Timestamp) -> Bool { isPast(expiry, at: now) }
}

/// Whether an expiry-time is in the past (section 5.7 of the draft): not yet at that very moment.
@inline(__always)
private func isPast(_ expiry: Timestamp?, at now: Timestamp) -> Bool {
    guard let expiry else { return false }
    return expiry < now
}

extension Cookie: CookieFields {
    package var domainOctets: Octets { id.domain.octets }
    package var pathOctets: Octets { id.path }
    package var nameOctets: Octets { id.name }
    package var partitionOctets: Octets { Octets(id.partitionKey?.serialized ?? "") }
}
