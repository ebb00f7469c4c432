package import CookieModel

extension SessionDatabase {
    /// The default number of entries that the journal of a jar keeps.
    public static let defaultJournalLimit = Int(ChangeRows.defaultLimit)

    /// Removes data that is no longer needed: expired cookies, old entries of the journal, free pages.
    ///
    /// Saved sessions do not change. Expired cookies are never sent, so pruning only saves space. A cookie is removed
    /// once the clock has advanced by a day after it was seen past the cookie's expiry. So nothing is lost if the clock
    /// jumps ahead and back. A step of more than eight hours between two readings of the clock counts as eight.
    ///
    /// - Parameters:
    ///   - jar: the only jar to prune; `nil` for all.
    ///   - limit: how many entries of each pruned jar's journal are kept; `nil` for the database's limit.
    ///   - emptiesBin: whether jars that ``restoreJar(named:to:now:)`` could restore are deleted at once, instead of
    ///     after a day.
    ///   - vacuum: when the file is rewritten.
    ///   - now: the time that decides which cookies have expired.
    /// - Throws: `SessionStoreError.Code.jarNotFound` if the jar does not exist.
    package func prune(
        jar: String? = nil, journalLimit limit: Int? = nil, emptiesBin: Bool = false,
        vacuum: Pruning.Vacuum = .whenWorthwhile, now: Timestamp? = nil
    ) throws(SessionStoreError) -> Pruning {
        let now = now ?? clock.now
        let sizeBefore = sizeInBytes
        let jars = try write(.changedRows) { database in
            _ = try ConfirmedClockRows(database: database).see(now)
            return try jarNames(database).filter { found in
                jar.map { found.name.isSameName(as: $0) } ?? true
            }
        }
        var pruning = Pruning()
        pruning.removedJars = try emptyBin(ofJar: jar, atOnce: emptiesBin)
        if let jar, jars.isEmpty, pruning.removedJars == 0 {
            throw SessionStoreError(noJarNamed: jar)
        }
        // A transaction for each jar lets other writers in, if there can be several. Otherwise each waits for the disk.
        let groups: [(WriteLock, [(id: Int64, name: String)])] =
            engine.traits.hasRowLocks ? jars.map { (.jar($0.id), [$0]) } : [(.database, jars)]
        for (lock, group) in groups {
            let part = try write(lock) { database in
                var part = Pruning()
                let confirmed = try ConfirmedClockRows(database: database).clock()?.confirmed
                for (id, name) in group {
                    let journaled = JournaledCookieRows(database: database, jarID: id)
                    let count = try confirmed.map { try journaled.removeExpired(before: $0, now: now) } ?? 0
                    if count > 0 { part.expiredCookies[name] = count }
                    let waiting = try journaled.rows.counts(now: now).expired
                    if waiting > 0 { part.waitingCookies[name] = waiting }
                    let entries = Int64(max(0, limit ?? journalLimit))
                    part.journalEntries += try ChangeRows(database: database, jarID: id).removeOldest(keeping: entries)
                    try RejectionRows(database: database, jarID: id)
                        .removeOldest(keeping: min(entries, RejectionRows.limit))
                }
                return part
            }
            pruning.expiredCookies.merge(part.expiredCookies) { $1 }
            pruning.waitingCookies.merge(part.waitingCookies) { $1 }
            pruning.journalEntries += part.journalEntries
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

    private func jarNames(_ database: Connection) throws -> [(id: Int64, name: String)] {
        try database.statement("SELECT id, name FROM jar WHERE id > 0 ORDER BY name").rows { ($0.int64(0), $0.text(1)) }
    }

    private func isVacuumWorthwhile() throws(SessionStoreError) -> Bool {
        let (all, free) = try SessionStoreError.catching(path) { try engine.size() }
        return free * 4 >= all && free >= 1 << 20
    }
}

/// The data that ``SessionDatabase/prune(jar:journalLimit:emptiesBin:vacuum:now:)`` removed.
package struct Pruning: Sendable, Hashable {
    /// When to rewrite the file without its free pages.
    package enum Vacuum: Sendable {
        /// If at least a quarter of the file, and at least a megabyte, is free.
        case whenWorthwhile
        /// Always.
        case always
        /// Never.
        case never
    }

    /// How many expired cookies were removed, by jar; jars without any are left out.
    package var expiredCookies: [String: Int] = [:]
    /// How many cookies have expired and stay until the clock is confirmed, by jar; jars without any are left out.
    package var waitingCookies: [String: Int] = [:]
    /// How many entries of the journal were removed, the oldest ones.
    package var journalEntries = 0
    /// How many removed jars, and states of jars from before they were cleared or merged into, can no longer be restored.
    package var removedJars = 0
    /// Whether the file was rewritten.
    package var wasVacuumed = false
    /// By how many bytes the database and its log have shrunk.
    package var freedBytes: Int64 = 0

    /// Creates a result in which nothing was removed.
    package init() {}
}

extension SessionDatabase {
    /// Rewrites the file without free pages.
    func compact() throws(SessionStoreError) {
        try SessionStoreError.catching(path) { try engine.compact() }
    }

    /// Moves the write-ahead log into the file and truncates the log.
    ///
    /// - Returns: whether that was possible. It is not while another process is reading.
    func emptyLog() throws(SessionStoreError) -> Bool {
        try SessionStoreError.catching(path) { try engine.emptyLog() }
    }
}
