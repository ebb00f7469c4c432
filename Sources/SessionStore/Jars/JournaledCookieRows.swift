internal import CookieModel
internal import GRDB

/// The `cookie` table as a whole jar is handled: copied, merged, cleared.
///
/// Every function does one kind of change, and writes it into the journal.
struct JournaledCookieRows {
    let rows: CookieRows

    private var journal: ChangeRows { ChangeRows(database: rows.database, jarID: rows.jarID) }

    init(database: Database, jarID: Int64) {
        rows = CookieRows(database: database, jarID: jarID)
    }

    /// Stores a cookie that the jar does not have. Its value is sealed for this jar.
    ///
    /// - Parameter overExpired: whether the row of an expired cookie with the same ID is still there.
    func insert(_ stored: StoredCookie, overExpired: Bool = false, now: Timestamp) throws {
        let (cookie, site) = (stored.cookie, stored.site)
        if overExpired {
            try rows.replace(with: cookie, sealedValue: cookie.value, site: site, source: stored.source)
        } else {
            try rows.insert(cookie, sealedValue: cookie.value, site: site, source: stored.source)
        }
        try journal.append(.stored, [(stored.cookie.id, stored.site, nil)], now: now)
    }

    /// Stores a cookie in the place of the one with the same ID. Its value is sealed for this jar.
    func replace(with stored: StoredCookie, now: Timestamp) throws {
        try rows.replace(
            with: stored.cookie, sealedValue: stored.cookie.value, site: stored.site, source: stored.source)
        try journal.append(.replaced, [(stored.cookie.id, stored.site, nil)], now: now)
    }

    /// Removes a cookie that a person does not want.
    func remove(_ id: Cookie.ID, site: Octets, now: Timestamp) throws {
        try rows.delete(id, site: site)
        try journal.append(.removed, [(id, site, nil)], now: now)
    }

    /// Removes a cookie that makes room.
    func evict(_ id: Cookie.ID, site: Octets, now: Timestamp) throws {
        try rows.delete(id, site: site)
        try journal.append(.evicted, [(id, site, nil)], now: now)
    }

    /// Removes an expired cookie.
    func removeExpired(_ cookie: Cookie, site: Octets, now: Timestamp) throws {
        try rows.delete(cookie.id, site: site)
        try journal.append(.expired, [(cookie.id, site, cookie.expiry)], now: now)
    }

    /// Removes what had expired by a time that is confirmed, ``ConfirmedClock``.
    ///
    /// - Returns: how many cookies went.
    func removeExpired(before confirmed: Timestamp, now: Timestamp) throws -> Int {
        let statement = try deletion(where: "expires_at < ?2")
        statement.bind(2, confirmed.microseconds)
        return try journal.append(.expired, returnedBy: statement, now: now)
    }

    /// Removes the cookies that end with the session.
    ///
    /// - Returns: how many cookies went.
    func removeSessionCookies(now: Timestamp) throws -> Int {
        try journal.append(.removed, returnedBy: try deletion(where: "expires_at IS NULL"), now: now)
    }

    /// Removes every cookie.
    ///
    /// - Returns: how many cookies went.
    func removeAll(now: Timestamp) throws -> Int {
        try journal.append(.removed, returnedBy: try deletion(where: "true"), now: now)
    }

    private func deletion(where condition: String) throws -> RowStatement {
        let statement = try RowStatement(
            rows.database, "DELETE FROM cookie WHERE jar_id = ?1 AND \(condition) RETURNING \(ChangeRows.changeColumns)"
        )
        statement.bind(1, rows.jarID)
        return statement
    }
}
