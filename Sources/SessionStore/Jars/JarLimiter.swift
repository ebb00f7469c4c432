internal import CookieModel

/// Cuts a jar down to its limits after many cookies have come into it at once ("remove excess cookies", section 5.7).
struct JarLimiter {
    let journaled: JournaledCookieRows
    let limits: CookieLimits
    let now: Timestamp

    /// Removes what one registrable domain has over its limits. Expired cookies do not count.
    func removeExcess(site: Octets) throws -> [Eviction] {
        let cookies = try journaled.rows.outlines(site: site).filter { !$0.isExpired(at: now) }
        var found = SiteCookies(cookies)
        var evicted = found.removeExcess(nil, limits)
        let partitions = Set(cookies.compactMap(\.id.partitionKey)).sorted { $0.serialized < $1.serialized }
        for key in partitions { evicted += found.removeExcess(key, limits) }
        return try evicted.map { try evict($0.cookie, site: site, $0.reason) }
    }

    /// Removes what the jar has over its total, the least recently used cookies first. Expired cookies that are still
    /// there push out none, and have a room of their own of the same size.
    func removeTotalExcess() throws -> [Eviction] {
        guard let limit = limits.totalCookies else { return [] }
        let (live, expired) = try journaled.rows.counts(now: now)
        if expired > limit {
            for stored in try journaled.rows.shortestLivedExpired(expired - limit, now: now) {
                try journaled.removeExpired(stored.cookie, site: stored.site, now: now)
            }
        }
        guard live > limit else { return [] }
        return try journaled.rows.leastRecentlyUsed(live - limit, now: now).map {
            try evict($0.cookie, site: $0.site, .totalLimit)
        }
    }

    private func evict(_ cookie: Cookie, site: Octets, _ reason: EvictionReason) throws -> Eviction {
        try journaled.evict(cookie.id, site: site, now: now)
        return Eviction(cookie: cookie.with(value: []), reason: reason)
    }
}
