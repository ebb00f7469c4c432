internal import CookieModel

/// The cookies of one registrable domain that have expired and whose rows wait for the clock to be confirmed
/// (``ConfirmedClock``). The rules ignore them. They become valid again if the clock is set back.
struct ExpiredCookies {
    /// How many a partition has at most if its jar has no limit.
    private static let limitWithoutLimit = 100_000

    private var cookies: [Cookie.ID: Cookie] = [:]
    private var latestExpiry = Timestamp(microseconds: .min)

    /// The number of cookies.
    var count: Int { cookies.count }

    /// Whether one of them has not expired at `now`, because the clock was set back.
    func areValid(at now: Timestamp) -> Bool {
        !cookies.isEmpty && latestExpiry >= now
    }

    /// Adds cookies that have expired.
    mutating func insert(_ expired: [Cookie]) {
        for cookie in expired {
            cookies[cookie.id] = cookie.with(value: [])
            if let expiry = cookie.expiry { latestExpiry = max(latestExpiry, expiry) }
        }
    }

    /// Removes a cookie whose row the caller is about to change.
    ///
    /// - Returns: whether the cookie was among the expired ones.
    mutating func remove(_ id: Cookie.ID) -> Bool {
        cookies.removeValue(forKey: id) != nil
    }

    /// Removes the cookies that need not be kept: those that had expired by the confirmed time, and, if a partition has
    /// more than twice as many as its jar's limit for live cookies, the shortest-lived ones. So a server that sets
    /// short-lived cookies under ever new names neither fills the disk nor displaces long-lived cookies.
    ///
    /// Complexity: O(*n* log *n*), where *n* is the number of cookies.
    mutating func removeUnneeded(_ confirmed: Timestamp?, _ limits: CookieLimits) -> [Cookie] {
        var gone = confirmed.map { time in cookies.values.filter { $0.isExpired(at: time) } } ?? []
        for cookie in gone { cookies[cookie.id] = nil }
        for (key, group) in Dictionary(grouping: cookies.values, by: \.id.partitionKey) {
            let limit = key == nil ? limits.domainCookies : limits.partitionCookies
            let room = (limit ?? ExpiredCookies.limitWithoutLimit / 2) * 2
            guard group.count > room else { continue }
            // Removes some more than needed, so that the next ones have room.
            let order = group.sorted { ($0.lifetime, $0.sequence) < ($1.lifetime, $1.sequence) }
            let excess = order.prefix(group.count - room / 4 * 3)
            for cookie in excess { cookies[cookie.id] = nil }
            gone += excess
        }
        return gone
    }
}

extension Cookie {
    /// The lifetime of the cookie, in microseconds.
    fileprivate var lifetime: Int64 {
        guard let expiry else { return .max }
        let (lifetime, isTooLong) = expiry.microseconds.subtractingReportingOverflow(creation.microseconds)
        return isTooLong ? .max : lifetime
    }
}
