internal import CookieModel

/// The sites that a batch has met, in memory and as rows: it decides on the one, and writes the other.
struct BatchSites {
    /// How many sites stay in memory from one line of a batch to the next.
    private static let limit = 4096

    private let jarID: Int64
    private let now: Timestamp
    private let limits: CookieLimits
    private(set) var writer: RowWriter
    private var journal: ChangeWriter
    /// The sites that the batch, or those before it, have met.
    var jar: RememberedJar
    /// The clock as it is confirmed; `nil` before that was asked for.
    private var clock: ConfirmedClock?
    /// The sites that have got their first cookie or lost their last one, and are still to be noted (``JarSiteRows``).
    private var changedSites: [Octets] = []
    /// The site that was met last: mostly the next line's, too.
    private var currentSite: Octets?
    /// Whether the jar had never had a cookie when the batch began, and all that it has had since are in memory: no site
    /// need be read.
    private var isNewJar = false

    init(
        _ order: BatchOrder, on connection: Connection, beginningWith remembered: RememberedJar, _ sealer: Sealer,
        _ memory: WriterMemory
    ) {
        jarID = order.jar.id
        now = order.now
        limits = order.jar.policy.limits
        writer = RowWriter(CookieRows(database: connection, jarID: jarID), sealer, memory)
        let journalLimit = Int64(order.jar.database.journalLimit)
        journal = ChangeWriter(ChangeRows(database: connection, jarID: jarID, limit: journalLimit), now: now)
        jar = remembered
        // Most of the jar stays on disk, so its total is counted there.
        var policy = order.jar.policy
        policy.limits.totalCookies = nil
        policy.identityLimit = connection.traits.identityLimit
        jar.store.policy = policy
    }

    /// Begins with a line of a site.
    mutating func enter(_ site: Octets) throws {
        guard currentSite != site else { return }
        if jar.siteCount >= BatchSites.limit {
            // They may be read again, so no row may have failed.
            _ = try writer.writtenRows()
            jar.store.removeAll()
            jar.expired = [:]
            isNewJar = false
            jar.siteCount = 0
        }
        try load(site)
        currentSite = site
    }

    /// Brings in the other sites that section 5.7, step 16, looks at.
    mutating func load(around site: Octets) throws {
        for above in CookiePolicy.sitesAbove(site) { try load(above) }
        guard jar.store.policy.mayHaveSitesBelow(site) else { return }
        for below in try writer.writtenRows().sites(below: site) { try load(below) }
    }

    /// Brings the unexpired cookies of a site into memory.
    private mutating func load(_ site: Octets) throws {
        if jar.end == nil {
            let found = try ChangeRows(database: writer.rows.database, jarID: jarID).end()
            jar.store.nextSequence = found.nextSequence
            jar.end = found
            isNewJar = found.nextSequence == 1
        }
        if jar.expired[site]?.areValid(at: now) == true {
            // The clock was set back: they are valid again.
            (jar.store[site], jar.expired[site]) = (nil, nil)
            jar.siteCount -= 1
        }
        let found: [Cookie]
        // A copy of the key: the original keeps the whole URL in memory.
        let key = Octets(Array(site))
        if var cookies = jar.store[site] {
            found = cookies.removeExpired(at: now)
            if !found.isEmpty { jar.store[site] = cookies }
        } else {
            var cookies = SiteCookies(isNewJar ? [] : try writer.rows.outlines(site: site))
            found = cookies.removeExpired(at: now)
            jar.store[key] = cookies
            jar.siteCount += 1
        }
        guard !found.isEmpty else { return }
        jar.expired[key, default: ExpiredCookies()].insert(found)
        try removeUnneeded(key)
    }

    /// Removes the rows of a site's expired cookies that need not stay.
    private mutating func removeUnneeded(_ site: Octets) throws {
        let clock =
            try clock ?? ConfirmedClockRows(database: writer.rows.database).see(now, isFrequent: true)
        self.clock = clock
        for cookie in jar.expired[site]?.removeUnneeded(clock.confirmed, limits) ?? [] {
            try writer.delete(cookie.id, site: site)
            journal.append(.expired, cookie.id, site: site, ended: cookie.expiry)
            try noteIfEmpty(site)
        }
    }

    /// Whether there is the row of an expired cookie of this identity, which the caller is about to change.
    mutating func takeExpired(_ id: Cookie.ID, site: Octets) -> Bool {
        jar.expired[site]?.remove(id) ?? false
    }
}

// MARK: - Rows

extension BatchSites {
    /// Writes the row of a cookie.
    ///
    /// - Parameter isNew: whether the jar had no such cookie, except for one that has expired.
    mutating func write(
        _ cookie: borrowing Cookie, isNew: Bool, site: Octets, source: borrowing StoredCookie.Source
    ) throws {
        let hasRow = !isNew || takeExpired(cookie.id, site: site)
        try writer.write(hasRow ? .update : .insertion, cookie, site: site, source: source)
        journal.append(isNew ? .stored : .replaced, cookie.id, site: site)
        if isNew, jar.store[site]?.count == 1 { try siteChanged(site) }
    }

    /// Removes the row of a cookie.
    mutating func delete(
        _ id: Cookie.ID, _ cause: CookieChange.Cause, site: Octets, source: StoredCookie.Source
    ) throws {
        try writer.delete(id, site: site)
        journal.append(cause, id, site: site, source: source)
    }

    /// Remembers that a site has lost its last cookie, if it has.
    mutating func noteIfEmpty(_ site: Octets) throws {
        if jar.store[site]?.count == 0 { try siteChanged(site) }
    }

    /// Remembers that a site has got its first cookie, or lost its last one.
    private mutating func siteChanged(_ site: Octets) throws {
        changedSites.append(site)
        if changedSites.count >= BatchSites.limit { try noteSites(try writer.writtenRows()) }
    }

    /// Notes of which sites there are cookies now; everything that the batch has decided so far is written.
    private mutating func noteSites(_ rows: CookieRows) throws {
        for site in Set(changedSites) { try JarSiteRows(database: rows.database).refresh(site: site, jarID: jarID) }
        changedSites = []
    }

    /// Writes the remaining rows, the journal and the next number in the order of creation, and removes the cookies over
    /// the total limit.
    ///
    /// - Parameter addLast: adds the last entries of the journal.
    /// - Returns: the cookies over the limit, and the state of the jar for the next batch; `nil` if it is not known.
    mutating func finish(
        _ addLast: (inout ChangeWriter) -> Void
    ) throws -> (evicted: [Eviction], remembered: RememberedJar?) {
        let rows = try writer.writtenRows()
        guard var end = jar.end else { return ([], nil) }
        end.nextSequence = jar.store.nextSequence
        try noteSites(rows)
        addLast(&journal)
        try journal.finish(&end)
        jar.end = end
        guard limits.totalCookies != nil else { return ([], jar) }
        let limiter = JarLimiter(
            journaled: JournaledCookieRows(database: rows.database, jarID: jarID), limits: limits, now: now)
        // The limit may remove cookies of any site.
        return (try limiter.removeTotalExcess(), nil)
    }
}
