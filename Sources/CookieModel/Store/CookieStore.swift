/// A cookie store in memory: the draft's algorithms over cookies kept by registrable domain.
///
/// A value type without a clock or a lock, for simulations, tests and conversions; `CookieJar` keeps one on disk.
public struct CookieStore: Sendable {
    /// The rules that apply.
    public let policy: CookiePolicy
    private var sites: [Octets: [Cookie]] = [:]
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
        sites.keys.sorted().flatMap { sites[$0] ?? [] }
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
            let site = context.url.host.registrableDomain(policy.publicSuffixes)
            evictExpired(site, now: now)
            let decision = policy.decision(
                for: setCookie, in: context, existing: sites[site] ?? [],
                overlaysElsewhere: overlaysElsewhere(setCookie, in: context, site: site, now: now), now: now)
            return apply(decision, site: site)
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
        evictExpired(site, now: now)
        return apply(policy.decision(for: record, existing: sites[site] ?? [], now: now), site: site)
    }

    /// Retrieves the cookies for a request (section 5.8.3), and notes the access.
    public mutating func retrieve(for context: RequestContext, now: Timestamp) -> Retrieval {
        let site = context.url.host.registrableDomain(policy.publicSuffixes)
        // Evicted afterwards, so that the retrieval can still say which cookies have just run out.
        let retrieval = policy.retrieval(from: sites[site] ?? [], for: context, now: now)
        evictExpired(site, now: now)
        for cookie in retrieval.included {
            if let index = sites[site]?.firstIndex(where: { $0.id == cookie.id }) {
                sites[site]?[index].lastAccess = now
            }
        }
        return retrieval
    }

    /// Removes the cookies that end with the session (section 5.7, last paragraph).
    public mutating func endSession() {
        for site in sites.keys {
            sites[site]?.removeAll { !$0.isPersistent }
        }
    }

    private mutating func evictExpired(_ site: Octets, now: Timestamp) {
        guard let cookies = sites[site], cookies.contains(where: { $0.isExpired(at: now) }) else { return }
        sites[site] = cookies.filter { !$0.isExpired(at: now) }
    }

    private mutating func apply(_ decision: StorageDecision, site: Octets) -> StorageDecision {
        var decision = decision
        switch decision.outcome {
        case .rejected:
            break
        case .deleted:
            sites[site]?.removeAll { $0.id == decision.cookie?.id }
        case .stored, .replaced:
            guard var cookie = decision.cookie else { break }
            if decision.previous == nil {
                cookie.sequence = nextSequence
                nextSequence += 1
                decision.cookie = cookie
            }
            sites[site]?.removeAll { $0.id == cookie.id }
            sites[site, default: []].append(cookie)
        }
        return decision
    }

    /// Section 5.7, step 16, beyond the registrable domain: a cookie of a public suffix itself matches the domains
    /// below it, and the other way round, although no request carries both.
    private func overlaysElsewhere(
        _ setCookie: SetCookie, in context: RequestContext, site: Octets, now: Timestamp
    ) -> Bool {
        guard let cookie = policy.overlayCandidate(for: setCookie, in: context, now: now) else { return false }
        return sites.contains { key, cookies in
            key != site && (key.isParentDomain(of: site) || site.isParentDomain(of: key))
                && cookies.contains { !$0.isExpired(at: now) && CookiePolicy.overlays(cookie, $0) }
        }
    }
}

extension Octets {
    fileprivate func isParentDomain(of other: Octets) -> Bool {
        other.count > count && other[other.count - count - 1] == ASCII.dot
            && other[(other.count - count)..<other.count] == self
    }
}
