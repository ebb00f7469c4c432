internal import CookieModel
internal import GRDB

/// The `cookie` table as a whole jar is handled: copied, merged, cleared. Whole rows, with where values came from.
///
/// Every function that writes does one kind of change, and writes it into the journal.
struct StoredCookieRows {
    private static let identity = "site, domain, path, name, host_only, partition_key"
    private static let content = """
        value, secure, http_only, same_site, expires_at, created_at, sequence, last_access_at, capture_id, source_url,
        received_at
        """

    let database: Database
    let jarID: Int64

    private var journal: ChangeRows { ChangeRows(database: database, jarID: jarID) }

    // MARK: Reading

    /// The registrable domains that have cookies.
    func sites() throws -> [Octets] {
        let statement = try RowStatement(database, "SELECT DISTINCT site FROM cookie WHERE jar_id = ? ORDER BY site")
        defer { statement.reset() }
        statement.bind(1, jarID)
        var sites: [Octets] = []
        while try statement.step() { sites.append(Octets(statement.bytes(0))) }
        return sites
    }

    /// The cookies of one registrable domain, in the order of their creation.
    func cookies(site: Octets) throws -> [StoredCookie] {
        let statement = try RowStatement(
            database,
            """
            SELECT \(StoredCookieRows.identity), \(StoredCookieRows.content) FROM cookie
            WHERE jar_id = ? AND site = ? ORDER BY created_at, sequence
            """)
        statement.bind(1, jarID)
        statement.bind(2, site)
        return try StoredCookieRows.collect(statement)
    }

    /// All cookies, by site.
    func allCookies() throws -> [StoredCookie] {
        try sites().flatMap(cookies)
    }

    /// The number of cookies, expired ones included.
    func count() throws -> Int {
        let statement = try RowStatement(database, "SELECT count(*) FROM cookie WHERE jar_id = ?")
        defer { statement.reset() }
        statement.bind(1, jarID)
        return try statement.step() ? Int(statement.int64(0)) : 0
    }

    /// The cookies that were not used for longest.
    func leastRecentlyUsed(_ count: Int) throws -> [StoredCookie] {
        let statement = try RowStatement(
            database,
            """
            SELECT \(StoredCookieRows.identity), \(StoredCookieRows.content) FROM cookie
            WHERE jar_id = ? ORDER BY last_access_at, created_at, sequence LIMIT ?
            """)
        statement.bind(1, jarID)
        statement.bind(2, Int64(count))
        return try StoredCookieRows.collect(statement)
    }

    // MARK: Writing

    /// Stores a cookie that the jar does not have. Its value is sealed for this jar.
    func insert(_ stored: StoredCookie, now: Timestamp) throws {
        try upsert(stored)
        try journal.append(.stored, [(stored.cookie.id, stored.site)], now: now)
    }

    /// Stores a cookie in the place of the one with the same ID. Its value is sealed for this jar.
    func replace(with stored: StoredCookie, now: Timestamp) throws {
        try upsert(stored)
        try journal.append(.replaced, [(stored.cookie.id, stored.site)], now: now)
    }

    /// Removes a cookie that a person does not want.
    func remove(_ id: Cookie.ID, site: Octets, now: Timestamp) throws {
        try delete(id, site: site)
        try journal.append(.removed, [(id, site)], now: now)
    }

    /// Removes a cookie that makes room.
    func evict(_ id: Cookie.ID, site: Octets, now: Timestamp) throws {
        try delete(id, site: site)
        try journal.append(.evicted, [(id, site)], now: now)
    }

    /// Removes what has expired.
    ///
    /// - Returns: how many cookies went.
    @discardableResult
    func removeExpired(now: Timestamp) throws -> Int {
        let statement = try RowStatement(
            database,
            "DELETE FROM cookie WHERE jar_id = ? AND expires_at < ? RETURNING \(ChangeRows.identity)")
        statement.bind(1, jarID)
        statement.bind(2, now.microseconds)
        return try journal.append(.expired, returnedBy: statement, now: now)
    }

    /// Removes the cookies that end with the session.
    ///
    /// - Returns: how many cookies went.
    func removeSessionCookies(now: Timestamp) throws -> Int {
        let statement = try RowStatement(
            database, "DELETE FROM cookie WHERE jar_id = ? AND expires_at IS NULL RETURNING \(ChangeRows.identity)")
        statement.bind(1, jarID)
        return try journal.append(.removed, returnedBy: statement, now: now)
    }

