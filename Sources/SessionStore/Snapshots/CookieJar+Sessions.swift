public import CookieModel

/// Ending, saving and restoring sessions.
extension CookieJar {
    /// Removes session cookies, as a browser does when it quits (section 5.7 of the draft).
    ///
    /// - Returns: the numbers of removed and remaining cookies. Expired cookies do not count.
    @discardableResult
    public func endSession(now: Timestamp? = nil) throws(SessionStoreError) -> SessionEnd {
        let now = now ?? database.clock.now
        return try database.write(.jar(id)) { connection in
            let journaled = JournaledCookieRows(database: connection, jarID: id)
            let removed = try journaled.removeSessionCookies(now: now)
            try CaptureRows(database: connection, jarID: id).allowAgain()
            return SessionEnd(removed: removed, kept: try journaled.rows.counts(now: now).live)
        }
    }

    /// Saves the jar's cookies under a name, replacing an earlier session with that name.
    ///
    /// - Parameter name: 1 to 100 characters, none of them a control character.
    /// - Returns: the saved session, and the one that it replaced.
    @discardableResult
    package func saveSession(named name: String, now: Timestamp? = nil) throws(SessionStoreError) -> SessionSave {
        let now = now ?? database.clock.now
        try SessionStoreError.check(name, of: "session")
        return try database.write(.jar(id)) { connection in
            let rows = SnapshotRows(database: connection, jarID: id)
            let previous = try rows.snapshots(named: name).first
            if let previous { try rows.delete(id: previous.id) }
            let count = try rows.save(named: name, now: now)
            return SessionSave(
                session: SavedSession(name: name, creation: now, cookieCount: count), previous: previous?.session)
        }
    }

    /// Restores the jar's cookies to their state when the session was saved: all of them, in the same order, or none if
    /// there is an error. Only cookies that have expired since are left out.
    ///
    /// - Returns: the changes.
    /// - Throws: `SessionStoreError.Code.sessionNotFound`.
    @discardableResult
    package func restoreSession(
        named name: String, now: Timestamp? = nil
    ) throws(SessionStoreError) -> SessionRestoration {
        let now = now ?? database.clock.now
        try SessionStoreError.check(name, of: "session")
        return try database.write(.jar(id)) { connection in
            let rows = SnapshotRows(database: connection, jarID: id)
            guard let (snapshotID, session) = try rows.snapshots(named: name).first else {
                throw SessionStoreError(noSessionNamed: name, jar: self.name)
            }
            let restored = try rows.restore(snapshotID, now: now)
            return SessionRestoration(
                session: session, removed: restored.removed, added: restored.added, changed: restored.changed,
                expired: restored.expired)
        }
    }

    /// The saved sessions, by name.
    package func savedSessions() throws(SessionStoreError) -> [SavedSession] {
        try database.read { connection in
            try SnapshotRows(database: connection, jarID: id).snapshots(named: nil).map(\.session)
        }
    }

    /// Removes a saved session. The jar's cookies do not change.
    ///
    /// - Returns: the removed session.
    /// - Throws: `SessionStoreError.Code.sessionNotFound`.
    @discardableResult
    package func removeSavedSession(named name: String) throws(SessionStoreError) -> SavedSession {
        try SessionStoreError.check(name, of: "session")
        return try database.write(.jar(id)) { connection in
            let rows = SnapshotRows(database: connection, jarID: id)
            guard let (snapshotID, session) = try rows.snapshots(named: name).first else {
                throw SessionStoreError(noSessionNamed: name, jar: self.name)
            }
            try rows.delete(id: snapshotID)
            return session
        }
    }
}

extension SessionStoreError {
    /// The error if no saved session has that name.
    fileprivate init(noSessionNamed name: String, jar: String) {
        self.init(
            .sessionNotFound, name,
            "jar '\(jar)' has no saved session with this name")
    }
}

/// A saved session: a copy of a jar's cookies at one time.
package struct SavedSession: Sendable, Hashable {
    /// Its name, within the jar.
    package let name: String
    /// When it was saved.
    package let creation: Timestamp
    /// How many cookies it has, including those that have expired since.
    package let cookieCount: Int
}

/// The result of ending a session.
public struct SessionEnd: Sendable, Hashable {
    /// How many session cookies were removed.
    public let removed: Int
    /// How many cookies stay, because they have a lifetime.
    public let kept: Int
}

/// The result of restoring a saved session: the jar's cookies are those of the session that have not expired.
package struct SessionRestoration: Sendable, Hashable {
    /// The restored session.
    package let session: SavedSession
    /// How many cookies were removed because the session does not have them.
    package let removed: Int
    /// How many cookies were restored that the jar no longer had.
    package let added: Int
    /// How many changed cookies were restored.
    package let changed: Int
    /// The cookies of the session that were not restored because they have expired, without values.
    package let expired: [Cookie]
    /// How many cookies the jar has now.
    package var cookieCount: Int { session.cookieCount - expired.count }
}

/// The result of saving a session.
package struct SessionSave: Sendable, Hashable {
    /// The saved session.
    package let session: SavedSession
    /// The session of the same name that was replaced; `nil` if there was none.
    package let previous: SavedSession?
}
