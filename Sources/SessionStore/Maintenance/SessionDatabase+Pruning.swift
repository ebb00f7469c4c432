public import CookieModel
internal import GRDB

extension SessionDatabase {
    /// How many entries the journal keeps, unless something else is said.
    public static let journalLimit = 10_000

    /// Removes what no rule asks for any more: expired cookies, old entries of the journal, free pages.
    ///
    /// Saved sessions stay as they are. Expired cookies are sent nowhere, pruned or not; this is about room.
    ///
    /// - Parameters:
    ///   - jar: the only jar to remove cookies from; all of them where it is `nil`.
    ///   - journalLimit: how many entries of the journal stay.
    ///   - vacuum: when the file is written anew.
    ///   - now: the time at which cookies are expired or not.
    /// - Throws: ``SessionStoreError/Code/jarNotFound`` where there is no such jar.
    public func prune(
        jar: String? = nil, journalLimit: Int = journalLimit, vacuum: Pruning.Vacuum = .whenWorthwhile, now: Timestamp
    ) throws(SessionStoreError) -> Pruning {
        let sizeBefore = sizeInBytes
        var pruning = try write { database in
            var pruning = Pruning()
            for (id, name) in try jarNames(database) where jar == nil || name == jar {
                let count = try removeExpired(jarID: id, now: now, database)
                if count > 0 { pruning.expiredCookies[name] = count }
            }
            if let jar, try JarRows(database: database).jar(named: jar) == nil {
                throw SessionStoreError(.jarNotFound, jar, "there is no jar of this name")
            }
            let statement = try RowStatement(
                database, "DELETE FROM cookie_change WHERE id <= (SELECT max(id) FROM cookie_change) - ?")
            statement.bind(1, Int64(max(0, journalLimit)))
            try statement.run()
            pruning.journalEntries = database.changesCount
            return pruning
        }
        let isWorthwhile = vacuum == .whenWorthwhile ? try isVacuumWorthwhile() : vacuum == .always
        if isWorthwhile {
            try compact()
            pruning.wasVacuumed = true
        }
        _ = try emptyLog()
        pruning.freedBytes = max(0, sizeBefore - sizeInBytes)
        return pruning
    }

    private func jarNames(_ database: Database) throws -> [(id: Int64, name: String)] {
        let statement = try RowStatement(database, "SELECT id, name FROM jar ORDER BY name")
        defer { statement.reset() }
        var names: [(id: Int64, name: String)] = []
        while try statement.step() { names.append((statement.int64(0), statement.text(1))) }
        return names
    }

    /// Removes a jar's expired cookies, with an entry in the journal for each: cause 4, as the schema has it.
    private func removeExpired(jarID: Int64, now: Timestamp, _ database: Database) throws -> Int {
        for sql in [
            """
            INSERT INTO cookie_change (jar_id, cause, changed_at, domain, path, name, host_only, partition_key)
            SELECT jar_id, 4, ?2, domain, path, name, host_only, partition_key FROM cookie
            WHERE jar_id = ?1 AND expires_at < ?2
            """,
            "DELETE FROM cookie WHERE jar_id = ?1 AND expires_at < ?2",
        ] {
            let statement = try RowStatement(database, sql)
            statement.bind(1, jarID)
            statement.bind(2, now.microseconds)
            try statement.run()
        }
        return database.changesCount
    }

    private func isVacuumWorthwhile() throws(SessionStoreError) -> Bool {
        try read { database in
            let free = try Int64.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
            let all = try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            let size = try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 0
            return free * 4 >= all && free * size >= 1 << 20
        }
    }
}
