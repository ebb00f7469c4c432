internal import CookieModel

/// The rows of `jar` with a negative ID, which are removed jars, and the rows that belong to them.
struct JarBinRows {
    /// The columns that a jar keeps when it is removed and restored.
    private static let kept = """
        profile, created_at, domain_cookies, total_cookies, partition_cookies, partition_octets, request_cookies,
        request_octets
        """

    /// How many removed jars of one name are kept. This bounds what a program leaves that removes its jar repeatedly.
    private static let countOfName = 10

    let database: Connection

    /// The ID that the values of a jar's rows are sealed to, whether the jar was removed or not.
    static func formerID(_ id: Int64) -> Int64 { Int64(clamping: id.magnitude) }

    /// Removes a locked jar, and keeps its rows.
    func discard(id: Int64, now: Timestamp) throws {
        let rows = JarRows(database: database)
        let sequence = try rows.nextSequence(id: id)
        try FormerJournal(database: database).include(jar: id)
        try ChangeRows(database: database, jarID: id).removeAll()
        try JarSiteRows(database: database).removeAll(ofJar: id)
        // A control character, which the name of a jar cannot have.
        let name = "\u{2}\(id)"
        try database.statement(
            """
            INSERT INTO jar (\(JarBinRows.kept), id, name, next_sequence, removed_name, removed_at)
            SELECT \(JarBinRows.kept), -id, ?2, ?3, name, ?4 FROM jar WHERE id = ?1
            """
        ).run(id, name, sequence, now)
        try moveRows(from: id, to: -id)
        try delete(id: id)
        try database.statement(
            """
            DELETE FROM jar WHERE id IN (
                SELECT id FROM jar WHERE id < 0 AND removed_name = (SELECT removed_name FROM jar WHERE id = ?1)
                ORDER BY removed_at DESC, id LIMIT \(Int64.max) OFFSET \(JarBinRows.countOfName))
            """
        ).run(-id)
        try deleteOld(now: now)
    }

    /// Deletes jars that were removed more than a day ago. Only in a file, because a file may have no service; on a
    /// server, housekeeping does it.
    func deleteOld(now: Timestamp) throws {
        guard !database.traits.isShared, let end = try ConfirmedClockRows(database: database).see(now).confirmed else {
            return
        }
        _ = try delete(until: end, named: nil)
    }

    /// The last removed jar with a name.
    func newest(named name: String) throws -> (id: Int64, time: Timestamp)? {
        try database.statement(
            """
            SELECT id, removed_at FROM jar WHERE id < 0 AND removed_name = ? ORDER BY removed_at DESC, id LIMIT 1
            """
        ).first(name) { ($0.int64(0), $0.timestamp(1)) }
    }

    /// Restores a removed jar with its rows and its ID.
    func restore(id: Int64, to name: String) throws {
        _ = try database.lock(.jar(id))
        let isThere = try database.statement(
            """
            INSERT INTO jar (\(JarBinRows.kept), id, name, next_sequence, first_change, next_change)
            SELECT \(JarBinRows.kept), -id, ?2, next_sequence, first, first
            FROM jar CROSS JOIN (\(FormerJournal.firstChange)) AS former WHERE jar.id = ?1 RETURNING 1
            """
        ).first(id, name) { _ in true }
        // Another transaction may have restored it, or removed it for good.
        guard isThere == true else { throw SessionStoreError(noJarNamed: name) }
        try moveRows(from: id, to: -id)
        try delete(id: id)
        try database.statement(
            "INSERT INTO jar_site (site, jar_id) SELECT DISTINCT site, jar_id FROM cookie WHERE jar_id = ?1"
        ).run(-id)
    }

    /// Deletes everything that was removed up to a time.
    ///
    /// - Parameter name: the only name to delete; `nil` for all.
    /// - Returns: how many removed jars, and earlier states of jars, were deleted.
    func delete(until end: Timestamp, named name: String?) throws -> Int {
        var count = try database.statement(
            "DELETE FROM jar WHERE id < 0 AND removed_at <= ?1 \(name == nil ? "" : "AND removed_name = ?2")"
        ).runCounting(end, name)
        var ids = try jarsWithUndo(until: end, named: name)
        // Meanwhile, another transaction may have restored one of the states, and kept a newer one.
        if try database.lock(.jars(ids)) { ids = try jarsWithUndo(until: end, named: name) }
        for id in ids where try JarUndoRows(database: database, jarID: id).delete() { count += 1 }
        return count
    }

    private func jarsWithUndo(until end: Timestamp, named name: String?) throws -> [Int64] {
        try database.statement(
            """
            SELECT jar_id FROM jar_undo WHERE made_at <= ?1
                \(name == nil ? "" : "AND jar_id IN (SELECT id FROM jar WHERE name = ?2)") ORDER BY jar_id
            """
        ).rows(end, name) { $0.int64(0) }
    }

