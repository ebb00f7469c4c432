public import CookieModel

/// Responses and records received in one transaction of a ``CookieJar``.
public struct CookieBatch {
    /// How many sites stay in memory from one line of a batch to the next.
    private static let siteLimit = 4096

    private let jarID: Int64
    private var rows: RowWriter
    let sealer: Sealer
    /// The web storage that the batch has met, and the place of its next item; `nil` before that was asked for.
    var storageRoom = WebStorageRoom()
    var nextStorageSequence: Int64?
    let path: String
    let now: Timestamp
    private let limits: CookieLimits
    let captureID: Int64?
    private var journal: ChangeWriter
    /// The sites that the batch, or those before it, have met, those without cookies included. Nothing is decided on a
    /// value but how long it is, so none is opened.
    private var store: CookieStore
    private var siteCount: Int
    /// The expired cookies of those sites, which no rule sees: their rows wait for the clock to be confirmed.
    private var expired: [Octets: ExpiredCookies]
    /// The clock as it is confirmed; `nil` before that was asked for.
    private var clock: ConfirmedClock?
    /// The sites that have got their first cookie or lost their last one, and are still to be noted (``JarSiteRows``).
    private var changedSites: [Octets] = []
    /// The cookies that responses of unknown time have set in this batch.
    private var untimed: Set<Cookie.ID> = []
    /// Cookies that a capture's responses deleted, or let expire, and that the jar never had. The journal keeps them, so
    /// that a capture of older requests does not bring them in.
    private var endedUnseen: [Cookie.ID: (site: Octets, ending: CookieEnding)] = [:]
    /// The site that was met last: mostly the next line's, too.
    private var currentSite: Octets?
    /// How far the jar had come when the batch began; `nil` before that was asked for.
    private var end: JournalEnd?
    /// Whether the jar had never had a cookie then, and all that it has had since are in ``store``: no site need be read.
    private var isNewJar = false
    private var rejections = RejectionList()
    /// Whether a cookie had to go because its site, or its partition, had too many.
    private(set) var hasEvicted = false

    /// A batch within a transaction.
    ///
    /// - Parameters:
    ///   - remembered: the state of the jar.
    ///   - memory: has the nonces of what the batch seals.
    init(
        _ order: BatchOrder, on connection: Connection, beginningWith remembered: RememberedJar, _ memory: WriterMemory
    ) {
        let (jar, database) = (order.jar, order.jar.database)
        now = order.now
        captureID = order.capture?.rawValue
        jarID = jar.id
        path = database.path
        sealer = database.sealer
        limits = jar.policy.limits
        rows = RowWriter(CookieRows(database: connection, jarID: jar.id), sealer, memory)
        journal = ChangeWriter(
            ChangeRows(database: connection, jarID: jar.id, limit: Int64(database.journalLimit)), now: now)
        // Most of the jar stays on disk, so its total is counted there.
        var policy = jar.policy
        policy.limits.totalCookies = nil
        policy.identityLimit = connection.traits.identityLimit
        store = remembered.store ?? CookieStore()
        store.policy = policy
        siteCount = remembered.siteCount
        expired = remembered.expired
        end = remembered.end
    }

    /// Receives every Set-Cookie line of a response (sections 5.3, 5.6 and 5.7 of the draft).
    ///
    /// - Parameter time: when the response came, from which lifetimes count. A cookie that has run out since then
    ///   is `deleted`.
    @discardableResult
    public mutating func receive(
        _ response: ReceivedResponse, at time: Timestamp
    ) throws(SessionStoreError) -> [StorageDecision] {
        try receive(response, at: time, answered: nil, sparing: nil)
    }

    /// Receives a response out of a capture.
    ///
    /// - Parameters:
    ///   - answered: when its answer had come, which may be later than its lifetimes begin: then it deleted a cookie.
    ///   - limit: for a response whose time is unknown, the time after which stored cookies stay as they are.
    @discardableResult
    package mutating func receive(
        _ response: ReceivedResponse, at time: Timestamp, answered: Timestamp?, sparing limit: Timestamp? = nil
    ) throws(SessionStoreError) -> [StorageDecision] {
        let host = response.context.url.host
        let site = host.site(store.policy.publicSuffixes)
        let decisions = try decide(on: response, of: site, at: time, answered: answered, sparing: limit)
        rejections.append(decisions, from: host, site: site.registrableDomain, at: min(time, now))
        return decisions
    }

