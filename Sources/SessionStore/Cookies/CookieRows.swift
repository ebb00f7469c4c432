package import CookieModel

/// Rows of the `cookie` table. It stores the decisions of the policy and applies no rules.
///
/// Cookies read here carry their sealed value; ``CookieJar`` opens those that are needed.
struct CookieRows {
    /// The columns of a `Cookie`.
    static let columns = CookieColumns.list(CookieColumns.ofCookie)
    /// The columns of a ``StoredCookie``.
    private static let rowColumns = "\(columns), site, capture_id, source_url, received_at"

    /// The query for the cookies of one registrable domain, for ``cookies(site:ofJar:by:_:)``.
    static let siteQuery = "SELECT \(columns) FROM cookie WHERE jar_id = ? AND site = ?"

    let database: Connection
    let jarID: Int64

    /// The cookies of one registrable domain.
    func cookies(site: Octets) throws -> SiteCookies {
        var scratch = SiteCookies.scratch
        return try CookieRows.cookies(
            site: site, ofJar: jarID, by: try database.statement(CookieRows.siteQuery), &scratch)
    }

    /// Reads the cookies of one registrable domain by ``siteQuery``, prepared on any connection.
    ///
    /// - Parameter scratch: storage to collect them in, so that the result is only as long as necessary.
    static func cookies(
        site: Octets, ofJar id: Int64, by statement: Statement, _ scratch: inout SiteCookies
    ) throws -> SiteCookies {
        statement.bind(1, id)
        statement.bind(2, site)
        defer { statement.reset() }
        do {
            while try statement.step() {
                scratch.append(
                    domain: statement.borrowedBytes(0), path: statement.borrowedBytes(1),
                    name: statement.borrowedBytes(2), partitionKey: statement.borrowedBytes(4),
                    sealedValue: statement.borrowedBytes(5), isHostOnly: statement.int64(3) != 0,
                    attributes: statement.attributes(6),
                    sameSite: statement.sameSite(8), expiry: statement.optionalTimestamp(9),
                    creation: statement.timestamp(10), lastAccess: statement.timestamp(12),
                    sequence: statement.int64(11))
            }
        } catch {
            _ = scratch.takeAll()
            throw error
        }
        return scratch.takeAll()
    }

    /// All cookies of the jar, by site.
    func allCookies() throws -> [Cookie] {
        try database.statement("SELECT \(CookieRows.columns) FROM cookie WHERE jar_id = ? ORDER BY site, sequence")
            .rows(jarID) { CookieRows.cookie($0) }
    }

    /// A part of the jar: the cookies after a position in the order of sites and, within a site, of creation.
    ///
    /// - Parameter count: how many cookies there are at most.
    /// - Complexity: O(*n* log *n*), where *n* is the number of cookies of the part's sites.
    func rows(after site: Octets, _ sequence: Int64, count: Int) throws -> [StoredCookie] {
        try database.statement(
            """
            SELECT \(CookieRows.rowColumns) FROM cookie
            WHERE jar_id = ?1 AND site >= ?2 AND (site > ?2 OR sequence > ?3) ORDER BY site, sequence LIMIT ?4
            """
        ).rows(jarID, site, sequence, count) { CookieRows.storedCookie($0) }
    }

    /// The registrable domains below the registrable domain `site` that have cookies. Reads the whole jar.
    func sites(below site: Octets) throws -> [Octets] {
        let end = [UInt8(ascii: ".")] + site.bytes
        return try database.statement(
            """
            SELECT DISTINCT site FROM cookie
            WHERE jar_id = ?1 AND length(site) >= ?3 AND substr(site, length(site) - ?3 + 1) = ?2
            """
        ).rows(jarID, end, end.count) { Octets($0.bytes(0)) }
    }

    /// The number of cookies, expired ones included. Reads the whole jar.
    func count() throws -> Int {
        try database.statement("SELECT count(*) FROM cookie WHERE jar_id = ?").first(jarID) { Int($0.int64(0)) } ?? 0
    }

    /// The numbers of unexpired and of expired cookies. Reads the whole jar.
    func counts(now: Timestamp) throws -> (live: Int, expired: Int) {
        try database.statement("SELECT count(*), count(*) FILTER (WHERE expires_at < ?2) FROM cookie WHERE jar_id = ?1")
            .first(jarID, now) { (Int($0.int64(0) - $0.int64(1)), Int($0.int64(1))) } ?? (0, 0)
    }

    /// The registrable domains that have cookies. Reads the whole jar.
    func sites() throws -> [Octets] {
        try database.statement("SELECT DISTINCT site FROM cookie WHERE jar_id = ? ORDER BY site")
            .rows(jarID) { Octets($0.bytes(0)) }
    }

    /// The hosts that have cookies, each with its registrable domain. Reads the whole jar.
    func hosts() throws -> [(site: Octets, host: WebHost)] {
        try database.statement("SELECT DISTINCT site, domain FROM cookie WHERE jar_id = ?").rows(jarID) { row in
            (Octets(row.bytes(0)), WebHost(stored: Octets(row.bytes(1))))
        }
    }

