import PublicSuffix
public import WebPrimitives

/// The result of a retrieval: the cookies to send, in order, and the others, with every reason.
public struct Retrieval: Sendable {
    /// A cookie that is not sent.
    public struct Exclusion: Sendable {
        /// The cookie.
        public let cookie: Cookie
        /// Why; never empty.
        public let reasons: ReasonSet<ExclusionReason>
    }

    /// The cookies to send, in the order of section 5.8.3, step 4.
    public internal(set) var included: [Cookie] = []
    /// The other cookies of the same registrable domain, in the same order.
    public internal(set) var excluded: [Exclusion] = []

    /// Creates an empty retrieval.
    package init() {}

    /// The cookie-string (section 5.8.3 of the draft, step 6); empty if no cookie is sent.
    public var cookieString: Octets {
        // Step 6: Write the cookies one after the other, in order.
        var output: [UInt8] = []
        output.reserveCapacity(included.reduce(0) { $0 + $1.name.count + $1.value.count + 3 })
        for index in included.indices {
            output.appendPair(included[index].name, included[index].value)
        }
        return Octets(output)
    }
}

/// The properties of a request that the retrieval algorithm (section 5.8.3 of the draft) uses, computed once for all
/// cookies.
package struct RetrievalRules: Sendable {
    /// The registrable domain of the request's host, or the host if there is none.
    package let site: Octets
    private let host: WebHost
    /// The request's path; `nil` if cookies of every path count.
    private let path: Octets?
    private let isCryptographic: Bool
    private let publicSuffixes: PublicSuffixList
    /// The page whose partition counts; `nil` for that of the URL itself.
    private let partitionPage: RequestURL?
    private let hasCrossSiteAncestor: Bool
    private let isSecure: Bool
    private let isScript: Bool
    private let isSameSite: Bool
    /// Whether Lax cookies go cross-site too: a top-level navigation over HTTP by a safe method.
    private let allowsLax: Bool
    /// The creation-time from which on cookies without SameSite go as well ("Lax-allowing-unsafe").
    private let allowsDefaultSince: Timestamp?
    /// Whether a browser has decided, and not the rules.
    private let followsBrowser: Bool
    /// Whether unpartitioned cookies with `SameSite=None` go. By the rules, they always do.
    private let allowsNone: Bool
    /// The partition by a browser's decision.
    private let browserPartition: PartitionKey?
    private let publicSuffixLength: Int
    package let now: Timestamp
    let limits: CookieLimits

    /// The rules for one request.
    package init(_ context: borrowing RequestContext, _ policy: borrowing CookiePolicy, now: Timestamp) {
        // Step 1: Take the canonical host of the URL.
        // Step 2: Stop if the host cannot be canonicalized. Such a URL is no `RequestURL`.
        let hostSite = context.url.host.site(policy.publicSuffixes)
        host = context.url.host
        path = context.includesAllPaths ? nil : context.url.path
        isCryptographic = context.url.scheme.isCryptographic
        publicSuffixes = policy.publicSuffixes
        isSecure = policy.isSecure(context.url)
        isScript = context.interface == .script
        isSameSite = policy.isSameSite(context)
        partitionPage = context.partitionPage
        hasCrossSiteAncestor = context.hasCrossSiteAncestor(isSameSite)
        let isNavigation = context.interface == .http && context.isTopLevelNavigation
        let verdict = context.verdict
        followsBrowser = verdict != nil
        allowsNone = verdict?.classes.contains(.none) ?? true
        browserPartition = verdict?.partition
        // Step 3, the exception at its end: The retrieval is for HTTP, its method is safe, and it navigates the tab.
        allowsLax = verdict.map { $0.classes.contains(.lax) } ?? (isNavigation && context.hasSafeMethod)
        // Section 5.6.7.2: A new cookie without SameSite needs no safe method. (The draft says "step 1 of the retrieval
        // algorithm"; the condition is in step 3.)
        allowsDefaultSince =
            if let verdict {
                verdict.allowsDefault(at: now)
            } else if isNavigation, policy.laxAllowingUnsafeAge > 0 {
                now.advanced(bySeconds: -policy.laxAllowingUnsafeAge)
            } else {
                nil
            }
        site = hostSite.registrableDomain
        publicSuffixLength = hostSite.publicSuffixLength
        self.now = now
        var limits = policy.limits
        if context.includesAllPaths { (limits.requestCookies, limits.requestOctets) = (nil, nil) }
        self.limits = limits
    }

    /// Step 3: Take the cookies that meet all requirements. Returns the requirements that a cookie fails.
    @inline(__always)
    func exclusionReasons(for cookie: PackedCookie) -> ReasonSet<ExclusionReason> {
        var reasons = ReasonSet<ExclusionReason>()
        let domain = cookie.domainOctets
        host.octets.withSpan { bytes in
            // The host is the domain of a host-only cookie, or domain-matches that of another one, which is no public
            // suffix.
            if cookie.isHostOnly {
                if bytes.count != domain.count || !bytes.hasBytes(domain, at: 0) { reasons.insert(.hostOnlyMismatch) }
            } else if !CookiePolicy.domainMatches(bytes, host.kind, domain) {
                reasons.insert(.domainMismatch)
            } else if domain.count <= publicSuffixLength {
                // The list may have changed since the cookie was stored. Departure: as in section 5.7, step 9.
                reasons.insert(.domainPublicSuffix)
            }
        }
        // The URL's path path-matches the cookie's path.
        if let path, !path.withSpan({ CookiePolicy.pathMatches($0, cookie.pathOctets) }) {
            reasons.insert(.pathMismatch)
        }
        // A Secure cookie needs a secure connection.
        if cookie.isSecure, !isSecure { reasons.insert(.secureOnly) }
        // An HttpOnly cookie does not go to a script.
        if cookie.isHTTPOnly, isScript { reasons.insert(.httpOnly) }
        // A cookie without `SameSite=None` does not go cross-site, with one exception.
        if followsBrowser || !isSameSite { checkSameSite(cookie, &reasons) }
        // CHIPS; the draft does not have it. Few cookies are partitioned, so few keys are asked for.
        if cookie.header.isPartitioned {
            let isOfPartition = partitionKey.map { cookie.partitionOctets.elementsEqual($0.serialized.utf8) } ?? false
            if !isOfPartition { reasons.insert(.partitionMismatch) }
        }
        // Section 5.7: An expired cookie is not in the store.
        if cookie.hasExpired(at: now) { reasons.insert(.expired) }
        return reasons
    }

    /// The partition of the request.
    private var partitionKey: PartitionKey? {
        if followsBrowser { return browserPartition }
        let page = partitionPage.map { SchemefulSite($0, publicSuffixes) }
        return PartitionKey(
            of: page ?? SchemefulSite(isCryptographic: isCryptographic, domain: site),
            hasCrossSiteAncestor: hasCrossSiteAncestor)
    }

    /// The last requirement of step 3: A cookie goes cross-site only with `SameSite=None`, or if it is Lax or has no
    /// SameSite, and the retrieval is a top-level navigation over HTTP by a safe method.
    private func checkSameSite(_ cookie: PackedCookie, _ reasons: inout ReasonSet<ExclusionReason>) {
        switch cookie.sameSite {
        case .none:
            // Browsers may omit these too, or partition all of them. The draft leaves it to them (section 7.1).
            if !allowsNone, !cookie.header.isPartitioned { reasons.insert(.browserOmits) }
        case .strict:
            if !isSameSite { reasons.insert(.sameSiteStrict) }
        case .lax:
            if !allowsLax { reasons.insert(.sameSiteLax) }
        case .default:
            // Section 5.6.7.2: A recent cookie goes with any method.
            let isRecent = allowsDefaultSince.map { cookie.creation >= $0 } ?? false
            if followsBrowser || !allowsLax, !isRecent { reasons.insert(.sameSiteDefault) }
        }
    }
}