    private mutating func decide(
        on response: ReceivedResponse, of site: WebHost.Site, at time: Timestamp, answered: Timestamp?,
        sparing limit: Timestamp?
    ) throws(SessionStoreError) -> [StorageDecision] {
        guard response.setsCookies else {
            return response.setCookie.map { _ in .ignored([.informationalResponse]) }
        }
        let source = StoredCookie.Source(
            captureID: captureID, url: response.context.url.withoutQuery, received: limit == nil ? time : nil,
            answered: limit == nil ? answered : nil)
        var decisions: [StorageDecision] = []
        decisions.reserveCapacity(response.setCookie.count)
        for line in response.setCookie {
            switch SetCookie.parse(line, profile: store.policy.profile) {
            case .ignored(let reasons):
                decisions.append(.ignored(reasons))
            case .cookie(let setCookie):
                try enter(site.registrableDomain)
                if store.policy.mayOverlaySecureCookies(setCookie, in: response.context) {
                    try loadSites(around: site.registrableDomain)
                }
                if let limit {
                    let id = store.counterpart(of: setCookie, in: response.context, site: site, now: time)
                    let stored = try id.flatMap { id throws(SessionStoreError) in
                        try receivedTime(id, site: site.registrableDomain)
                    }
                    if let decision = StorageDecision(setCookie, replacing: stored, after: limit) {
                        decisions.append(decision)
                        continue
                    }
                }
                var decision = store.receive(setCookie, in: response.context, site: site, at: time, now: now)
                try write(decision, site: site.registrableDomain, source)
                if limit != nil, let id = decision.cookie?.id { untimed.insert(id) }
                decision.dropStoredValues()
                decisions.append(decision)
            }
        }
        return decisions
    }

    /// When the stored cookie was received; `nil` if that is unknown.
    private mutating func receivedTime(_ id: Cookie.ID, site: Octets) throws(SessionStoreError) -> Timestamp? {
        guard !untimed.contains(id) else { return nil }
        let rows = try writtenRows()
        return try SessionStoreError.catching(path) { try rows.received(id, site: site) }
    }

    /// Takes in a cookie out of another store.
    ///
    /// - Parameter url: the URL of the request that sent it, for a cookie that a request tells.
    @discardableResult
    public mutating func receive(
        _ record: CookieRecord, sentTo url: RequestURL? = nil
    ) throws(SessionStoreError) -> StorageDecision {
        let site = WebHost(record.domain)?.registrableDomain(store.policy.publicSuffixes) ?? Octets(record.domain)
        try enter(site)
        var decision = store.receive(record, now: now)
        try write(
            decision, site: site,
            StoredCookie.Source(
                captureID: captureID, url: url?.withoutQuery, received: record.request?.time ?? now))
        decision.dropStoredValues()
        return decision
    }

    /// The unexpired cookies of a registrable domain, their values blank.
    package mutating func cookies(of site: Octets) throws(SessionStoreError) -> [Cookie] {
        try enter(site)
        return store[site]?.cookies ?? []
    }

    /// The cookies of a registrable domain with their values, without those whose value cannot be read.
    package mutating func openedCookies(of site: Octets) throws(SessionStoreError) -> [Cookie] {
        let rows = try writtenRows()
        return try SessionStoreError.catching(path) {
            try rows.cookies(site: site).cookies.compactMap { cookie in
                sealer.open(cookie.value, at: cookie.sealedPlace(jarID: jarID)).map { cookie.with(value: $0) }
            }
        }
    }

    /// Ends the batch: writes the remaining rows, the journal and the next number in the order of creation, and removes
    /// the cookies over the total limit.
    mutating func finish() throws(SessionStoreError) -> FinishedBatch {
        let rows = try writtenRows()
        guard var end else { return FinishedBatch(evicted: [], rejections: rejections, remembered: nil) }
        let evicted = try SessionStoreError.catching(path) {
            end.nextSequence = store.nextSequence
            try noteSites(rows)
            journalUnseenEnds()
            try journal.finish(&end)
            guard limits.totalCookies != nil else { return [Eviction]() }
            return try JarLimiter(
                journaled: JournaledCookieRows(database: rows.database, jarID: jarID), limits: limits, now: now
            ).removeTotalExcess()
        }
        let jar = RememberedJar(store: store, siteCount: siteCount, expired: expired, end: end)
        // The limit may have removed cookies of any site.
        return FinishedBatch(
            evicted: evicted, rejections: rejections, remembered: limits.totalCookies == nil ? jar : nil)
    }

    /// Ends the writing, whether the batch is finished or has failed: nothing uses the connection afterwards.
    mutating func endWriting() {
        rows.end()
    }

    /// The rows, with everything that the batch has decided so far.
    mutating func writtenRows() throws(SessionStoreError) -> CookieRows {
        try SessionStoreError.catching(path) { try rows.writtenRows() }
    }

    /// Notes of which sites there are cookies now; everything that the batch has decided so far is written.
    private mutating func noteSites(_ rows: CookieRows) throws {
        for site in Set(changedSites) { try JarSiteRows(database: rows.database).refresh(site: site, jarID: jarID) }
        changedSites = []
    }

    /// Remembers that a site has got its first cookie, or lost its last one.
    private mutating func siteChanged(_ site: Octets) throws {
        changedSites.append(site)
        if changedSites.count >= CookieBatch.siteLimit { try noteSites(try rows.writtenRows()) }
    }

