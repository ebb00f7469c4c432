package import CookieModel

/// Restoring jars after they were removed, cleared or merged.
extension SessionDatabase {
    /// A jar, or a jar's state, that ``restoreJar(named:to:now:)`` can restore.
    package struct RemovedJar: Sendable, Hashable {
        /// The operation on the jar.
        package enum Cause: String, Sendable {
            /// It was removed, with everything in it.
            case removed
            /// Its cookies and its web storage were removed.
            case cleared
            /// Another jar was merged into it.
            case merged
            /// Its cookies and its web storage were restored to those from before such a change.
            case restored
        }

        /// The jar's name; a removed jar's former one.
        package let name: String
        /// The operation on it.
        package let cause: Cause
        /// The time of the operation.
        package let time: Timestamp
        /// How many cookies can be restored, including expired ones.
        package let cookieCount: Int
        /// How many saved sessions can be restored with a removed jar.
        package let savedSessionCount: Int
    }

    /// Everything that can be restored, by name, and for each name the newest first.
    ///
    /// - Parameters:
    ///   - names: the names of the only jars to include; `nil` for all jars.
    ///   - limit: the maximum number of entries.
    package func removedJars(named names: Set<String>? = nil, limit: Int = .max) throws(SessionStoreError)
        -> [RemovedJar]
    {
        try read { database in
            let condition = names == nil ? "" : "WHERE name IN (SELECT value FROM json_each(?1))"
            return try database.statement(
                """
                SELECT name, cause, time, cookies, sessions FROM (
                    SELECT removed_name AS name, 'removed' AS cause, removed_at AS time,
                        (SELECT count(*) FROM cookie WHERE jar_id = jar.id) AS cookies,
                        (SELECT count(*) FROM snapshot WHERE jar_id = jar.id AND \(SnapshotRows.isNamed))
                            AS sessions
                    FROM jar WHERE id < 0
                    UNION ALL
                    SELECT jar.name, cause, made_at,
                        (SELECT count(*) FROM snapshot_cookie AS saved
                            WHERE saved.jar_id = snapshot.jar_id AND saved.snapshot_id = snapshot.id), 0
                    FROM jar_undo CROSS JOIN jar CROSS JOIN snapshot
                    WHERE jar_undo.jar_id > 0 AND jar.id = jar_undo.jar_id AND snapshot.jar_id = jar.id
                        AND snapshot.name = ?2
                ) AS entry \(condition) ORDER BY name, time DESC LIMIT ?3
                """
            ).rows(names.map(JarRows.jsonArray), JarUndoRows.name, limit) { row in
                RemovedJar(
                    name: row.text(0), cause: RemovedJar.Cause(rawValue: row.text(1)) ?? .restored,
                    time: row.timestamp(2), cookieCount: Int(row.int64(3)),
                    savedSessionCount: Int(row.int64(4)))
            }
        }
    }

    /// The IDs of all jars, and of those that were removed and can be restored.
    package func jarIDs() throws(SessionStoreError) -> Set<Int64> {
        try read { database in
            Set(try database.statement("SELECT abs(id) FROM jar").rows { $0.int64(0) })
        }
    }

    /// Removes a jar with everything in it, so that ``restoreJar(named:to:now:)`` can restore it for a day. Its name is
    /// free at once. Its journal is deleted.
    ///
    /// For an open jar, the jar no longer exists. ``prune(jar:journalLimit:emptiesBin:vacuum:now:)`` deletes jars that
    /// were removed earlier, and so does each call that removes, clears or merges a jar in a file. Of removed jars with
    /// the same name, the newest ten are kept.
    ///
    /// - Returns: the numbers of removed cookies and saved sessions.
    /// - Throws: `SessionStoreError.Code.jarNotFound`.
    @discardableResult
    package func discardJar(named name: String, now: Timestamp? = nil) throws(SessionStoreError) -> JarRemoval {
        let now = now ?? clock.now
        try SessionStoreError.check(name, of: "jar")
        return try write(.changedRows) { connection in
            let rows = JarRows(database: connection)
            let id = try rows.lockedJars(named: name)[0].id
            let removal = try rows.content(id: id)
            try JarBinRows(database: connection).discard(id: id, now: now)
            return removal
        }
    }

    /// Undoes the last removal under a name: restores the cookies and the web storage of a jar before it was cleared or
    /// merged into, or else a removed jar.
    ///
    /// If a jar was cleared or merged into, its present content is kept for a day, so the same call undoes this one. A
    /// removed jar is restored with its settings, header fields, login rules and saved sessions. Readers of its journal
    /// have to read the whole jar again.
    ///
    /// - Parameters:
    ///   - name: the jar's name.
    ///   - newName: the new name of a removed jar; `nil` for its former one.
    ///   - now: the time, for the journal and for the undo.
    /// - Returns: the jar or state that was restored.
    /// - Throws: `SessionStoreError.Code.jarNotFound` if there is nothing to restore, and
    ///   `SessionStoreError.Code.jarExists` if another jar has the name.
    @discardableResult
    package func restoreJar(
        named name: String, to newName: String? = nil, now: Timestamp? = nil
    ) throws(SessionStoreError) -> RemovedJar {
        let now = now ?? clock.now
        try SessionStoreError.check(name, of: "jar")
        if let newName { try SessionStoreError.check(newName, of: "jar") }
        return try write(.changedRows) { connection in
            let rows = JarRows(database: connection)
            if newName == nil, try rows.jar(named: name) != nil {
                let id = try rows.lockedJars(named: name)[0].id
                if let restored = try JarUndoRows(database: connection, jarID: id).restore(name, now: now) {
                    return restored
                }
            }
            let bin = JarBinRows(database: connection)
            guard let found = try bin.newest(named: name) else {
                throw SessionStoreError(nothingToRestoreOf: name)
            }
            guard try rows.jar(named: newName ?? name) == nil else {
                throw SessionStoreError(
                    .jarExists, newName ?? name,
                    advice: "another jar has this name; restore the removed one under another name"
                        + "\(command: ": 'crumb jars restore --to'")")
            }
            let content = try rows.content(id: found.id)
            try bin.restore(id: found.id, to: newName ?? name)
            return RemovedJar(
                name: newName ?? name, cause: .removed, time: found.time, cookieCount: content.cookies,
                savedSessionCount: content.savedSessions)
        }
    }

    /// Deletes everything that was removed more than a day ago, by the clock that also decides on expired cookies.
    ///
    /// - Returns: how many entries were removed.
    func emptyBin(ofJar name: String?, atOnce: Bool) throws(SessionStoreError) -> Int {
        try write(.changedRows) { connection in
            let confirmed = try ConfirmedClockRows(database: connection).clock()?.confirmed
            guard let end = atOnce ? .distantFuture : confirmed else { return 0 }
            return try JarBinRows(database: connection).delete(until: end, named: name)
        }
    }
}

extension SessionStoreError {
    /// The error if nothing of a jar with that name can be restored.
    package init(nothingToRestoreOf name: String) {
        self.init(
            .jarNotFound, name,
            advice: "nothing of a jar with this name can be restored"
                + "\(command: "; 'crumb jars list --removed' lists what can. 'crumb session restore' restores a saved session, 'crumb restore' a backup")"
        )
    }
}