    /// Gives the rows of a jar the ID of another jar. Both jars exist.
    private func moveRows(from id: Int64, to newID: Int64) throws {
        let referencesCapturesByJar = database.traits.referencesCapturesByJar
        if referencesCapturesByJar {
            // The new row must be there before the cookie refers to it, and the old one until after that.
            try run(
                """
                INSERT INTO capture (id, jar_id, digest, name, imported_at, from_requests)
                SELECT id, ?2, digest, name, imported_at, from_requests FROM capture WHERE jar_id = ?1
                """, id, newID)
        } else {
            try run("UPDATE capture SET jar_id = ?2 WHERE jar_id = ?1", id, newID)
        }
        for table in ["cookie", "header_field", "login_rule", "jar_undo"] {
            try run("UPDATE \(table) SET jar_id = ?2 WHERE jar_id = ?1", id, newID)
        }
        if referencesCapturesByJar { try run("DELETE FROM capture WHERE jar_id = ?1", id) }
        for snapshotID in try SnapshotRows(database: database, jarID: id).ids() {
            try move(snapshot: snapshotID, from: id, to: newID)
        }
        try run("UPDATE web_storage SET jar_id = ?2 WHERE jar_id = ?1", id, newID)
    }

    /// A saved session gets a new ID, because its cookies refer to it by both IDs. No value is sealed to its ID.
    private func move(snapshot snapshotID: Int64, from id: Int64, to newID: Int64) throws {
        let newSnapshotID = try database.statement(
            """
            INSERT INTO snapshot (jar_id, name, created_at)
            SELECT ?2, name, created_at FROM snapshot WHERE jar_id = ?1 AND id = ?3 RETURNING id
            """
        ).returnedNumber(id, newID, snapshotID)
        for table in ["snapshot_cookie", "web_storage"] {
            try run(
                "UPDATE \(table) SET jar_id = ?2, snapshot_id = ?4 WHERE jar_id = ?1 AND snapshot_id = ?3", id, newID,
                snapshotID, newSnapshotID)
        }
        try run("DELETE FROM snapshot WHERE jar_id = ?1 AND id = ?2", id, snapshotID)
    }

    private func delete(id: Int64) throws {
        try run("DELETE FROM jar WHERE id = ?1", id)
    }

    private func run<each Parameter: StatementParameter>(_ sql: String, _ parameters: repeat each Parameter) throws {
        try database.statement(sql).run(repeat each parameters)
    }
}

/// Rows of the `jar_undo` table: the state of a jar before a change, as a saved session that no list shows.
struct JarUndoRows {
    /// The name of that saved session. Other names cannot contain its control character.
    static let name = "\u{2}undo"
    /// The name of the session during the change.
    private static let newName = "\u{2}new"

    let database: Connection
    let jarID: Int64

    private var snapshots: SnapshotRows { SnapshotRows(database: database, jarID: jarID) }

    /// Copies the jar's cookies and web storage before a change.
    func begin(now: Timestamp) throws {
        _ = try snapshots.save(named: JarUndoRows.newName, now: now)
    }

    /// Keeps the state that ``begin(now:)`` has copied, replacing an earlier one. Drops it if nothing was changed.
    func end(_ cause: SessionDatabase.RemovedJar.Cause, hasChanged: Bool = true, now: Timestamp) throws {
        guard hasChanged else { return try delete(JarUndoRows.newName) }
        try delete()
        try database.statement("UPDATE snapshot SET name = ?3 WHERE jar_id = ?1 AND name = ?2").run(
            jarID, JarUndoRows.newName, JarUndoRows.name)
        try database.statement("INSERT INTO jar_undo (jar_id, cause, made_at) VALUES (?, ?, ?)").run(
            jarID, cause.rawValue, now)
        try JarBinRows(database: database).deleteOld(now: now)
    }

    /// Restores the state, and keeps the one before the restoration; `nil` if there is nothing to restore.
    func restore(_ name: String, now: Timestamp) throws -> SessionDatabase.RemovedJar? {
        let undo = try database.statement("SELECT cause, made_at FROM jar_undo WHERE jar_id = ?")
            .first(jarID) { ($0.text(0), $0.timestamp(1)) }
        guard let (cause, time) = undo,
            let (id, session) = try snapshots.snapshots(named: JarUndoRows.name).first
        else { return nil }
        try begin(now: now)
        let expired = try snapshots.restore(id, now: now).expired.count
        try end(.restored, now: now)
        return SessionDatabase.RemovedJar(
            name: name, cause: SessionDatabase.RemovedJar.Cause(rawValue: cause) ?? .restored, time: time,
            cookieCount: session.cookieCount - expired, savedSessionCount: 0)
    }

    /// Removes the state.
    ///
    /// - Returns: whether it existed.
    @discardableResult
    func delete() throws -> Bool {
        try delete(JarUndoRows.name)
        return try database.statement("DELETE FROM jar_undo WHERE jar_id = ?").runCounting(jarID) > 0
    }

    private func delete(_ name: String) throws {
        for snapshot in try snapshots.snapshots(named: name) { try snapshots.delete(id: snapshot.id) }
    }
}
