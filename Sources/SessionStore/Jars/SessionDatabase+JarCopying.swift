package import CookieModel

/// Copying and merging cookies from one jar into another.
///
/// A value is sealed to its jar, so each is opened and sealed again. The rules are not applied again, because they have
/// accepted these cookies before. The limits of the receiving jar apply.
extension SessionDatabase {
    /// Creates a jar with the same cookies and settings as another one.
    ///
    /// Flags, lifetimes, order, times of use, origins, the ends of former cookies, login rules, header fields and web
    /// storage are the same. Expired cookies and saved sessions are not copied.
    ///
    /// - Returns: how many cookies were copied, and which were left out.
    /// - Throws: `SessionStoreError.Code.jarNotFound`, and `SessionStoreError.Code.jarExists` if a jar of the new
    ///   name exists.
    @discardableResult
    package func copyJar(
        named name: String, to newName: String, now: Timestamp? = nil
    ) throws(SessionStoreError) -> JarCopy {
        let now = now ?? clock.now
        try SessionStoreError.check(name, of: "jar")
        try SessionStoreError.check(newName, of: "jar")
        return try write(.changedRows) { connection in
            let jars = JarRows(database: connection)
            let original = try jars.lockedJars(named: name)[0]
            let id = original.id
            // From here on, no other process rotates the key.
            try keyRing.renew(connection)
            let newID = try jars.insertNew(original.settings, named: newName, now: now)
            let source = CookieRows(database: connection, jarID: id)
            let target = JournaledCookieRows(database: connection, jarID: newID)
            let captures = try CaptureRows(database: connection, jarID: newID).take(from: id)
            try ChangeRows(database: connection, jarID: newID).takeEndings(of: id, captures: captures, now: now)
            var copy = JarCopy()
            for site in try source.sites() {
                var copied: [StoredCookie] = []
                for var stored in try source.rows(site: site) {
                    guard !stored.cookie.isExpired(at: now) else {
                        copy.expired += 1
                        continue
                    }
                    guard try reseal(&stored.cookie, of: id, in: newID) else {
                        copy.unreadable.append(stored.cookie.with(value: []))
                        continue
                    }
                    stored.source.captureID = stored.source.captureID.flatMap { captures[$0] }
                    copied.append(stored)
                }
                try target.insert(copied, now: now)
                copy.copied += copied.count
            }
            try LoginRuleRows(database: connection, jarID: newID).take(from: id)
            try HeaderFieldRows(database: connection, jarID: newID).take(from: id, sealer)
            try WebStorageRows(database: connection, jarID: newID).take(from: id, sealer)
            try jars.setNextSequence(try jars.nextSequence(id: id), id: newID)
            return copy
        }
    }