    /// When a cookie last changed, as ``StoredCookie/lastUpdate``.
    static let lastUpdate = "coalesce(received_at, created_at)"

    /// How much each registrable domain has, without expired cookies. Reads the whole jar, but opens no value.
    ///
    /// - Parameter time: counts only cookies that last changed at that time or later.
    func usage(since time: Timestamp, now: Timestamp) throws -> [CookieUsage] {
        try database.statement(
            """
            SELECT site, count(*), sum(length(name) + length(value) - \(Sealer.overhead)), max(\(CookieRows.lastUpdate))
            FROM cookie
            WHERE jar_id = ?1 AND \(CookieRows.lastUpdate) >= ?2 AND (expires_at IS NULL OR expires_at >= ?3)
            GROUP BY site ORDER BY site
            """
        ).rows(jarID, time, now) { row in
            CookieUsage(
                site: Octets(row.bytes(0)), cookies: Int(row.int64(1)), octets: Int(row.int64(2)),
                lastUpdate: row.timestamp(3))
        }
    }

    /// The complete rows of one registrable domain, in the order of creation.
    func rows(site: Octets) throws -> [StoredCookie] {
        try database.statement(
            "SELECT \(CookieRows.rowColumns) FROM cookie WHERE jar_id = ? AND site = ? ORDER BY created_at, sequence"
        ).rows(jarID, site) { CookieRows.storedCookie($0) }
    }

    /// All complete rows, by site.
    func allRows() throws -> [StoredCookie] {
        try sites().flatMap(rows)
    }

    /// The complete rows of the cookies that the total limit removes first, without expired ones. First come those
    /// known only from requests, then the least recently used ones. Reads the whole jar.
    func leastRecentlyUsed(_ count: Int, now: Timestamp) throws -> [StoredCookie] {
        try first(
            count, where: "(expires_at IS NULL OR expires_at >= ?3)",
            by: """
                coalesce((SELECT from_requests FROM capture WHERE capture.jar_id = ?1 AND id = capture_id), 0) DESC, last_access_at,
                created_at, sequence
                """, now)
    }

    /// The complete rows of the expired cookies that had the shortest lifetime. Reads the whole jar.
    func shortestLivedExpired(_ count: Int, now: Timestamp) throws -> [StoredCookie] {
        try first(count, where: "expires_at < ?3", by: "expires_at - created_at, sequence", now)
    }

    private func first(
        _ count: Int, where condition: String, by order: String, _ now: Timestamp
    ) throws -> [StoredCookie] {
        try database.statement(
            """
            SELECT \(CookieRows.rowColumns) FROM cookie WHERE jar_id = ?1 AND \(condition) ORDER BY \(order) LIMIT ?2
            """
        ).rows(jarID, count, now) { CookieRows.storedCookie($0) }
    }

    static let insertion = """
        INSERT INTO cookie (jar_id, \(CookieColumns.list(CookieColumns.all)))
        VALUES (?\(String(repeating: ", ?", count: CookieColumns.all.count)))
        """

    static let update = """
        UPDATE cookie
        SET \(CookieColumns.parameters(CookieColumns.content + CookieColumns.source, separator: ", "))
        WHERE \(isCookie)
        """

    static let deletion = "DELETE FROM cookie WHERE \(isCookie)"

    /// That the row is the one of a jar, a site and an ID: the first seven parameters.
    static let isCookie = "jar_id = ?1 AND \(CookieColumns.parameters(CookieColumns.identity, separator: " AND "))"

    /// Stores a cookie that the jar does not have.
    ///
    /// No "upsert" does this and ``replace(with:sealedValue:site:source:)`` in one: because of the foreign keys, a
    /// statement that may do both keeps copies of the pages that it changes, and takes 50 % longer.
    func insert(
        _ cookie: borrowing Cookie, sealedValue: Octets, site: Octets, source: borrowing StoredCookie.Source
    ) throws {
        try run(.insertion, cookie, sealedValue, site, source)
    }

    /// Replaces the cookie with the same ID.
    func replace(
        with cookie: borrowing Cookie, sealedValue: Octets, site: Octets, source: borrowing StoredCookie.Source
    ) throws {
        try run(.update, cookie, sealedValue, site, source)
    }

    private func run(
        _ kind: CookieRowChanges.Kind, _ cookie: borrowing Cookie, _ sealedValue: Octets, _ site: Octets,
        _ source: borrowing StoredCookie.Source
    ) throws {
        var changes = CookieRowChanges()
        changes.append(kind, cookie.with(value: sealedValue), site: site, source: source, jarID: jarID)
        try run(changes)
    }

    /// Removes the cookie with that ID.
    func delete(_ id: Cookie.ID, site: Octets) throws {
        var changes = CookieRowChanges()
        changes.appendDeletion(id, site: site, jarID: jarID)
        try run(changes)
    }