    /// Begins with a line of a site.
    private mutating func enter(_ site: Octets) throws(SessionStoreError) {
        guard currentSite != site else { return }
        if siteCount >= CookieBatch.siteLimit {
            // They may be read again.
            _ = try writtenRows()
            store.forgetSites()
            expired = [:]
            isNewJar = false
            siteCount = 0
        }
        try load(site)
        currentSite = site
    }

    /// Brings the unexpired cookies of a site into memory.
    private mutating func load(_ site: Octets) throws(SessionStoreError) {
        try SessionStoreError.catching(path) {
            if end == nil {
                let found = try rows.besides {
                    try ChangeRows(database: $0.database, jarID: jarID).end()
                }
                store.nextSequence = found.nextSequence
                end = found
                isNewJar = found.nextSequence == 1
            }
            if expired[site]?.areValid(at: now) == true {
                // The clock was set back: they are valid again.
                (store[site], expired[site]) = (nil, nil)
                siteCount -= 1
            }
            let found: [Cookie]
            // A copy of the key: the original keeps the whole URL in memory.
            let key = Octets(Array(site))
            if var cookies = store[site] {
                found = cookies.removeExpired(at: now)
                if !found.isEmpty { store[site] = cookies }
            } else {
                var cookies = SiteCookies(isNewJar ? [] : try rows.besides { try $0.outlines(site: site) })
                found = cookies.removeExpired(at: now)
                store[key] = cookies
                siteCount += 1
            }
            guard !found.isEmpty else { return }
            expired[key, default: ExpiredCookies()].insert(found)
            try removeUnneeded(key)
        }
    }

    /// Removes the rows of a site's expired cookies that need not stay.
    private mutating func removeUnneeded(_ site: Octets) throws {
        let clock =
            try clock ?? rows.besides { try ConfirmedClockRows(database: $0.database).see(now, isFrequent: true) }
        self.clock = clock
        for cookie in expired[site]?.removeUnneeded(clock.confirmed, limits) ?? [] {
            try rows.delete(cookie.id, site: site)
            journal.append(.expired, cookie.id, site: site, ended: cookie.expiry)
            if store[site]?.count == 0 { try siteChanged(site) }
        }
    }

    /// Whether there is the row of an expired cookie of this identity, which the caller is about to change.
    private mutating func takeExpired(_ id: Cookie.ID, site: Octets) -> Bool {
        expired[site]?.remove(id) ?? false
    }

    /// Brings in the other sites that section 5.7, step 16, looks at.
    private mutating func loadSites(around site: Octets) throws(SessionStoreError) {
        for above in CookiePolicy.sitesAbove(site) { try load(above) }
        guard store.policy.mayHaveSitesBelow(site) else { return }
        let rows = try writtenRows()
        for below in try SessionStoreError.catching(path, { try rows.sites(below: site) }) { try load(below) }
    }

    private mutating func write(
        _ decision: borrowing StorageDecision, site: Octets, _ source: StoredCookie.Source
    ) throws(SessionStoreError) {
        guard let cookie = decision.cookie else { return }
        try SessionStoreError.catching(path) {
            if decision.outcome == .deleted {
                let hadRow = decision.previous != nil || takeExpired(cookie.id, site: site)
                guard hadRow || !decision.superseded.isEmpty else {
                    return noteUnseenEnd(of: cookie, site: site, source)
                }
                for id in (hadRow ? [cookie.id] : []) + decision.superseded {
                    try rows.delete(id, site: site)
                    journal.append(.deleted, id, site: site, source: source)
                }
                if store[site]?.count == 0 { try siteChanged(site) }
            } else {
                for id in decision.superseded {
                    try rows.delete(id, site: site)
                    journal.append(.deleted, id, site: site, source: source)
                }
                let isNew = decision.outcome == .stored
                let hasRow = !isNew || takeExpired(cookie.id, site: site)
                try rows.write(hasRow ? .update : .insertion, cookie, site: site, source: source)
                journal.append(isNew ? .stored : .replaced, cookie.id, site: site)
                if isNew, store[site]?.count == 1 { try siteChanged(site) }
                if !endedUnseen.isEmpty { endedUnseen[cookie.id] = nil }
            }
            for eviction in decision.evicted {
                hasEvicted = true
                try rows.delete(eviction.cookie.id, site: site)
                journal.append(.evicted, eviction.cookie.id, site: site, source: source)
            }
        }
    }

    private mutating func noteUnseenEnd(of cookie: Cookie, site: Octets, _ source: StoredCookie.Source) {
        guard captureID != nil, let answered = source.answered ?? source.received else { return }
        let ending = CookieEnding(cookie, answered: answered)
        if let known = endedUnseen[cookie.id], known.ending.time > ending.time { return }
        endedUnseen[cookie.id] = (site, ending)
    }

    private mutating func journalUnseenEnds() {
        for (site, ending) in endedUnseen.values.sorted(by: { $0.ending.time < $1.ending.time }) {
            journal.append(ending.isExpiry ? .expired : .deleted, ending.cookie, site: site, ended: ending.time)
        }
        endedUnseen = [:]
    }
}