    /// Merges the cookies of one jar into another. The first jar does not change.
    ///
    /// If both have a cookie of the same identity, the one that was updated last counts: the one whose response came
    /// later, or, if that is unknown, the one created later. If both were updated at the same time, the target keeps
    /// its own. A cookie that replaces another takes its position in the order of creation (section 5.7, step 23.3, of
    /// the draft); the others follow the target's in their own order. Expired cookies count as absent. Afterwards the
    /// target's limits are applied. Login rules and header fields are copied if the target does not use their names.
    /// For a day, ``restoreJar(named:to:now:)`` can undo the changes of cookies and web storage.
    ///
    /// - Returns: the outcome of each cookie.
    /// - Throws: `SessionStoreError.Code.jarNotFound`; `SessionStoreError.Code.nameInvalid` if both are the same jar.
    @discardableResult
    package func mergeJar(
        named name: String, into targetName: String, now: Timestamp? = nil
    ) throws(SessionStoreError) -> JarMerge {
        let now = now ?? clock.now
        try SessionStoreError.check(name, of: "jar")
        try SessionStoreError.check(targetName, of: "jar")
        guard !name.isSameName(as: targetName) else {
            throw SessionStoreError(
                .nameInvalid, "jar '\(name)'", "cannot be merged into itself; name another jar")
        }
        return try write(.changedRows) { connection in
            let jars = JarRows(database: connection)
            let locked = try jars.lockedJars(named: name, targetName)
            let (id, taker) = (locked[0].id, locked[1])
            try keyRing.renew(connection)
            let targetID = taker.id
            let undo = JarUndoRows(database: connection, jarID: targetID)
            try undo.begin(now: now)
            let source = CookieRows(database: connection, jarID: id)
            let target = JournaledCookieRows(database: connection, jarID: targetID)
            let captures = try CaptureRows(database: connection, jarID: targetID).take(from: id)
            let limiter = JarLimiter(journaled: target, limits: taker.settings.limits, now: now)
            var sequence = try jars.nextSequence(id: targetID)
            var merge = JarMerge()
            for site in try source.sites() {
                let present = Dictionary(
                    try target.rows.rows(site: site).map { ($0.cookie.id, $0) }, uniquingKeysWith: { first, _ in first }
                )
                for var stored in try source.rows(site: site) {
                    guard !stored.cookie.isExpired(at: now) else {
                        merge.expired += 1
                        continue
                    }
                    let row = present[stored.cookie.id]
                    let old = row.flatMap { $0.cookie.isExpired(at: now) ? nil : $0 }
                    if let old, old.lastUpdate >= stored.lastUpdate {
                        merge.kept += 1
                        continue
                    }
                    stored.source.captureID = stored.source.captureID.flatMap { captures[$0] }
                    // By taking the position of the old one, the cookie loses its own time of creation. This keeps it
                    // from counting as older in the next merge.
                    if old != nil { stored.source.received = stored.lastUpdate }
                    let place = (old?.cookie.creation ?? stored.cookie.creation, old?.cookie.sequence ?? sequence)
                    guard try reseal(&stored.cookie, of: id, in: targetID, place: place) else {
                        merge.unreadable.append(stored.cookie.with(value: []))
                        continue
                    }
                    if old != nil {
                        try target.replace(with: stored, now: now)
                        merge.replaced += 1
                    } else {
                        try target.insert(stored, overExpired: row != nil, now: now)
                        sequence += 1
                        merge.added += 1
                    }
                }
                merge.evicted += try limiter.removeExcess(site: site)
            }
            merge.evicted += try limiter.removeTotalExcess()
            try LoginRuleRows(database: connection, jarID: targetID).take(from: id)
            try HeaderFieldRows(database: connection, jarID: targetID).take(from: id, sealer)
            let storageItems = try WebStorageRows(database: connection, jarID: targetID).take(from: id, sealer)
            try jars.setNextSequence(sequence, id: targetID)
            try undo.end(
                .merged, hasChanged: merge.added + merge.replaced + merge.evicted.count + storageItems > 0, now: now)
            return merge
        }
    }

    /// Seals the cookie's value for another jar, and for another position in the order of creation, if one is given.
    ///
    /// - Returns: whether the value could be opened.
    private func reseal(
        _ cookie: inout Cookie, of jarID: Int64, in newID: Int64, place: (creation: Timestamp, sequence: Int64)? = nil
    ) throws -> Bool {
        guard let value = sealer.open(cookie.value, at: cookie.sealedPlace(jarID: jarID)) else { return false }
        if let place { (cookie.creation, cookie.sequence) = place }
        cookie.value = Octets(try sealer.seal(value, at: cookie.sealedPlace(jarID: newID)))
        return true
    }
}

/// The result of copying a jar.
package struct JarCopy: Sendable, Hashable {
    /// How many cookies the copy has.
    package internal(set) var copied = 0
    /// How many were left out because they had expired.
    package internal(set) var expired = 0
    /// The cookies that were left out because their stored value was tampered with, without a value.
    package internal(set) var unreadable: [Cookie] = []
}

/// Rows of the `cookie` table, for operations on whole jars: copying, merging, clearing.
///
/// Every function makes one kind of change, and records it in the journal.
struct JournaledCookieRows {
    let rows: CookieRows

