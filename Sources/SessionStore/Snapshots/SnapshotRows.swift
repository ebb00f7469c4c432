internal import CookieModel

/// Rows of the tables `snapshot` and `snapshot_cookie`, and the statements that restore rows to `cookie`.
///
/// Rows are copied unchanged, with sealed values: the context that a value is sealed to does not change within a jar.
struct SnapshotRows {
    /// The columns that a cookie and a saved one share, without the capture.
    private static let columns = CookieColumns.list(CookieColumns.identity + CookieColumns.saved)
    /// That the rows `saved` and `cookie` are the same cookie, of this jar.
    private static let isSameCookie =
        (["cookie.jar_id = ?1"] + CookieColumns.identity.map { "cookie.\($0.name) = saved.\($0.name)" })
        .joined(separator: " AND ")
    /// That the row `saved` belongs to the snapshot.
    private static let isSaved = "saved.jar_id = ?1 AND saved.snapshot_id = ?2"
    /// SQL for "the row `saved` belongs to the snapshot and has not expired".
    private static let isWanted = "\(isSaved) AND (saved.expires_at IS NULL OR saved.expires_at >= ?3)"
    /// The capture of the row `saved`, if it is still known.
    private static let capture = "(SELECT id FROM capture WHERE jar_id = ?1 AND id = saved.capture_id)"

    /// SQL for "a user saved the row of `snapshot`", in contrast to ``JarUndoRows``.
    static let isNamed = "snapshot.name >= ' '"

    let database: Connection
    let jarID: Int64

    /// The saved sessions with their IDs, by name; only that with `name`, if given.
    func snapshots(named name: String?) throws -> [(id: Int64, session: SavedSession)] {
        try database.statement(
            """
            SELECT id, name, created_at,
                (SELECT count(*) FROM snapshot_cookie AS saved WHERE saved.jar_id = ?1 AND snapshot_id = id)
            FROM snapshot WHERE jar_id = ?1 AND \(name == nil ? SnapshotRows.isNamed : "name = ?2") ORDER BY name
            """
        ).rows(jarID, name) { row in
            let session = SavedSession(
                name: row.text(1), creation: Timestamp(microseconds: row.int64(2)),
                cookieCount: Int(row.int64(3)))
            return (row.int64(0), session)
        }
    }

    /// The IDs of all snapshots, including those that no user has saved.
    func ids() throws -> [Int64] {
        try database.statement("SELECT id FROM snapshot WHERE jar_id = ? ORDER BY id").rows(jarID) { $0.int64(0) }
    }

    /// Saves the jar's unexpired cookies.
    ///
    /// - Returns: the number of saved cookies.
    func save(named name: String, now: Timestamp) throws -> Int {
        let snapshotID = try database.statement(
            "INSERT INTO snapshot (jar_id, name, created_at) VALUES (?, ?, ?) RETURNING id"
        ).returnedNumber(jarID, name, now)
        try WebStorageRows(database: database, jarID: jarID).save(inSnapshot: snapshotID)
        let columns = "\(SnapshotRows.columns), capture_id"
        return try run(
            """
            INSERT INTO snapshot_cookie (jar_id, snapshot_id, \(columns))
            SELECT jar_id, ?2, \(columns) FROM cookie WHERE jar_id = ?1 AND (expires_at IS NULL OR expires_at >= ?3)
            """, snapshotID, now)
    }

    /// Restores the jar's cookies and its web storage to those of a snapshot, except for cookies that have expired.
    func restore(_ id: Int64, now: Timestamp) throws -> (removed: Int, added: Int, changed: Int, expired: [Cookie]) {
        try removeOtherExpired(than: id, now: now)
        let removed = try removeOthers(than: id, now: now)
        let changed = try restoreChanged(id, now: now)
        let added = try restoreMissing(id, now: now)
        try WebStorageRows(database: database, jarID: jarID).restore(fromSnapshot: id)
        try CaptureRows(database: database, jarID: jarID).allowAgain()
        return (removed, added, changed, try expired(id, now: now))
    }

    /// Removes a saved session.
    func delete(id: Int64) throws {
        try WebStorageRows(database: database, jarID: jarID).deleteAll(ofSnapshot: id)
        try database.statement("DELETE FROM snapshot WHERE jar_id = ? AND id = ?").run(jarID, id)
    }

