internal import CookieModel
internal import GRDB

/// The `cookie` table: rows in and out. Stores what the policy decided and knows no rule.
///
/// Cookies read here carry their sealed value; ``CookieJar`` opens those that are wanted.
struct CookieRows {
    private static let columns = """
        domain, path, name, host_only, partition_key, value, secure, http_only, same_site, expires_at, created_at,
        sequence, last_access_at
        """
    /// The columns of a ``StoredCookie``.
    private static let rowColumns = "\(columns), site, capture_id, source_url, received_at"

    /// The query for the cookies of one registrable domain, for ``cookies(site:ofJar:by:)``.
    static let siteQuery = "SELECT \(columns) FROM cookie WHERE jar_id = ? AND site = ?"

    let database: Database
    let jarID: Int64

    /// The cookies of one registrable domain.
    func cookies(site: Octets) throws -> [Cookie] {
        try CookieRows.cookies(site: site, ofJar: jarID, by: try RowStatement(database, CookieRows.siteQuery))
    }

    /// The cookies of one registrable domain by ``siteQuery``, prepared on any connection.
    static func cookies(site: Octets, ofJar id: Int64, by statement: RowStatement) throws -> [Cookie] {
        statement.bind(1, id)
        statement.bind(2, site)
        return try collect(statement)
    }

    /// All cookies of the jar, by site.
    func allCookies() throws -> [Cookie] {
        let statement = try RowStatement(
            database, "SELECT \(CookieRows.columns) FROM cookie WHERE jar_id = ? ORDER BY site, sequence")
        statement.bind(1, jarID)
        return try CookieRows.collect(statement)
    }

    /// The registrable domains below `site`, which is one itself, that have cookies. Reads the whole jar.
    func sites(below site: Octets) throws -> [Octets] {
        let statement = try RowStatement(
            database,
            """
            SELECT DISTINCT site FROM cookie
            WHERE jar_id = ?1 AND substr(site, -length(?2) - 1) = CAST('.' || ?2 AS BLOB)
            """)
        statement.bind(1, jarID)
        statement.bind(2, site)
        return try statement.allOctets()
    }

    /// The number of cookies, expired ones included. Reads the whole jar.
    func count() throws -> Int {
        let statement = try RowStatement(database, "SELECT count(*) FROM cookie WHERE jar_id = ?")
        defer { statement.reset() }
        statement.bind(1, jarID)
        return try statement.step() ? Int(statement.int64(0)) : 0
    }

    /// The registrable domains that have cookies. Reads the whole jar.
    func sites() throws -> [Octets] {
        let statement = try RowStatement(database, "SELECT DISTINCT site FROM cookie WHERE jar_id = ? ORDER BY site")
        statement.bind(1, jarID)
        return try statement.allOctets()
    }

    /// The whole rows of one registrable domain, in the order of creation.
    func rows(site: Octets) throws -> [StoredCookie] {
        let statement = try RowStatement(
            database,
            "SELECT \(CookieRows.rowColumns) FROM cookie WHERE jar_id = ? AND site = ? ORDER BY created_at, sequence")
        statement.bind(1, jarID)
        statement.bind(2, site)
        return try CookieRows.collectRows(statement)
    }

    /// All whole rows, by site.
    func allRows() throws -> [StoredCookie] {
        try sites().flatMap(rows)
    }

    /// The whole rows of the cookies that were not used for longest. Reads the whole jar.
    func leastRecentlyUsed(_ count: Int) throws -> [StoredCookie] {
        let statement = try RowStatement(
            database,
            """
            SELECT \(CookieRows.rowColumns) FROM cookie WHERE jar_id = ?
            ORDER BY last_access_at, created_at, sequence LIMIT ?
            """)
        statement.bind(1, jarID)
        statement.bind(2, Int64(count))
        return try CookieRows.collectRows(statement)
    }

    /// Where a cookie's value came from.
    func origin(of id: Cookie.ID, site: Octets) throws -> CookieOrigin? {
        let statement = try RowStatement(
            database,
            """
            SELECT capture.name, source_url, received_at FROM cookie LEFT JOIN capture ON capture.id = capture_id
            WHERE cookie.jar_id = ? AND site = ? AND domain = ? AND path = ? AND cookie.name = ? AND host_only = ?
                AND partition_key = ?
            """)
        defer { statement.reset() }
        statement.bind(1, jarID)
        statement.bind(2, site)
        statement.bind(3, identity: id)
        guard try statement.step() else { return nil }
        return CookieOrigin(
            capture: statement.isNull(0) ? nil : statement.text(0),
            url: statement.isNull(1) ? nil : statement.text(1),
            received: statement.optionalTimestamp(2))
    }

