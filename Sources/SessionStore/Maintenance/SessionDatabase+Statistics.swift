public import CookieModel
internal import GRDB

extension SessionDatabase {
    /// Counts what there is. Reads all cookies' rows, and opens none.
    public func statistics(now: Timestamp) throws(SessionStoreError) -> DatabaseStatistics {
        var statistics = try read { database in
            let statement = try RowStatement(
                database,
                """
                SELECT min(created_at), max(created_at), count(*) FILTER (WHERE expires_at < ?),
                    (SELECT count(*) FROM cookie_change), (SELECT count(*) FROM snapshot) FROM cookie
                """)
            defer { statement.reset() }
            statement.bind(1, now.microseconds)
            var statistics = DatabaseStatistics()
            guard try statement.step() else { return statistics }
            statistics.oldestCookie = statement.optionalInt64(0).map(Timestamp.init(microseconds:))
            statistics.newestCookie = statement.optionalInt64(1).map(Timestamp.init(microseconds:))
            statistics.expiredCookies = Int(statement.int64(2))
            statistics.journalEntries = Int(statement.int64(3))
            statistics.savedSessions = Int(statement.int64(4))
            let pageSize = try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 0
            statistics.freeSize = pageSize * (try Int64.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0)
            return statistics
        }
        statistics.fileSize = PrivateFile.size(path) ?? 0
        statistics.logSize = PrivateFile.size("\(path)-wal") ?? 0
        return statistics
    }
}
