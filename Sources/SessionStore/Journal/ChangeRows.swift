internal import CookieModel
import StoreEngine

/// Rows of the `cookie_change` table: the journal of one jar.
struct ChangeRows {
    /// The default of ``limit``.
    static let defaultLimit: Int64 = 10_000
    /// The columns that a statement on cookies returns for ``append(_:returnedBy:now:)``.
    static let changeColumns = """
        cookie.site, cookie.domain, cookie.path, cookie.name, cookie.host_only, cookie.partition_key, cookie.expires_at
        """

    /// The largest position. The upper bits of an entry's ID are the jar's ID.
    private static let lastPosition: Int64 = 1 << 36 - 1

    /// The ID of a jar's newest entry, in a query on `jar`.
    private static let newest = """
        (SELECT id FROM cookie_change WHERE id BETWEEN jar.id << 36 AND (jar.id << 36) + \(lastPosition)
            ORDER BY id DESC LIMIT 1)
        """

    static let endQuery = """
        SELECT max(next_change, coalesce(position + 1, 0)),
            max(jar.next_sequence, coalesce(cookie_change.next_sequence, 0))
        FROM jar LEFT JOIN cookie_change ON cookie_change.id = \(newest) WHERE jar.id = ?
        """

    static let insertion = """
        INSERT INTO cookie_change
            (id, cause, changed_at, site, domain, path, name, host_only, partition_key, next_sequence, capture_id,
            source_url, ended_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    /// The ID of a jar's entry. For a position out of bounds, the ID of the first or last possible entry.
    static func id(_ position: Int64, ofJar jarID: Int64) -> Int64 {
        jarID << 36 + min(max(position, 0), lastPosition)
    }

    let database: Connection
    let jarID: Int64
    /// The minimum number of entries that a jar keeps. At most a tenth more exist.
    var limit = ChangeRows.defaultLimit

    /// The end of the jar's journal, after the newest entry or as the jar's own row states it, whichever is greater.
    func end() throws -> JournalEnd {
        try database.statement(.journalEnd).first(jarID) {
            JournalEnd(nextPosition: $0.int64(0), nextSequence: $0.int64(1))
        } ?? JournalEnd(nextPosition: 1, nextSequence: 1)
    }

    /// The position of the next entry, in a query on `jar`.
    static let nextPosition = "max(next_change, coalesce((\(newest) & \(lastPosition)) + 1, 0))"

    /// The position that the next entry gets: a query with the jar's id as its parameter.
    static let nextPositionQuery = "SELECT \(nextPosition) FROM jar WHERE jar.id = ?1"

    /// The positions of the first entry and of the next one; `nil` if the jar no longer exists.
    func bounds() throws -> (first: Int64, next: Int64)? {
        try database.statement(
            "SELECT first_change, (\(ChangeRows.nextPositionQuery)) FROM jar WHERE id = ?1"
        ).first(jarID) { ($0.int64(0), $0.int64(1)) }
    }

    /// Removes all but the newest entries. The end of the journal is kept in the jar's row, in case no entry stays.
    ///
    /// - Returns: how many were removed.
    func removeOldest(keeping count: Int64) throws -> Int {
        let end = try end()
        try database.statement("UPDATE jar SET next_change = ?, next_sequence = ? WHERE id = ?").run(
            end.nextPosition, end.nextSequence, jarID)
        return try remove(before: end.nextPosition - count)
    }

    /// Removes the oldest entries if many were added since the last removal.
    ///
    /// - Parameters:
    ///   - first: the position of the first entry of a transaction.
    ///   - next: the position after the transaction's last entry.
    func removeOldestNowAndThen(from first: Int64, to next: Int64) throws {
        // How many entries are added before the oldest ones are removed.
        let slack = max(1, limit / 10)
        guard first / slack != next / slack else { return }
        _ = try remove(before: next - limit)
    }

    /// Removes all entries of a removed jar.
    func removeAll() throws {
        _ = try remove(before: ChangeRows.lastPosition)
    }

    /// - Returns: how many were removed.
    private func remove(before position: Int64) throws -> Int {
        try database.statement("DELETE FROM cookie_change WHERE id >= ? AND id < ?").runCounting(
            ChangeRows.id(0, ofJar: jarID), ChangeRows.id(position, ofJar: jarID))
    }

    /// Writes one entry.
    ///
    /// - Parameters:
    ///   - source: the response that deleted or evicted the cookie; `nil` for other causes.
    ///   - ended: when the cookie was deleted or expired; `nil` for other causes.
    func insert(
        _ cause: CookieChange.Cause, _ id: Cookie.ID, site: Octets, source: StoredCookie.Source?, ended: Timestamp?,
        at position: Int64, now: Timestamp, nextSequence: Int64
    ) throws {
        let statement = try database.statement(.insertChange)
        statement.bind(1, ChangeRows.id(position, ofJar: jarID))
        statement.bind(2, cause.rawValue)
        statement.bind(3, now.microseconds)
        statement.bind(4, site)
        statement.bind(5, identity: id)
        statement.bind(10, nextSequence)
        statement.bind(11, source?.captureID)
        statement.bind(12, text: source?.url)
        statement.bind(13, ended?.microseconds)
        try statement.run()
    }

    /// Records the changes of one statement: the rows that it returns, which have ``changeColumns``.
    ///
    /// - Returns: the number of rows.
    @discardableResult
    func append(_ cause: CookieChange.Cause, returnedBy statement: Statement, now: Timestamp) throws -> Int {
        defer { statement.reset() }
        var changed: [(id: Cookie.ID, site: Octets, ended: Timestamp?)] = []
        while try statement.step() {
            let ended = cause == .expired ? statement.optionalTimestamp(6) : nil
            changed.append((statement.identity(1), Octets(statement.bytes(0)), ended))
        }
        try append(cause, changed, now: now)
        return changed.count
    }

    /// Records changes of one cause that were already made to the rows of the cookies.
    func append(
        _ cause: CookieChange.Cause, _ changed: [(id: Cookie.ID, site: Octets, ended: Timestamp?)], now: Timestamp
    ) throws {
        if cause != .replaced {
            for site in Set(changed.map(\.site)) {
                try JarSiteRows(database: database).refresh(site: site, jarID: jarID)
            }
        }
        var writer = ChangeWriter(self, now: now)
        for entry in changed { writer.append(cause, entry.id, site: entry.site, ended: entry.ended) }
        var end = try end()
        try writer.finish(&end)
    }

    /// The entries after `position`, at most `count`; `nil` if the jar no longer exists.
    func page(after position: Int64, count: Int) throws -> ChangePage? {
        guard let (start, next) = try bounds() else { return nil }
        let changes = try database.statement("\(ChangeRows.selection) ORDER BY cookie_change.id LIMIT ?4").rows(
            ChangeRows.id(position, ofJar: jarID), ChangeRows.id(ChangeRows.lastPosition, ofJar: jarID), jarID, count
        ) { ChangeRows.change($0) }
        // A position from the future is one of another database, and one from before the beginning of a jar that had this
        // name: everything may have changed.
        let isForeign = position >= next || position > 0 && position + 1 < start
        let last = changes.last?.position ?? next - 1
        return ChangePage(
            changes: changes, position: last,
            hasGap: isForeign || (changes.first?.position ?? next) > max(position + 1, start), hasMore: last + 1 < next)
    }

    /// The newest change of each cookie of a registrable domain, the latest first. Reads the whole journal of the jar,
    /// which has a limit.
    func latest(site: Octets) throws -> [CookieChange] {
        var known: Set<Cookie.ID> = []
        return try database.statement("\(ChangeRows.selection) AND site = ?4 ORDER BY cookie_change.id DESC").rows(
            ChangeRows.id(0, ofJar: jarID), ChangeRows.id(ChangeRows.lastPosition, ofJar: jarID), jarID, site
        ) { ChangeRows.change($0) }.filter { known.insert($0.cookie).inserted }
    }

    /// Selects the columns that ``change(_:)`` reads, for the entries after one ID up to another, with the captures of
    /// a jar, `?3`. Append conditions and an order.
    private static let selection = """
        SELECT position, cause, changed_at, domain, path, cookie_change.name, host_only, partition_key, capture.name,
            source_url
        FROM cookie_change LEFT JOIN capture ON capture.jar_id = ?3 AND capture.id = capture_id
        WHERE cookie_change.id > ?1 AND cookie_change.id <= ?2
        """

    /// The change of the current row.
    private static func change(_ statement: Statement) -> CookieChange {
        CookieChange(
            position: statement.int64(0), cause: CookieChange.Cause(rawValue: statement.int64(1)) ?? .removed,
            time: statement.timestamp(2), cookie: statement.identity(3),
            capture: statement.isNull(8) ? nil : statement.text(8),
            url: statement.isNull(9) ? nil : statement.text(9))
    }
}

/// Rows of the `former_journal` table: the end of the journals of all jars that were removed or renamed.
///
/// One number for all of them, so that no name of a removed jar is kept.
struct FormerJournal {
    /// A query for the start of a new journal, as `first`. No reader has seen a position from there on.
    static let firstChange =
        "SELECT 1 + coalesce((SELECT next_change FROM former_journal WHERE id = 1), 0) AS first"

    let database: Connection

    /// Includes the journal of a jar that is about to be removed or renamed.
    func include(jar id: Int64) throws {
        try database.statement(
            """
            INSERT INTO former_journal (id, next_change) SELECT 1, (\(ChangeRows.nextPositionQuery)) WHERE true
            ON CONFLICT (id) DO UPDATE SET
                next_change = max(former_journal.next_change, excluded.next_change)
            """
        ).run(id)
    }
}
