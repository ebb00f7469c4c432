public import PublicSuffix
public import WebPrimitives

/// The properties of a request, or of a script's access, that cookie rules depend on.
public struct RequestContext: Sendable, Hashable {
    /// The interface of the access: the draft's "type" of a retrieval.
    public enum Interface: String, Sendable {
        /// An HTTP request or response.
        case http
        /// A "non-HTTP" API such as `document.cookie`.
        case script
    }

    /// The initiator of the request: the draft's "client".
    public enum Initiator: Sendable, Hashable {
        /// The page in the address bar.
        case topLevel
        /// A user action such as a typed address or a bookmark. No client.
        case user
        /// A document or worker of that URL's origin.
        case origin(RequestURL)
        /// A document whose origin is opaque, as in a sandboxed frame: same-site with nothing.
        case opaque
    }

    /// The URL of the request, or of the document whose script accesses cookies.
    public var url: RequestURL
    /// The request's method, upper case.
    public var method = "GET"
    /// Which side asks.
    public var interface = Interface.http
    /// The page in the address bar when the request is made; `nil` if the request itself is that page.
    public var topLevel: RequestURL?
    /// The initiator of the request.
    public var initiator = Initiator.topLevel
    /// Whether the request navigates a top-level traversable.
    public var isTopLevelNavigation: Bool
    /// The URLs that redirected here, first one first.
    public var redirects: [RequestURL] = []
    /// Whether ``topLevel`` is reliable for a partition; `false` for a recorded third-party request whose page the
    /// recording does not name. Such a request sets no partitioned cookies.
    package var isPartitionKnown = true
    /// The browser's own decision on the request's cookies, if it is known. It takes the place of ``topLevel``,
    /// ``initiator`` and ``redirects``.
    package var verdict: EngineVerdict?
    /// Whether cookies of every path of the host count, without the limits of one request: the cookies that a script
    /// can set, not those that it sees.
    package private(set) var includesAllPaths = false

    /// Creates the context of a same-site page request by a user.
    public init(url: RequestURL) {
        self.url = url
        isTopLevelNavigation = true
    }

    /// Creates the context of a request within a page.
    ///
    /// - Parameters:
    ///   - topLevel: the page in the address bar.
    ///   - initiator: the page or user that caused it.
    ///   - isTopLevelNavigation: whether it navigates the tab away from that page.
    public init(
        url: RequestURL, topLevel: RequestURL?, initiator: Initiator = .topLevel, isTopLevelNavigation: Bool = false
    ) {
        self.url = url
        self.topLevel = topLevel
        self.initiator = initiator
        self.isTopLevelNavigation = isTopLevelNavigation
    }

    /// The access of scripts of the page that this request loads (section 5.8.2 of the draft).
    ///
    /// For a top-level page, only its own site counts, not the initiator, redirects or method of its request.
    public var scriptAccess: RequestContext {
        var access = self
        access.interface = .script
        access.method = "GET"
        access.redirects = []
        if isTopLevelNavigation { (access.topLevel, access.initiator) = (nil, .topLevel) }
        return access
    }

    /// The cookies that scripts of the page that this request loads can set: those of every path of its host. Browsers
    /// check the path of a cookie only when it is read (section 5.7 of the draft).
    public var scriptWriting: RequestContext {
        var access = scriptAccess
        access.includesAllPaths = true
        return access
    }

    /// Whether the method is "safe" in the sense of RFC 9110, section 9.2.1.
    package var hasSafeMethod: Bool { RequestContext.isSafe(method) }

    /// Whether a method is "safe" in the sense of RFC 9110, section 9.2.1: it asks for no change.
    package static func isSafe(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE": true
        default: false
        }
    }
}

extension CookiePolicy {
    /// Whether a request is "same-site" (section 5.2 of the draft).
    ///
    /// Criterion 1: The request is no reload by the user. A context does not tell reloads apart; a reload has the
    /// context of the navigation that first led to the page, as the draft wants.
    ///
    /// Criterion 2: The URL's origin is same-site with the client's "site for cookies", or there is no client.
    ///
    /// For a top-level navigation, the client is the initiator; for anything else the client's "site for cookies" is
    /// the page in the address bar, as long as the initiator is of that site as well.
    func isSameSite(_ context: RequestContext) -> Bool {
        // A browser that has sent its Strict cookies has found the same.
        if let verdict = context.verdict { return verdict.classes.contains(.strict) }
        // Without a page in the address bar or another initiator, there is no client: criterion 2 is met.
        guard context.topLevel != nil || hasForeignInitiator(context) || considersRedirectChain else { return true }
        let site = SchemefulSite(context.url, publicSuffixes)
        // Departure, with the policy's flag: the draft looks at the current URL only.
        if considersRedirectChain {
            for url in context.redirects where SchemefulSite(url, publicSuffixes) != site { return false }
        }
        // Section 5.2.1, steps 1 and 2: The top-level origin is that of the page in the address bar.
        let topLevelSite = context.topLevel.map { SchemefulSite($0, publicSuffixes) } ?? site
        let initiatorSite: SchemefulSite? =
            switch context.initiator {
            // A navigation by the user has no client and meets criterion 2.
            case .user: context.isTopLevelNavigation ? site : topLevelSite
            case .topLevel: topLevelSite
            case .origin(let url): SchemefulSite(url, publicSuffixes)
            case .opaque: nil
            }
        // Section 5.2.1, steps 3 to 5: The "site for cookies" is the top-level origin if the documents between are of
        // its site, and opaque otherwise. Of these the context names the innermost one, as the initiator; a caller that
        // knows of another site further up passes an opaque one.
        return initiatorSite == site && (context.isTopLevelNavigation || topLevelSite == site)
    }

