internal import CookieModel

/// Cuts a jar down to its limits after many cookies have come into it at once ("remove excess cookies", section 5.7).
struct JarLimiter {
    let journaled: JournaledCookieRows
    let limits: CookieLimits
    let now: Timestamp

    /// Removes what one registrable domain has over its limits. Expired cookies are out already.
    func removeExcess(site: Octets) throws -> [Eviction] {
        let cookies = try journaled.rows.outlines(site: site)
        var found = SiteCookies(cookies)
        var evicted = found.removeExcess(nil, limits)
        let partitions = Set(cookies.compactMap(\.id.partitionKey)).sorted { $0.serialized < $1.serialized }
        for key in partitions { evicted += found.removeExcess(key, limits) }
        return try evicted.map { try evict($0.cookie, site: site, $0.reason) }
    }

    /// Removes what the jar has over its total: expired cookies first, then the least recently used.
    func removeTotalExcess() throws -> [Eviction] {
        guard let limit = limits.totalCookies, try journaled.rows.count() > limit else { return [] }
        try journaled.removeExpired(now: now)
        let excess = try journaled.rows.count() - limit
        guard excess > 0 else { return [] }
        return try journaled.rows.leastRecentlyUsed(excess).map { try evict($0.cookie, site: $0.site, .totalLimit) }
    }

    private func evict(_ cookie: Cookie, site: Octets, _ reason: EvictionReason) throws -> Eviction {
        try journaled.evict(cookie.id, site: site, now: now)
        return Eviction(cookie: cookie.with(value: []), reason: reason)
    }
}
