internal import CookieModel

/// Cuts a jar down to its limits after many cookies have come into it at once ("remove excess cookies", section 5.7).
struct JarLimiter {
    let rows: StoredCookieRows
    let limits: CookieLimits
    let now: Timestamp
    /// Gives the value of a cookie; `nil` where it cannot be read.
    let opening: (Cookie) -> Octets?

    /// Removes what one registrable domain has over its limits. Expired cookies are out already.
    func removeExcess(site: Octets) throws -> [Eviction] {
        let cookies = try rows.cookies(site: site).map { stored in
            // Within a partition octets count, elsewhere no value does.
            let isCounted = stored.cookie.id.partitionKey != nil && limits.partitionOctets != nil
            return stored.cookie.with(value: isCounted ? opening(stored.cookie) ?? [] : [])
        }
        var found = SiteCookies(cookies)
        var evicted = found.removeExcess(nil, limits)
        let partitions = Set(cookies.compactMap(\.id.partitionKey)).sorted { $0.serialized < $1.serialized }
        for key in partitions { evicted += found.removeExcess(key, limits) }
        return try evicted.map { eviction in
            try rows.evict(eviction.cookie.id, site: site, now: now)
            return Eviction(cookie: eviction.cookie.with(value: []), reason: eviction.reason)
        }
    }

    /// Removes what the jar has over its total: the least recently used first. Expired cookies are out already.
    func removeTotalExcess() throws -> [Eviction] {
        guard let limit = limits.totalCookies else { return [] }
        let excess = try rows.count() - limit
        guard excess > 0 else { return [] }
        return try rows.leastRecentlyUsed(excess).map { stored in
            try rows.evict(stored.cookie.id, site: stored.site, now: now)
            return Eviction(cookie: stored.cookie.with(value: []), reason: .totalLimit)
        }
    }
}
