public import CookieModel
internal import GRDB

extension CookieJar {
    /// Retrieves the cookies for a request (section 5.8.3 of the draft), notes the access, and says of the cookies that
    /// stay why.
    ///
    /// Sees every write that was acknowledged before, by whatever process. A cookie whose stored value was tampered with
    /// is left out, with the reason `unreadable`.
    public func retrieve(for context: RequestContext, now: Timestamp) throws(SessionStoreError) -> Retrieval {
        let site = context.url.host.registrableDomain(policy.publicSuffixes)
        guard usesCache else { return try retrieveFromRows(site, context, now: now) }
        var accesses = AccessNotes(before: accessLimit(now))
        let retrieval = try withSite(site) { cached in
            var retrieval = cached.cookies.retrieve(for: context, policy, now: now, &accesses)
            retrieval.addExclusions(
                of: policy.retrieval(from: cached.unreadable, for: context, now: now) { _ in nil })
            return retrieval
        }
        try noteAccess(accesses.cookies, site: site, now: now)
        return retrieval
    }

    /// Retrieves the cookie-string for a request (section 5.8.3) and notes the access: what ``retrieve(for:now:)``
    /// gives, for those who do not ask why.
    public func cookieString(for context: RequestContext, now: Timestamp) throws(SessionStoreError) -> Octets {
        let site = context.url.host.registrableDomain(policy.publicSuffixes)
        guard usesCache else { return try retrieveFromRows(site, context, now: now).cookieString }
        var accesses = AccessNotes(before: accessLimit(now))
        let cookieString = try withSite(site) { cached in
            cached.cookies.cookieString(for: context, policy, now: now, &accesses)
        }
        try noteAccess(accesses.cookies, site: site, now: now)
        return cookieString
    }

    /// A database in memory has one connection, and its rows are near enough.
    private var usesCache: Bool { database.isOnDisk && database.cache.isWorthwhile() }

    private func retrieveFromRows(
        _ site: Octets, _ context: RequestContext, now: Timestamp
    ) throws(SessionStoreError) -> Retrieval {
        let sealed = try database.read { connection in
            try CookieRows(database: connection, jarID: id).cookies(site: site)
        }
        let retrieval = policy.retrieval(from: sealed, for: context, now: now, opening: opened)
        let limit = accessLimit(now)
        try noteAccess(retrieval.included.filter { $0.lastAccess < limit }.map(\.id), site: site, now: now)
        return retrieval
    }

    private func withSite<Result>(
        _ site: Octets, _ body: (inout SiteCache.Site) -> Result
    ) throws(SessionStoreError) -> Result {
        try SessionStoreError.catching(database.path) {
            try database.cache.withSite(
                site, ofJar: id, open: database.openReader, check: database.file.checkBeforeRead,
                load: { connection in
                    let (readable, unreadable) = opened(
                        try database.reading(connection) { connection in
                            try CookieRows(database: connection, jarID: id).cookies(site: site)
                        })
                    return SiteCache.Site(cookies: SiteCookies(readable), unreadable: unreadable)
                }, body)
        }
    }

    /// Before when a cookie must have been used last for its access to be written down.
    private func accessLimit(_ now: Timestamp) -> Timestamp {
        now.advanced(bySeconds: -database.lastAccessGranularity)
    }

    private func noteAccess(_ cookies: [Cookie.ID], site: Octets, now: Timestamp) throws(SessionStoreError) {
        guard !cookies.isEmpty else { return }
        do {
            // Another process may hold the lock for as long as it reads a capture: no header waits for that.
            try database.writeUnlessBusy { connection in
                let rows = CookieRows(database: connection, jarID: id)
                for cookie in cookies { try rows.touch(cookie, site: site, now: now) }
            }
        } catch  where error.code == .databaseBusy || error.code == .databaseReadOnly || error.code == .diskFull {
            // The header is right without it: the time matters for eviction only.
        }
    }
}
