package import CookieModel
import Platform

extension SessionDatabase {
    /// Counts jars, cookies and tokens. Reads the rows of all cookies, and decrypts no value.
    package func statistics(now: Timestamp? = nil) throws(SessionStoreError) -> DatabaseStatistics {
        let now = now ?? clock.now
        var statistics = try read { database in
            try database.statement(
                """
                SELECT min(created_at), max(created_at), count(*) FILTER (WHERE expires_at < ?),
                    (SELECT count(*) FROM cookie_change),
                    (SELECT count(*) FROM snapshot WHERE jar_id > 0 AND \(SnapshotRows.isNamed)),
                    (SELECT count(*) FROM jar WHERE id < 0)
                FROM cookie WHERE jar_id > 0
                """
            ).first(now) { row in
                var statistics = DatabaseStatistics()
                statistics.oldestCookie = row.optionalTimestamp(0)
                statistics.newestCookie = row.optionalTimestamp(1)
                statistics.expiredCookies = Int(row.int64(2))
                statistics.journalEntries = Int(row.int64(3))
                statistics.savedSessions = Int(row.int64(4))
                statistics.removedJars = Int(row.int64(5))
                return statistics
            } ?? DatabaseStatistics()
        }
        statistics.freeSize = try SessionStoreError.catching(path) { try engine.size().free }
        statistics.fileSize = FileSystem.size(path) ?? 0
        statistics.logSize = FileSystem.size("\(path)-wal") ?? 0
        return statistics
    }
}

/// The amount and age of the data in a database.
package struct DatabaseStatistics: Sendable, Hashable {
    /// How many bytes the file takes without its log.
    package var fileSize: Int64 = 0
    /// How many of those are free; 'crumb prune' releases them.
    package var freeSize: Int64 = 0
    /// How many bytes the write-ahead log takes.
    package var logSize: Int64 = 0
    /// When the oldest cookie was created; `nil` without cookies.
    package var oldestCookie: Timestamp?
    /// When the newest cookie was created; `nil` without cookies.
    package var newestCookie: Timestamp?
    /// How many cookies have expired and were not removed yet.
    package var expiredCookies = 0
    /// How many entries the journal has.
    package var journalEntries = 0
    /// How many sessions are saved.
    package var savedSessions = 0
    /// How many jars were removed and can be restored. Their cookies and sessions do not count above.
    package var removedJars = 0

    /// Creates statistics of an empty database.
    package init() {}
}
