internal import CookieModel
internal import GRDB

/// The `cookie_change` table: the journal of one jar.
struct ChangeRows {
    /// How many entries of a jar are kept.
    static let limit: Int64 = 10_000
    /// What a statement on cookies returns for ``append(_:returnedBy:now:)``.
    static let identity = "site, domain, path, name, host_only, partition_key"

    let database: Database
    let jarID: Int64

    /// The position that the next entry gets: a query with the jar's id as its parameter.
    static let nextPositionQuery = "SELECT next_change FROM jar WHERE id = ?"

    /// The position that the next entry gets.
    func nextPosition() throws -> Int64 {
        let statement = try RowStatement(database, ChangeRows.nextPositionQuery)
        defer { statement.reset() }
        statement.bind(1, jarID)
        return try statement.step() ? statement.int64(0) : 1
    }

    /// Keeps the position that the next entry gets, and lets the oldest entries go.
    func setNextPosition(_ position: Int64) throws {
        let update = try RowStatement(database, "UPDATE jar SET next_change = ? WHERE id = ?")
        update.bind(1, position)
        update.bind(2, jarID)
        try update.run()
        try removeOldest(keeping: ChangeRows.limit, next: position)
    }

    /// Lets all but the newest entries go.
    ///
    /// - Returns: how many went.
    func removeOldest(keeping count: Int64) throws -> Int {
        try removeOldest(keeping: count, next: try nextPosition())
        return database.changesCount
    }

    private func removeOldest(keeping count: Int64, next: Int64) throws {
        let statement = try RowStatement(database, "DELETE FROM cookie_change WHERE jar_id = ? AND position < ?")
        statement.bind(1, jarID)
        statement.bind(2, next - count)
        try statement.run()
    }

    /// Writes one entry.
    func insert(
        _ cause: CookieChange.Cause, _ id: Cookie.ID, site: Octets, at position: Int64, now: Timestamp
    ) throws {
        let statement = try RowStatement(
            database,
            """
            INSERT INTO cookie_change
                (jar_id, position, cause, changed_at, site, domain, path, name, host_only, partition_key)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        statement.bind(1, jarID)
        statement.bind(2, position)
        statement.bind(3, cause.rawValue)
        statement.bind(4, now.microseconds)
        statement.bind(5, site)
        statement.bind(6, identity: id)
        try statement.run()
    }

    /// Writes what one statement changed: the rows it returns, which have ``identity``.
    ///
    /// - Returns: how many rows there were.
    @discardableResult
    func append(_ cause: CookieChange.Cause, returnedBy statement: RowStatement, now: Timestamp) throws -> Int {
        defer { statement.reset() }
        var changed: [(id: Cookie.ID, site: Octets)] = []
        while try statement.step() {
            changed.append((statement.identity(1), Octets(statement.bytes(0))))
        }
        try append(cause, changed, now: now)
        return changed.count
    }

    /// Writes some changes of one cause.
    func append(_ cause: CookieChange.Cause, _ changed: [(id: Cookie.ID, site: Octets)], now: Timestamp) throws {
        var writer = ChangeWriter(self, now: now)
        for entry in changed { try writer.append(cause, entry.id, site: entry.site) }
        try writer.finish()
    }

    /// The entries after `position`, at most `count`.
    func page(after position: Int64, count: Int) throws -> ChangePage {
        let next = try nextPosition()
        let statement = try RowStatement(
            database,
            """
            SELECT position, cause, changed_at, domain, path, name, host_only, partition_key FROM cookie_change
            WHERE jar_id = ? AND position > ? ORDER BY position LIMIT ?
            """)
        defer { statement.reset() }
        statement.bind(1, jarID)
        statement.bind(2, position)
        statement.bind(3, Int64(count))
        var changes: [CookieChange] = []
        while try statement.step() {
            changes.append(
                CookieChange(
                    position: statement.int64(0), cause: CookieChange.Cause(rawValue: statement.int64(1)) ?? .removed,
                    time: statement.timestamp(2), cookie: statement.identity(3)))
        }
        // A position from the future is one of another database: everything may have changed.
        let isForeign = position >= next
        let last = changes.last?.position ?? next - 1
        return ChangePage(
            changes: changes, position: last, hasGap: isForeign || (changes.first?.position ?? next) > position + 1,
            hasMore: last + 1 < next)
    }
}

/// Writes the changes of one transaction.
struct ChangeWriter {
    private let rows: ChangeRows
    private let now: Timestamp
    private var first: Int64?
    private var next: Int64 = 0

    init(_ rows: ChangeRows, now: Timestamp) {
        self.rows = rows
        self.now = now
    }

    /// Writes one entry.
    mutating func append(_ cause: CookieChange.Cause, _ id: Cookie.ID, site: Octets) throws {
        if first == nil {
            next = try rows.nextPosition()
            first = next
        }
        try rows.insert(cause, id, site: site, at: next, now: now)
        next += 1
    }

    /// Ends the transaction's part of the journal.
    func finish() throws {
        if let first, next > first { try rows.setNextPosition(next) }
    }
}
