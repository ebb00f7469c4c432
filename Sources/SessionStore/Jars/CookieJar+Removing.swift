public import CookieModel

extension CookieJar {
    /// Removes the cookies that a filter selects, in one transaction.
    ///
    /// No value is opened, so a cookie whose stored value was tampered with can be removed, too.
    ///
    /// - Returns: the removed cookies, without values and without expired ones.
    @discardableResult
    public func removeCookies(_ filter: CookieFilter, now: Timestamp? = nil) throws(SessionStoreError) -> [Cookie] {
        let now = now ?? database.clock.now
        return try database.write(.jar(id)) { connection in
            let journaled = JournaledCookieRows(database: connection, jarID: id)
            let candidates: [StoredCookie]
            if let request = filter.request {
                candidates = try sent(with: request, from: journaled.rows, now: now)
            } else {
                candidates = try journaled.rows.allRows()
            }
            let removed = candidates.filter { filter.admits($0.cookie) && !$0.cookie.isExpired(at: now) }
            for stored in removed { try journaled.remove(stored.cookie.id, site: stored.site, now: now) }
            if !removed.isEmpty { try CaptureRows(database: connection, jarID: id).allowAgain() }
            return removed.map { $0.cookie.with(value: []) }
        }
    }

    /// The cookies that a request carries, without a limit on their number, including those whose values cannot be
    /// read.
    private func sent(
        with request: RequestContext, from rows: CookieRows, now: Timestamp
    ) throws -> [StoredCookie] {
        var policy = policy
        policy.limits = .unlimited
        let stored = try rows.rows(site: request.url.host.registrableDomain(policy.publicSuffixes))
        let retrieval = policy.retrieval(from: stored.map(\.cookie), for: request, now: now, opening: { _ in [] })
        let included = Set(retrieval.included.map(\.id))
        return stored.filter { included.contains($0.cookie.id) }
    }
}

/// A selection of a jar's cookies: those that meet every condition. Without conditions, it selects all cookies.
public struct CookieFilter: Sendable {
    /// Cookies of this name.
    public var name: Octets?
    /// Cookies of this domain and of the names below it.
    public var domain: WebHost?
    /// Cookies of exactly this path.
    public var path: Octets?
    /// Cookies of these partitions. `nil` in the set selects cookies without a partition.
    package var partitions: Set<PartitionKey?>?
    /// Cookies that this request carries.
    public var request: RequestContext?

    /// No condition.
    public init() {}

    /// Parses a domain that a user names; `nil` if it is not a host name. A leading dot, as in lists for cookies that
    /// subdomains get, is ignored.
    package static func domain(named text: String) -> WebHost? {
        WebHost(text.hasPrefix(".") ? String(text.dropFirst()) : text)
    }

    /// Whether a cookie has the name, domain and path of the filter.
    func admits(_ cookie: Cookie) -> Bool {
        if let name, cookie.name != name { return false }
        if let domain, !CookiePolicy.domainMatches(cookie.domain, domain.octets) { return false }
        if let path, cookie.path != path { return false }
        if let partitions, !partitions.contains(cookie.id.partitionKey) { return false }
        return true
    }
}