    /// Makes changes whose values are sealed, in order.
    private func run(_ changes: CookieRowChanges) throws {
        try changes.forEach { change in try change.run(try statement(change.kind), sealedValue: nil) }
    }

    /// The statement for a kind of change.
    func statement(_ kind: CookieRowChanges.Kind) throws -> Statement {
        switch kind {
        case .insertion: try database.statement(.insertCookie)
        case .update: try database.statement(.updateCookie)
        case .deletion: try database.statement(.deleteCookie)
        }
    }

    /// When the response that set the cookie's value came; `nil` if that is unknown.
    func received(_ id: Cookie.ID, site: Octets) throws -> Timestamp? {
        try database.statement("SELECT received_at FROM cookie WHERE \(CookieRows.isCookie)")
            .first(jarID, site, id) { $0.optionalTimestamp(0) }
    }

    /// Records when a cookie was last sent. An earlier time than the recorded one changes nothing: notes are written after
    /// the answers, in any order.
    func touch(_ id: Cookie.ID, site: Octets, now: Timestamp) throws {
        try database.statement(
            "UPDATE cookie SET last_access_at = max(last_access_at, ?8) WHERE \(CookieRows.isCookie)"
        ).run(jarID, site, id, now)
    }

    /// The current row, which has ``rowColumns``.
    private static func storedCookie(_ row: Statement) -> StoredCookie {
        let source = StoredCookie.Source(
            captureID: row.optionalInt64(14), url: row.isNull(15) ? nil : Octets(row.bytes(15)),
            received: row.optionalTimestamp(16))
        return StoredCookie(cookie: cookie(row), site: Octets(row.bytes(13)), source: source)
    }

    /// The cookie of the current row, which has ``columns`` from `column` on.
    static func cookie(_ statement: Statement, from column: Int32 = 0) -> Cookie {
        cookie(statement, from: column, value: Octets(statement.bytes(column + 5)))
    }

    private static func cookie(_ statement: Statement, from column: Int32 = 0, value: Octets) -> Cookie {
        Cookie(
            id: statement.identity(column), value: value, attributes: statement.attributes(column + 6),
            sameSite: statement.sameSite(column + 8), expiry: statement.optionalTimestamp(column + 9),
            creation: statement.timestamp(column + 10), lastAccess: statement.timestamp(column + 12),
            sequence: statement.int64(column + 11))
    }
}

/// Cookies in the form that limits need: with the length of the value instead of the value, so that no value is read or
/// opened.
extension CookieRows {
    private static let outlineColumns = CookieColumns.ofCookie.map {
        $0.name == "value" ? "length(value)" : $0.name
    }.joined(separator: ", ")

    static let outlineQuery = """
        SELECT \(outlineColumns), CASE WHEN capture_id IS NOT NULL
                AND (SELECT from_requests FROM capture WHERE capture.jar_id = ?1 AND id = capture_id) = 1
                THEN coalesce(source_url, '') END,
            received_at FROM cookie WHERE jar_id = ?1 AND site = ?2
        """

    /// The cookies of one registrable domain, each with a placeholder of the same length as its value.
    func outlines(site: Octets) throws -> [Cookie] {
        try database.statement(.cookieOutlines).rows(jarID, site) { row in
            var cookie = CookieRows.cookie(
                row, value: blank(Sealer.openedCount(Int(row.int64(5)))))
            if !row.isNull(13) {
                cookie.request = CookieRequest(time: row.optionalTimestamp(14), url: row.text(13))
            }
            return cookie
        }
    }

    private func blank(_ count: Int) -> Octets {
        count <= zeros.count ? zeros[0..<count] : Octets(Array(repeating: 0, count: count))
    }
}

extension CookieRequest {
    /// The request as a row describes it.
    package convenience init(time: Timestamp?, url: String?) {
        self.init(time: time ?? .distantPast, path: (url.flatMap { try? RequestURL($0) })?.path ?? "/")
    }
}

/// Shared by the values of all outlines. Name and value of a cookie from a response have at most 4096 octets.
private let zeros = Octets(Array(repeating: 0, count: 4096))

/// A row of the `cookie` table: the cookie with its value sealed, its site, and where the value came from.
struct StoredCookie {
    /// The cookie, its value sealed.
    var cookie: Cookie
    /// The registrable domain.
    let site: Octets
    /// Where the value came from.
    var source: Source

    /// The origin of a row's value.
    struct Source {
        /// The capture that contained the value; `nil` for a live response.
        var captureID: Int64?
        /// The URL that set it, without its query.
        let url: Octets?
        /// When the response that set it came.
        var received: Timestamp?
        /// When the response was complete, if that was later. It is not stored in a row.
        var answered: Timestamp?
    }

    /// When the cookie last changed: when the response came, or if that is unknown, when the cookie was created.
    var lastUpdate: Timestamp { source.received ?? cookie.creation }
}
