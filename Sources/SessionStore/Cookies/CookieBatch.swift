public import CookieModel
internal import GRDB

/// Responses and records received in one transaction of a ``CookieJar``.
public struct CookieBatch {
    /// How many sites stay in memory between two lines of a batch.
    private static let siteLimit = 4096

    private let rows: CookieRows
    private let policy: CookiePolicy
    private let sealer: Sealer
    private let path: String
    private let now: Timestamp
    private var sites: [Octets: [Cookie]] = [:]
    private var lastSequence: Int64?

    init(rows: CookieRows, policy: CookiePolicy, sealer: Sealer, path: String, now: Timestamp) {
        self.rows = rows
        self.policy = policy
        self.sealer = sealer
        self.path = path
        self.now = now
    }

    /// Receives every Set-Cookie line of a response (sections 5.3, 5.6 and 5.7 of the draft).
    ///
    /// - Parameter time: when the response came, from which lifetimes count. A cookie that has run out since then
    ///   is `deleted`.
    @discardableResult
    public mutating func receive(
        _ response: ReceivedResponse, at time: Timestamp
    ) throws(SessionStoreError) -> [StorageDecision] {
        let site = response.context.url.host.registrableDomain(policy.publicSuffixes)
        var decisions: [StorageDecision] = []
        for line in response.setCookie {
            guard response.setsCookies else {
                decisions.append(.ignored([.informationalResponse]))
                continue
            }
            switch SetCookie.parse(line, profile: policy.profile) {
            case .ignored(let reasons):
                decisions.append(.ignored(reasons))
            case .cookie(let setCookie):
                let decision = policy.decision(
                    for: setCookie, in: response.context, existing: try cookies(site),
                    overlaysElsewhere: try overlaysElsewhere(setCookie, response.context, site, time), now: time)
                decisions.append(try apply(decision, site: site))
            }
        }
        return decisions
    }

    /// Takes in a cookie out of another store.
    @discardableResult
    public mutating func receive(_ record: CookieRecord) throws(SessionStoreError) -> StorageDecision {
        let site = WebHost(record.domain)?.registrableDomain(policy.publicSuffixes) ?? Octets(record.domain)
        return try apply(policy.decision(for: record, existing: try cookies(site), now: now), site: site)
    }

    /// The unexpired cookies of a site, as the batch has left them so far.
    private mutating func cookies(_ site: Octets) throws(SessionStoreError) -> [Cookie] {
        if let cookies = sites[site] { return cookies }
        if sites.count >= CookieBatch.siteLimit { sites.removeAll(keepingCapacity: true) }
        let cookies = try SessionStoreError.catching(path) {
            let all = try rows.cookies(site: site)
            let alive = all.filter { !$0.isExpired(at: now) }
            if alive.count < all.count { try rows.deleteExpired(site: site, now: now) }
            // Nothing is decided on a value, so none is opened.
            return alive.map { $0.with(value: []) }
        }
        sites[site] = cookies
        return cookies
    }

    private mutating func apply(
        _ decision: StorageDecision, site: Octets
    ) throws(SessionStoreError) -> StorageDecision {
        guard var cookie = decision.cookie, decision.outcome != .rejected else { return decision }
        // A capture may be old: what has run out since then goes the way of what ran out on arrival.
        let isGone = decision.outcome == .deleted || cookie.isExpired(at: now)
        if isGone {
            if decision.previous != nil {
                try SessionStoreError.catching(path) { try rows.delete(cookie.id, site: site) }
                sites[site]?.removeAll { $0.id == cookie.id }
            }
            return decision.deleted
        }
        if decision.previous == nil { cookie.sequence = try nextSequence() }
        try SessionStoreError.catching(path) {
            let place = cookie.sealedPlace(jarID: rows.jarID)
            try rows.upsert(cookie, sealedValue: try sealer.seal(cookie.value, at: place), site: site)
        }
        if decision.previous != nil, let index = sites[site]?.firstIndex(where: { $0.id == cookie.id }) {
            sites[site]?[index] = cookie.with(value: [])
        } else {
            sites[site]?.append(cookie.with(value: []))
        }
        var stored = decision
        stored.cookie = cookie
        return stored
    }

    private mutating func nextSequence() throws(SessionStoreError) -> Int64 {
        if lastSequence == nil {
            lastSequence = try SessionStoreError.catching(path) { try rows.lastSequence() }
        }
        let next = (lastSequence ?? 0) + 1
        lastSequence = next
        return next
    }

    /// Section 5.7, step 16, beyond the registrable domain.
    private mutating func overlaysElsewhere(
        _ setCookie: SetCookie, _ context: RequestContext, _ site: Octets, _ time: Timestamp
    ) throws(SessionStoreError) -> Bool {
        guard let cookie = policy.overlayCandidate(for: setCookie, in: context, now: time) else { return false }
        for above in CookiePolicy.sitesAbove(site) {
            if try cookies(above).contains(where: { CookiePolicy.overlays(cookie, $0) }) { return true }
        }
        guard policy.mayHaveSitesBelow(site) else { return false }
        let below = try SessionStoreError.catching(path) { try rows.secureCookies(named: cookie.name, below: site) }
        return below.contains { !$0.isExpired(at: now) && CookiePolicy.overlays(cookie, $0) }
    }
}
