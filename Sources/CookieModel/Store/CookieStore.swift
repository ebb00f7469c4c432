/// A cookie store in memory: the draft's algorithms over cookies kept by registrable domain.
///
/// A value type without a clock or a lock, for simulations, tests and conversions; `CookieJar` keeps one on disk.
public struct CookieStore: Sendable {
    /// The rules that apply.
    public let policy: CookiePolicy
    private var sites: [Octets: PackedCookies] = [:]
    private var nextSequence: Int64 = 1

    /// An empty store.
    public init(policy: CookiePolicy = CookiePolicy()) {
        self.policy = policy
    }

    /// The number of cookies, expired ones that were not yet evicted included.
    public var count: Int {
        sites.values.reduce(0) { $0 + $1.count }
    }

    /// All cookies, grouped by registrable domain.
    public var cookies: [Cookie] {
        sites.keys.sorted().flatMap { sites[$0]?.cookies ?? [] }
    }

    /// Receives one Set-Cookie field value (sections 5.6 and 5.7).
    @discardableResult
    public mutating func receive(
        _ fieldValue: Octets, in context: RequestContext, now: Timestamp
    ) -> StorageDecision {
        switch SetCookie.parse(fieldValue, profile: policy.profile) {
        case .ignored(let reasons):
            return .ignored(reasons)
        case .cookie(let setCookie):
            let site = context.url.host.site(policy.publicSuffixes)
            let index = siteIndex(site.registrableDomain, now: now)
            var decision = policy.decision(
                for: setCookie, in: context, site: site,
                existing: index.map { sites.values[$0] } ?? PackedCookies(),
                overlaysElsewhere: overlaysElsewhere(setCookie, in: context, site: site.registrableDomain, now: now),
                now: now)
            apply(&decision, site: site.registrableDomain, at: index)
            return decision
        }
    }

    /// Receives every Set-Cookie line of a response, in order (section 5.3).
    @discardableResult
    public mutating func receive(_ response: ReceivedResponse, now: Timestamp) -> [StorageDecision] {
        guard response.setsCookies else {
            return response.setCookie.map { _ in .ignored([.informationalResponse]) }
        }
        return response.setCookie.map { receive($0, in: response.context, now: now) }
    }

    /// Takes in a cookie out of another store.
    @discardableResult
    public mutating func receive(_ record: CookieRecord, now: Timestamp) -> StorageDecision {
        let site = WebHost(record.domain)?.registrableDomain(policy.publicSuffixes) ?? Octets(record.domain)
        let index = siteIndex(site, now: now)
        var decision = policy.decision(
            for: record, existing: index.map { sites.values[$0] } ?? PackedCookies(), now: now)
        apply(&decision, site: site, at: index)
        return decision
    }

    /// Retrieves the cookies for a request (section 5.8.3), notes the access, and says of the cookies that stay why.
    ///
    /// Expired cookies are among those that stay, and are evicted.
    public mutating func retrieve(for context: RequestContext, now: Timestamp) -> Retrieval {
        let rules = RetrievalRules(context, policy, now: now)
        let retrieval = Retrieval(sites[rules.site]?.cookies ?? [], rules)
        if let index = siteIndex(rules.site, now: now) {
            sites.values[index].touch(at: now, where: { rules.exclusionReasons(for: $0).isEmpty }, { _ in })
        }
        return retrieval
    }

    /// Retrieves the cookie-string for a request (section 5.8.3) and notes the access: what ``retrieve(for:now:)``
    /// gives, for those who do not ask why.
    ///
    /// Linear in the number of cookies of the request's registrable domain.
    public mutating func cookieString(for context: RequestContext, now: Timestamp) -> Octets {
        let rules = RetrievalRules(context, policy, now: now)
        guard let index = sites.index(forKey: rules.site) else { return [] }
        var output: [UInt8] = []
        output.reserveCapacity(1024)
        sites.values[index].touch(at: now, where: { rules.exclusionReasons(for: $0).isEmpty }) { cookie in
            if !output.isEmpty {
                output.append(ASCII.semicolon)
                output.append(ASCII.space)
            }
            output.append(contentsOf: cookie.pair)
        }
        return Octets(output)
    }

    /// Removes the cookies that end with the session (section 5.7, last paragraph).
    public mutating func endSession() {
        remove { !$0.header.isPersistent }
    }

    private mutating func remove(where isGone: (borrowing PackedCookie) -> Bool) {
        for site in sites.keys {
            sites[site]?.remove(where: isGone)
            if sites[site]?.count == 0 { sites[site] = nil }
        }
    }

    /// Where the cookies of a site are, if there are any; expired ones are evicted first.
    private mutating func siteIndex(_ site: Octets, now: Timestamp) -> Dictionary<Octets, PackedCookies>.Index? {
        guard let index = sites.index(forKey: site) else { return nil }
        if sites.values[index].mayHaveExpired(at: now) { sites.values[index].remove { $0.hasExpired(at: now) } }
        return index
    }

    private mutating func apply(
        _ decision: inout StorageDecision, site: Octets, at index: Dictionary<Octets, PackedCookies>.Index?
    ) {
        switch decision.outcome {
        case .rejected:
            return
        case .deleted:
            if let index, let previous = decision.previous { sites.values[index].remove { $0.hasID(previous.id) } }
        case .stored:
            decision.cookie?.sequence = nextSequence
            nextSequence += 1
            insert(decision, site: site, at: index)
        case .replaced:
            insert(decision, site: site, at: index)
        }
    }

    private mutating func insert(
        _ decision: borrowing StorageDecision, site: Octets, at index: Dictionary<Octets, PackedCookies>.Index?
    ) {
        guard let cookie = decision.cookie else { return }
        let isReplacement = decision.previous != nil
        if let index {
            sites.values[index].insert(cookie, isReplacement: isReplacement)
        } else {
            var cookies = PackedCookies()
            cookies.insert(cookie, isReplacement: false)
            // A key of its own: the one at hand keeps the whole URL in memory.
            sites[Octets(Array(site))] = cookies
        }
    }

    /// Section 5.7, step 16, beyond the registrable domain: a cookie of a public suffix itself matches the domains
    /// below it, and the other way round, although no request carries both.
    private func overlaysElsewhere(
        _ setCookie: SetCookie, in context: RequestContext, site: Octets, now: Timestamp
    ) -> Bool {
        guard let cookie = policy.overlayCandidate(for: setCookie, in: context, now: now) else { return false }
        let above = CookiePolicy.sitesAbove(site)
        let below =
            policy.mayHaveSitesBelow(site) ? sites.keys.filter { CookiePolicy.sitesAbove($0).contains(site) } : []
        return (above + below).contains { key in
            sites[key]?.cookies.contains { !$0.isExpired(at: now) && CookiePolicy.overlays(cookie, $0) } ?? false
        }
    }
}
