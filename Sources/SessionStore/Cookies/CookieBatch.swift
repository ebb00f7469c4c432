public import CookieModel
internal import GRDB

/// Responses and records received in one transaction of a ``CookieJar``.
public struct CookieBatch {
    /// How many sites stay in memory between two lines of a batch.
    private static let siteLimit = 4096

    let rows: CookieRows
    private let sealer: Sealer
    let path: String
    private let now: Timestamp
    private let limits: CookieLimits
    let captureID: Int64?
    private var journal: ChangeWriter
    /// The sites that the batch has met. Nothing is decided on a value but how long it is, so none is opened.
    private var store: CookieStore
    private var sites: Set<Octets> = []
    /// The next place in the order of creation as the jar has it; `nil` before it was asked for.
    private var storedSequence: Int64?

    init(
        rows: CookieRows, policy: CookiePolicy, sealer: Sealer, path: String, capture: CaptureID?, now: Timestamp
    ) {
        captureID = capture?.rawValue
        journal = ChangeWriter(ChangeRows(database: rows.database, jarID: rows.jarID), now: now)
        self.rows = rows
        self.sealer = sealer
        self.path = path
        self.now = now
        limits = policy.limits
        // Most of the jar stays on disk, so its total is counted there.
        var policy = policy
        policy.limits.totalCookies = nil
        store = CookieStore(policy: policy)
    }

    /// Receives every Set-Cookie line of a response (sections 5.3, 5.6 and 5.7 of the draft).
    ///
    /// - Parameter time: when the response came, from which lifetimes count. A cookie that has run out since then
    ///   is `deleted`.
    @discardableResult
    public mutating func receive(
        _ response: ReceivedResponse, at time: Timestamp
    ) throws(SessionStoreError) -> [StorageDecision] {
        guard response.setsCookies else {
            return response.setCookie.map { _ in .ignored([.informationalResponse]) }
        }
        let site = response.context.url.host.site(store.policy.publicSuffixes)
        let source = StoredCookie.Source(captureID: captureID, url: response.context.url.withoutQuery, received: time)
        var decisions: [StorageDecision] = []
        decisions.reserveCapacity(response.setCookie.count)
        for line in response.setCookie {
            switch SetCookie.parse(line, profile: store.policy.profile) {
            case .ignored(let reasons):
                decisions.append(.ignored(reasons))
            case .cookie(let setCookie):
                try load(site.registrableDomain)
                if store.policy.mayOverlaySecureCookies(setCookie, in: response.context) {
                    try loadSites(around: site.registrableDomain)
                }
                var decision = store.receive(setCookie, in: response.context, site: site, at: time, now: now)
                try write(decision, site: site.registrableDomain, source)
                decision.dropStoredValues()
                decisions.append(decision)
            }
        }
        return decisions
    }

    /// Takes in a cookie out of another store.
    @discardableResult
    public mutating func receive(_ record: CookieRecord) throws(SessionStoreError) -> StorageDecision {
        let site = WebHost(record.domain)?.registrableDomain(store.policy.publicSuffixes) ?? Octets(record.domain)
        try load(site)
        var decision = store.receive(record, now: now)
        try write(decision, site: site, StoredCookie.Source(captureID: captureID, url: nil, received: now))
        decision.dropStoredValues()
        return decision
    }

    /// Ends the batch: keeps the place in the order of creation, and removes what is over the total limit.
    mutating func finish() throws(SessionStoreError) -> [Eviction] {
        if let storedSequence, store.nextSequence != storedSequence {
            try SessionStoreError.catching(path) {
                try JarRows(database: rows.database).setNextSequence(store.nextSequence, id: rows.jarID)
            }
        }
        return try SessionStoreError.catching(path) {
            try journal.finish()
            return try JarLimiter(
                journaled: JournaledCookieRows(database: rows.database, jarID: rows.jarID), limits: limits, now: now
            ).removeTotalExcess()
        }
    }

    /// Brings the unexpired cookies of a site into memory.
    private mutating func load(_ site: Octets) throws(SessionStoreError) {
        guard !sites.contains(site) else { return }
        if sites.count >= CookieBatch.siteLimit {
            sites.removeAll(keepingCapacity: true)
            store.forgetSites()
        }
        try SessionStoreError.catching(path) {
            if storedSequence == nil {
                store.nextSequence = try JarRows(database: rows.database).nextSequence(id: rows.jarID)
                storedSequence = store.nextSequence
            }
            let all = try rows.cookies(site: site)
            let alive = all.filter { !$0.isExpired(at: now) }
            if alive.count < all.count {
                try rows.deleteExpired(site: site, now: now)
                for cookie in all where cookie.isExpired(at: now) {
                    try journal.append(.expired, cookie.id, site: site)
                }
            }
            if !alive.isEmpty { store[site] = SiteCookies(alive.map(\.withoutContent)) }
        }
        sites.insert(site)
    }

    /// Brings in the other sites that section 5.7, step 16, looks at.
    private mutating func loadSites(around site: Octets) throws(SessionStoreError) {
        for above in CookiePolicy.sitesAbove(site) { try load(above) }
        guard store.policy.mayHaveSitesBelow(site) else { return }
        for below in try SessionStoreError.catching(path, { try rows.sites(below: site) }) { try load(below) }
    }

    private mutating func write(
        _ decision: borrowing StorageDecision, site: Octets, _ source: StoredCookie.Source
    ) throws(SessionStoreError) {
        guard let cookie = decision.cookie else { return }
        try SessionStoreError.catching(path) {
            if decision.outcome == .deleted {
                guard decision.previous != nil else { return }
                try rows.delete(cookie.id, site: site)
                try journal.append(.deleted, cookie.id, site: site)
            } else {
                let sealed = try sealer.seal(cookie.value, at: cookie.sealedPlace(jarID: rows.jarID))
                try rows.upsert(cookie, sealedValue: Octets(sealed), site: site, source: source)
                try journal.append(decision.outcome == .stored ? .stored : .replaced, cookie.id, site: site)
            }
            for eviction in decision.evicted {
                try rows.delete(eviction.cookie.id, site: site)
                try journal.append(.evicted, eviction.cookie.id, site: site)
            }
        }
    }
}