    /// Removes every cookie.
    ///
    /// - Returns: how many cookies went.
    func removeAll(now: Timestamp) throws -> Int {
        let statement = try RowStatement(
            database, "DELETE FROM cookie WHERE jar_id = ? RETURNING \(ChangeRows.identity)")
        statement.bind(1, jarID)
        return try journal.append(.removed, returnedBy: statement, now: now)
    }

    private func upsert(_ stored: StoredCookie) throws {
        let statement = try RowStatement(
            database,
            """
            INSERT INTO cookie (jar_id, \(StoredCookieRows.identity), \(StoredCookieRows.content))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (jar_id, \(StoredCookieRows.identity)) DO UPDATE SET
                value = excluded.value, secure = excluded.secure, http_only = excluded.http_only,
                same_site = excluded.same_site, expires_at = excluded.expires_at, created_at = excluded.created_at,
                sequence = excluded.sequence, last_access_at = excluded.last_access_at,
                capture_id = excluded.capture_id, source_url = excluded.source_url, received_at = excluded.received_at
            """)
        let cookie = stored.cookie
        statement.bind(1, jarID)
        statement.bind(2, stored.site)
        bind(cookie.id, to: statement, from: 3)
        statement.bind(8, cookie.value)
        statement.bind(9, cookie.isSecure)
        statement.bind(10, cookie.isHTTPOnly)
        statement.bind(11, Int64(cookie.sameSite.rawValue))
        statement.bind(12, cookie.expiry?.microseconds)
        statement.bind(13, cookie.creation.microseconds)
        statement.bind(14, cookie.sequence)
        statement.bind(15, cookie.lastAccess.microseconds)
        statement.bind(16, stored.captureID)
        if let url = stored.sourceURL { statement.bind(17, text: url) } else { statement.bind(17, nil as Int64?) }
        statement.bind(18, stored.receivedAt?.microseconds)
        try statement.run()
    }

    private func delete(_ id: Cookie.ID, site: Octets) throws {
        let statement = try RowStatement(
            database,
            """
            DELETE FROM cookie WHERE jar_id = ? AND site = ? AND domain = ? AND path = ? AND name = ?
                AND host_only = ? AND partition_key = ?
            """)
        statement.bind(1, jarID)
        statement.bind(2, site)
        bind(id, to: statement, from: 3)
        try statement.run()
    }

    private func bind(_ id: Cookie.ID, to statement: RowStatement, from index: Int32) {
        statement.bind(index, id.domain.octets)
        statement.bind(index + 1, id.path)
        statement.bind(index + 2, id.name)
        statement.bind(index + 3, id.isHostOnly)
        statement.bind(index + 4, text: id.partitionKey?.serialized ?? "")
    }

    /// The rows of a statement that selects ``identity`` and ``content``.
    private static func collect(_ statement: RowStatement) throws -> [StoredCookie] {
        defer { statement.reset() }
        var found: [StoredCookie] = []
        while try statement.step() {
            let id = Cookie.ID(
                name: Octets(statement.bytes(3)), domain: WebHost(stored: Octets(statement.bytes(1))),
                isHostOnly: statement.int64(4) != 0, path: Octets(statement.bytes(2)),
                partitionKey: PartitionKey(serialized: statement.text(5)))
            let cookie = Cookie(
                id: id, value: Octets(statement.bytes(6)), isSecure: statement.int64(7) != 0,
                isHTTPOnly: statement.int64(8) != 0,
                sameSite: SameSite(rawValue: UInt8(truncatingIfNeeded: statement.int64(9))) ?? .strict,
                expiry: statement.optionalInt64(10).map(Timestamp.init(microseconds:)),
                creation: Timestamp(microseconds: statement.int64(11)),
                lastAccess: Timestamp(microseconds: statement.int64(13)), sequence: statement.int64(12))
            found.append(
                StoredCookie(
                    cookie: cookie, site: Octets(statement.bytes(0)), captureID: statement.optionalInt64(14),
                    sourceURL: statement.isNull(15) ? nil : statement.text(15),
                    receivedAt: statement.optionalInt64(16).map(Timestamp.init(microseconds:))))
        }
        return found
    }
}