extension EngineVerdict {
    /// The creation-time from which on cookies without SameSite go; `nil` if none do.
    fileprivate func allowsDefault(at now: Timestamp) -> Timestamp? {
        if classes.contains(.default) { return .distantPast }
        return classes.contains(.recentDefault) ? now.advanced(bySeconds: -EngineVerdict.recentAge) : nil
    }
}

extension CookiePolicy {
    /// Retrieves cookies that a store keeps sealed (section 5.8.3 of the draft).
    ///
    /// - Parameters:
    ///   - cookies: the cookies of the request host's registrable domain, in any order, with sealed values.
    ///   - open: returns the value of a cookie that would be sent. If it returns `nil`, the cookie is excluded as
    ///     ``ExclusionReason/unreadable``. Excluded cookies have no value.
    package func retrieval(
        from cookies: [Cookie], for context: RequestContext, now: Timestamp, opening open: (Cookie) -> Octets?
    ) -> Retrieval {
        var site = SiteCookies(cookies, .sealed)
        var accesses = AccessNotes()
        return site.retrieve(RetrievalRules(context, self, now: now), &accesses) { open($0.cookie) }
    }
}

/// A cookie's place in a header (section 5.8.3 of the draft, step 4). A total and stable order.
struct HeaderRank: Comparable {
    let pathCount: Int
    let creation: Timestamp
    let sequence: Int64

    @inline(__always)
    static func < (left: HeaderRank, right: HeaderRank) -> Bool {
        // Step 4: Longer paths come first.
        if left.pathCount != right.pathCount { return left.pathCount > right.pathCount }
        // Among paths of equal length, earlier creation-times come first.
        if left.creation != right.creation { return left.creation < right.creation }
        return left.sequence < right.sequence
    }
}