    /// Removes the jar's expired cookies, which count as absent. A cookie that has expired in the snapshot, too, stays,
    /// because it becomes valid again if the clock is set back.
    private func removeOtherExpired(than id: Int64, now: Timestamp) throws {
        _ = try run(
            """
            DELETE FROM cookie WHERE jar_id = ?1 AND expires_at < ?3 AND NOT EXISTS (
                SELECT 1 FROM snapshot_cookie AS saved
                WHERE \(SnapshotRows.isSaved) AND saved.expires_at < ?3 AND \(SnapshotRows.isSameCookie))
            RETURNING \(ChangeRows.changeColumns)
            """, id, now, noting: .expired)
    }

    /// Removes the jar's cookies that the snapshot does not have. Expired ones were removed before.
    ///
    /// - Returns: how many were removed.
    private func removeOthers(than id: Int64, now: Timestamp) throws -> Int {
        try run(
            """
            DELETE FROM cookie WHERE jar_id = ?1 AND (expires_at IS NULL OR expires_at >= ?3) AND NOT EXISTS (
                SELECT 1 FROM snapshot_cookie AS saved
                WHERE \(SnapshotRows.isWanted) AND \(SnapshotRows.isSameCookie))
            RETURNING \(ChangeRows.changeColumns)
            """, id, now, noting: .removed)
    }

    /// Restores the cookies that both the jar and the snapshot have, if they differ.
    ///
    /// - Returns: the number of cookies that differed in more than the time of their last use.
    private func restoreChanged(_ id: Int64, now: Timestamp) throws -> Int {
        let assignments = CookieColumns.saved.map { "\($0.name) = saved.\($0.name)" }.joined(separator: ", ")
        let compared = CookieColumns.saved.filter { $0.name != "last_access_at" }
        let changed = try run(
            """
            UPDATE cookie SET \(assignments), capture_id = \(SnapshotRows.capture)
            FROM snapshot_cookie AS saved
            WHERE \(SnapshotRows.isWanted) AND \(SnapshotRows.isSameCookie)
                AND (\(CookieColumns.list(compared, of: "cookie")))
                IS DISTINCT FROM (\(CookieColumns.list(compared, of: "saved")))
            RETURNING \(ChangeRows.changeColumns)
            """, id, now, noting: .replaced)
        _ = try run(
            """
            UPDATE cookie SET last_access_at = saved.last_access_at FROM snapshot_cookie AS saved
            WHERE \(SnapshotRows.isWanted) AND \(SnapshotRows.isSameCookie)
                AND cookie.last_access_at <> saved.last_access_at
            """, id, now)
        return changed
    }

    /// Restores the cookies that the jar does not have.
    ///
    /// - Returns: how many were added.
    private func restoreMissing(_ id: Int64, now: Timestamp) throws -> Int {
        try run(
            """
            INSERT INTO cookie (jar_id, \(SnapshotRows.columns), capture_id)
            SELECT ?1, \(SnapshotRows.columns), \(SnapshotRows.capture)
            FROM snapshot_cookie AS saved
            WHERE \(SnapshotRows.isWanted) AND NOT EXISTS (SELECT 1 FROM cookie WHERE \(SnapshotRows.isSameCookie))
            RETURNING \(ChangeRows.changeColumns)
            """, id, now, noting: .stored)
    }

    /// The cookies of a snapshot that have expired, without values.
    private func expired(_ id: Int64, now: Timestamp) throws -> [Cookie] {
        try database.statement(
            """
            SELECT \(CookieRows.columns) FROM snapshot_cookie
            WHERE jar_id = ? AND snapshot_id = ? AND expires_at < ? ORDER BY site, sequence
            """
        ).rows(jarID, id, now) { CookieRows.cookie($0).with(value: []) }
    }

    /// Runs a statement about the jar (`?1`), a snapshot (`?2`) and the time (`?3`).
    ///
    /// - Parameter cause: the cause in the journal for the cookies that the statement returns; `nil` if it returns
    ///   none.
    /// - Returns: the number of rows that it changed.
    private func run(
        _ sql: String, _ snapshotID: Int64, _ now: Timestamp, noting cause: CookieChange.Cause? = nil
    ) throws -> Int {
        let statement = try database.statement(sql)
        guard let cause else { return try statement.runCounting(jarID, snapshotID, now) }
        statement.bindAll(jarID, snapshotID, now)
        return try ChangeRows(database: database, jarID: jarID).append(cause, returnedBy: statement, now: now)
    }
}
