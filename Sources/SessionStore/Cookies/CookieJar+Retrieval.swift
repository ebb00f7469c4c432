public import CookieModel
internal import GRDB

extension CookieJar {
    /// Retrieves the cookies for a request (section 5.8.3 of the draft), notes the access, and says of the cookies that
    /// stay why.
    ///
    /// Sees every write that was acknowledged before, by whatever process. A cookie whose stored value was tampered with
    /// is left out, with the reason `unreadable`.
    public func retrieve(for context: RequestContext, now: Timestamp) throws(SessionStoreError) -> Retrieval {
        let site = context.url.host.site(policy.publicSuffixes)
        return try withCookies(of: site.registrableDomain, now: now) { cookies, accesses in
            cookies.retrieve(for: context, site: site, by: self, now: now, &accesses)
        }
    }

    /// Retrieves the cookie-string for a request (section 5.8.3) and notes the access: what ``retrieve(for:now:)``
    /// gives, for those who do not ask why.
    public func cookieString(for context: RequestContext, now: Timestamp) throws(SessionStoreError) -> Octets {
        let site = context.url.host.site(policy.publicSuffixes)
        return try withCookies(of: site.registrableDomain, now: now) { cookies, accesses in
            cookies.cookieString(for: context, site: site, by: self, now: now, &accesses)
        }
    }

    private func withCookies<Result: Sendable>(
        of site: Octets, now: Timestamp, _ body: (inout CachedSite, inout AccessNotes) -> Result
    ) throws(SessionStoreError) -> Result {
        var accesses = AccessNotes(before: accessLimit(now))
        let result: Result
        if let cached = try withCachedSite(site, { body(&$0, &accesses) }) {
            result = cached
        } else {
            var rows = CachedSite(
                try database.read { try CookieRows(database: $0, jarID: id).cookies(site: site) })
            result = body(&rows, &accesses)
        }
        try noteAccess(accesses.cookies, site: site, now: now)
        return result
    }

    private func withCachedSite<Result: Sendable>(
        _ site: Octets, _ body: (inout CachedSite) -> Result
    ) throws(SessionStoreError) -> Result? {
        // A database in memory has one connection, and its rows are near enough.
        guard database.isOnDisk else { return nil }
        return try SessionStoreError.catching(database.path) { try database.cache.withSite(site, of: self, body) }
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