    /// Whether a request comes from a third party: neither a top-level navigation nor same-site. A cookie that it sets
    /// needs `SameSite=None` (section 5.7 of the draft, step 18).
    package func isThirdParty(_ context: RequestContext) -> Bool {
        !context.isTopLevelNavigation && !isSameSite(context)
    }

    /// The site of a URL, serialized as in a partition's key: `https://example.com`.
    package func site(of url: RequestURL) -> String {
        SchemefulSite(url, publicSuffixes).description
    }

    private func hasForeignInitiator(_ context: RequestContext) -> Bool {
        switch context.initiator {
        case .topLevel, .user: false
        case .origin, .opaque: true
        }
    }

    /// The partition that partitioned cookies of a request live in (CHIPS).
    ///
    /// A top-level navigation is the root of its own partition. Otherwise the key is the site of the page in the
    /// address bar, with the cross-site-ancestor bit if the request or its initiator is of another site.
    func partitionKey(_ context: RequestContext, isSameSite: Bool) -> PartitionKey? {
        if let verdict = context.verdict { return verdict.partition }
        return PartitionKey(
            of: SchemefulSite(context.partitionPage ?? context.url, publicSuffixes),
            hasCrossSiteAncestor: context.hasCrossSiteAncestor(isSameSite))
    }
}

extension PartitionKey {
    /// The partition of the pages of a site.
    init(of site: SchemefulSite, hasCrossSiteAncestor: Bool) {
        self.init(topLevelSite: site.description, hasCrossSiteAncestor: hasCrossSiteAncestor)
    }
}

extension RequestContext {
    /// The page whose partition the request's partitioned cookies live in; `nil` for that of the URL itself.
    var partitionPage: RequestURL? { isTopLevelNavigation ? nil : topLevel }

    /// Whether the key of that partition has the cross-site-ancestor bit.
    func hasCrossSiteAncestor(_ isSameSite: Bool) -> Bool { !isTopLevelNavigation && !isSameSite }
}

/// A site: scheme and registrable domain, or the whole host if it has none ("schemeful same-site").
///
/// `ws` counts as `http` and `wss` as `https`, as in the HTML Standard's site of a WebSocket request.
package struct SchemefulSite: Hashable, Sendable, CustomStringConvertible {
    /// Whether the scheme is `https` or `wss`.
    package let isCryptographic: Bool
    /// The registrable domain, or the host if there is none.
    package let domain: Octets

    init(isCryptographic: Bool, domain: Octets) {
        self.isCryptographic = isCryptographic
        self.domain = domain
    }

    /// The site that `url` belongs to, by `list`.
    package init(_ url: RequestURL, _ list: PublicSuffixList) {
        isCryptographic = url.scheme.isCryptographic
        domain = url.host.registrableDomain(list)
    }

    /// The site as an origin without a port: `https://example.com`.
    package var description: String {
        "\(isCryptographic ? "https" : "http")://\(String(decoding: domain, as: UTF8.self))"
    }
}

extension WebHost {
    /// Whether the host is a public suffix by `list`, as `com`, `co.uk` and every unlisted single label are.
    package func isPublicSuffix(_ list: PublicSuffixList) -> Bool {
        kind == .domain && site(list).publicSuffixLength >= octets.count
    }

    /// The registrable domain by `list`, or the whole host if it has none: an IP address or a public suffix.
    ///
    /// Cookies are stored and limited by registrable domain: two hosts can share a cookie only if they have the same
    /// one.
    public func registrableDomain(_ list: PublicSuffixList) -> Octets {
        site(list).registrableDomain
    }

    /// A host as the public suffix list divides it.
    package struct Site {
        /// The registrable domain, or the host if there is none.
        package let registrableDomain: Octets
        /// How many of the host's last octets are the public suffix: all of them if it is one itself, 0 for an IP
        /// address.
        let publicSuffixLength: Int
    }

    /// Looks the host up in `list`.
    package func site(_ list: PublicSuffixList) -> Site {
        guard kind == .domain else { return Site(registrableDomain: octets, publicSuffixLength: 0) }
        let (start, suffix) = octets.withSpan { bytes in
            let length = bytes.count
            let trailingDot = length > 0 && bytes[length - 1] == ASCII.dot ? 1 : 0
            let suffix = list.publicSuffixLength(of: bytes.extracting(0..<(length - trailingDot))) + trailingDot
            // One label more than the suffix.
            var start = max(length - suffix - 1, 0)
            while start > 0, bytes[start - 1] != ASCII.dot { start -= 1 }
            return (suffix >= length ? 0 : start, suffix)
        }
        return Site(registrableDomain: octets[start..<octets.count], publicSuffixLength: suffix)
    }
}
