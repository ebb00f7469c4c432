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

    let database: Database
    let jarID: Int64

    /// The cookies of one registrable domain.
    func cookies(site: Octets) throws -> [Cookie] {
        let statement = try RowStatement(
            database, "SELECT \(CookieRows.columns) FROM cookie WHERE jar_id = ? AND site = ?")
        statement.bind(1, jarID)
        statement.bind(2, site)
        return try CookieRows.collect(statement)
    }

    /// All cookies of the jar, by site.
    func allCookies() throws -> [Cookie] {
        let statement = try RowStatement(
            database, "SELECT \(CookieRows.columns) FROM cookie WHERE jar_id = ? ORDER BY site, sequence")
        statement.bind(1, jarID)
        return try CookieRows.collect(statement)
    }

    /// The Secure cookies of that name in the registrable domains below `site`. Reads the whole jar.
    func secureCookies(named name: Octets, below site: Octets) throws -> [Cookie] {
        let statement = try RowStatement(
            database,
            """
            SELECT \(CookieRows.columns) FROM cookie
            WHERE jar_id = ?1 AND name = ?2 AND secure = 1
                AND substr(site, -length(?3) - 1) = CAST('.' || ?3 AS BLOB)
            """)
        statement.bind(1, jarID)
        statement.bind(2, name)
        statement.bind(3, site)
        return try CookieRows.collect(statement)
    }

    /// The highest place in the order of creation that was given out.
    func lastSequence() throws -> Int64 {
        let statement = try RowStatement(database, "SELECT max(sequence) FROM cookie WHERE jar_id = ?")
        defer { statement.reset() }
        statement.bind(1, jarID)
        return try statement.step() ? statement.int64(0) : 0
    }

    /// Stores a cookie in the place of the one with the same ID.
    func upsert(_ cookie: Cookie, sealedValue: [UInt8], site: Octets) throws {
        let statement = try RowStatement(
            database,
            """
            INSERT INTO cookie (jar_id, site, \(CookieRows.columns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (jar_id, site, domain, path, name, host_only, partition_key) DO UPDATE SET
                value = excluded.value, secure = excluded.secure, http_only = excluded.http_only,
                same_site = excluded.same_site, expires_at = excluded.expires_at, created_at = excluded.created_at,
                sequence = excluded.sequence, last_access_at = excluded.last_access_at
            """)
        statement.bind(1, jarID)
        statement.bind(2, site)
        bindIdentity(cookie.id, to: statement, from: 3)
        statement.bind(8, sealedValue)
        statement.bind(9, cookie.isSecure)
        statement.bind(10, cookie.isHTTPOnly)
        statement.bind(11, Int64(cookie.sameSite.rawValue))
        statement.bind(12, cookie.expiry?.microseconds)
        statement.bind(13, cookie.creation.microseconds)
        statement.bind(14, cookie.sequence)
        statement.bind(15, cookie.lastAccess.microseconds)
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
        bindIdentity(id, to: statement, from: 3)
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
        bindIdentity(id, to: statement, from: 3)
        statement.bind(8, now.microseconds)
        try statement.run()
    }

    private func bindIdentity(_ id: Cookie.ID, to statement: RowStatement, from index: Int32) {
        statement.bind(index, id.domain.octets)
        statement.bind(index + 1, id.path)
        statement.bind(index + 2, id.name)
        statement.bind(index + 3, id.isHostOnly)
        statement.bind(index + 4, text: id.partitionKey?.serialized ?? "")
    }

    private static func collect(_ statement: RowStatement) throws -> [Cookie] {
        defer { statement.reset() }
        var cookies: [Cookie] = []
        while try statement.step() {
            let domain = Octets(statement.bytes(0))
            let id = Cookie.ID(
                name: Octets(statement.bytes(2)), domain: WebHost(stored: domain), isHostOnly: statement.int64(3) != 0,
                path: Octets(statement.bytes(1)), partitionKey: PartitionKey(serialized: statement.text(4)))
            cookies.append(
                Cookie(
                    id: id, value: Octets(statement.bytes(5)), isSecure: statement.int64(6) != 0,
                    isHTTPOnly: statement.int64(7) != 0,
                    sameSite: SameSite(rawValue: UInt8(truncatingIfNeeded: statement.int64(8))) ?? .strict,
                    expiry: statement.optionalInt64(9).map(Timestamp.init(microseconds:)),
                    creation: Timestamp(microseconds: statement.int64(10)),
                    lastAccess: Timestamp(microseconds: statement.int64(12)), sequence: statement.int64(11)))
        }
        return cookies
    }
}