    private var journal: ChangeRows { ChangeRows(database: rows.database, jarID: rows.jarID) }

    init(database: Connection, jarID: Int64) {
        rows = CookieRows(database: database, jarID: jarID)
    }

    /// Stores cookies that the jar does not have. Their values are sealed for this jar.
    func insert(_ stored: [StoredCookie], now: Timestamp) throws {
        for one in stored {
            try rows.insert(one.cookie, sealedValue: one.cookie.value, site: one.site, source: one.source)
        }
        try journal.append(.stored, stored.map { ($0.cookie.id, $0.site, nil) }, now: now)
    }

    /// Stores a cookie that the jar does not have. Its value is sealed for this jar.
    ///
    /// - Parameter overExpired: whether the row of an expired cookie with the same ID still exists.
    func insert(_ stored: StoredCookie, overExpired: Bool, now: Timestamp) throws {
        guard overExpired else { return try insert([stored], now: now) }
        try rows.replace(
            with: stored.cookie, sealedValue: stored.cookie.value, site: stored.site, source: stored.source)
        try journal.append(.stored, [(stored.cookie.id, stored.site, nil)], now: now)
    }

    /// Replaces the cookie with the same ID. Its value is sealed for this jar.
    func replace(with stored: StoredCookie, now: Timestamp) throws {
        try rows.replace(
            with: stored.cookie, sealedValue: stored.cookie.value, site: stored.site, source: stored.source)
        try journal.append(.replaced, [(stored.cookie.id, stored.site, nil)], now: now)
    }

    /// Removes a cookie for the user.
    func remove(_ id: Cookie.ID, site: Octets, now: Timestamp) throws {
        try rows.delete(id, site: site)
        try journal.append(.removed, [(id, site, nil)], now: now)
    }

    /// Evicts a cookie.
    func evict(_ id: Cookie.ID, site: Octets, now: Timestamp) throws {
        try rows.delete(id, site: site)
        try journal.append(.evicted, [(id, site, nil)], now: now)
    }

    /// Removes an expired cookie.
    func removeExpired(_ cookie: Cookie, site: Octets, now: Timestamp) throws {
        try rows.delete(cookie.id, site: site)
        try journal.append(.expired, [(cookie.id, site, cookie.expiry)], now: now)
    }

    /// Removes the cookies that had expired by a confirmed time (``ConfirmedClock``).
    ///
    /// - Returns: the number of removed cookies.
    func removeExpired(before confirmed: Timestamp, now: Timestamp) throws -> Int {
        let statement = try deletion(where: "expires_at < ?2")
        statement.bindAll(rows.jarID, confirmed)
        return try journal.append(.expired, returnedBy: statement, now: now)
    }

    /// Removes the cookies that end with the session.
    ///
    /// - Returns: how many cookies were removed.
    func removeSessionCookies(now: Timestamp) throws -> Int {
        try journal.append(.removed, returnedBy: try deletion(where: "expires_at IS NULL"), now: now)
    }

    /// Removes every cookie.
    ///
    /// - Returns: how many cookies were removed.
    func removeAll(now: Timestamp) throws -> Int {
        try journal.append(.removed, returnedBy: try deletion(where: "true"), now: now)
    }

    /// Removes the cookies of a registrable domain, or of all, that last changed at a time or later.
    ///
    /// - Returns: how many cookies were removed.
    func remove(site: Octets?, since time: Timestamp, now: Timestamp) throws -> Int {
        let statement = try deletion(
            where: "\(CookieRows.lastUpdate) >= ?2" + (site == nil ? "" : " AND site = ?3"))
        statement.bindAll(rows.jarID, time, site)
        return try journal.append(.removed, returnedBy: statement, now: now)
    }

    private func deletion(where condition: String) throws -> Statement {
        let statement = try rows.database.statement(
            "DELETE FROM cookie WHERE jar_id = ?1 AND \(condition) RETURNING \(ChangeRows.changeColumns)"
        )
        statement.bindAll(rows.jarID)
        return statement
    }
}