    /// Stores a cookie in the place of the one with the same ID.
    func upsert(_ cookie: Cookie, sealedValue: Octets, site: Octets, source: StoredCookie.Source) throws {
        let statement = try RowStatement(
            database,
            """
            INSERT INTO cookie (jar_id, site, \(CookieRows.columns), capture_id, source_url, received_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (jar_id, site, domain, path, name, host_only, partition_key) DO UPDATE SET
                value = excluded.value, secure = excluded.secure, http_only = excluded.http_only,
                same_site = excluded.same_site, expires_at = excluded.expires_at, created_at = excluded.created_at,
                sequence = excluded.sequence, last_access_at = excluded.last_access_at,
                capture_id = excluded.capture_id, source_url = excluded.source_url,
                received_at = excluded.received_at
            """)
        statement.bind(1, jarID)
        statement.bind(2, site)
        statement.bind(3, identity: cookie.id)
        statement.bind(8, sealedValue)
        statement.bind(9, cookie.isSecure)
        statement.bind(10, cookie.isHTTPOnly)
        statement.bind(11, Int64(cookie.sameSite.rawValue))
        statement.bind(12, cookie.expiry?.microseconds)
        statement.bind(13, cookie.creation.microseconds)
        statement.bind(14, cookie.sequence)
        statement.bind(15, cookie.lastAccess.microseconds)
        statement.bind(16, source.captureID)
        statement.bind(17, text: source.url)
        statement.bind(18, source.received?.microseconds)
        try statement.run()
    }

    /// Removes the cookie with that ID.
    func delete(_ id: Cookie.ID, site: Octets) throws {
        let statement = try RowStatement(
            database,
            """
            DELETE FROM cookie WHERE jar_id = ? AND site = ? AND domain = ? AND path = ? AND name = ?
                AND host_only = ? AND partition_key = ?
            """)
        statement.bind(1, jarID)
        statement.bind(2, site)
        statement.bind(3, identity: id)
        try statement.run()
    }

    /// Removes the expired cookies of one site.
    func deleteExpired(site: Octets, now: Timestamp) throws {
        let statement = try RowStatement(
            database, "DELETE FROM cookie WHERE jar_id = ? AND site = ? AND expires_at < ?")
        statement.bind(1, jarID)
        statement.bind(2, site)
        statement.bind(3, now.microseconds)
        try statement.run()
    }

    /// Notes when a cookie was last sent.
    func touch(_ id: Cookie.ID, site: Octets, now: Timestamp) throws {
        let statement = try RowStatement(
            database,
            """
            UPDATE cookie SET last_access_at = ?8 WHERE jar_id = ?1 AND site = ?2 AND domain = ?3 AND path = ?4
                AND name = ?5 AND host_only = ?6 AND partition_key = ?7
            """)
        statement.bind(1, jarID)
        statement.bind(2, site)
        statement.bind(3, identity: id)
        statement.bind(8, now.microseconds)
        try statement.run()
    }

    private static func collect(_ statement: RowStatement) throws -> [Cookie] {
        defer { statement.reset() }
        var cookies: [Cookie] = []
        while try statement.step() { cookies.append(cookie(statement)) }
        return cookies
    }

    private static func collectRows(_ statement: RowStatement) throws -> [StoredCookie] {
        defer { statement.reset() }
        var rows: [StoredCookie] = []
        while try statement.step() {
            let source = StoredCookie.Source(
                captureID: statement.optionalInt64(14),
                url: statement.isNull(15) ? nil : Octets(statement.bytes(15)),
                received: statement.optionalTimestamp(16))
            rows.append(
                StoredCookie(cookie: cookie(statement), site: Octets(statement.bytes(13)), source: source))
        }
        return rows
    }

    /// The cookie of the row at hand, which begins with ``columns``.
    private static func cookie(_ statement: RowStatement) -> Cookie {
        let (domain, path, name, value) = statement.octets(0, 1, 2, 5)
        return Cookie(
            id: Cookie.ID(
                name: name, domain: WebHost(stored: domain), isHostOnly: statement.int64(3) != 0, path: path,
                partitionKey: statement.partitionKey(4)),
            value: value, isSecure: statement.int64(6) != 0, isHTTPOnly: statement.int64(7) != 0,
            sameSite: statement.sameSite(8), expiry: statement.optionalTimestamp(9),
            creation: statement.timestamp(10), lastAccess: statement.timestamp(12), sequence: statement.int64(11))
    }
}
