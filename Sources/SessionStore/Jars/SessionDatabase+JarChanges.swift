public import CookieModel

/// Creating, renaming and removing jars.
extension SessionDatabase {
    /// Creates a jar.
    ///
    /// - Parameters:
    ///   - name: 1 to 100 characters, none of them a control character.
    ///   - settings: the profile and limits to store with it.
    ///   - now: the time of its creation.
    /// - Throws: `SessionStoreError.Code.jarExists` if a jar of that name exists.
    @discardableResult
    public func createJar(
        named name: String, settings: JarSettings = JarSettings(), now: Timestamp? = nil
    ) throws(SessionStoreError) -> CookieJar {
        let now = now ?? clock.now
        try SessionStoreError.check(name, of: "jar")
        try write(.changedRows) { connection in
            _ = try JarRows(database: connection).insertNew(settings, named: name, now: now)
        }
        return try presentJar(named: name)
    }

    /// Creates a jar, or changes the settings of the jar with the name.
    ///
    /// - Parameters:
    ///   - name: 1 to 100 characters, none of them a control character.
    ///   - settings: the profile and limits of a created jar.
    ///   - now: the time of its creation.
    ///   - change: returns new settings for an existing jar, from its present ones.
    /// - Returns: whether the jar was created, and its settings.
    package func putJar(
        named name: String, new settings: JarSettings, now: Timestamp, _ change: (inout JarSettings) -> Void
    ) throws(SessionStoreError) -> (isNew: Bool, settings: JarSettings) {
        try SessionStoreError.check(name, of: "jar")
        return try write(.changedRows) { connection in
            let rows = JarRows(database: connection)
            if try rows.jar(named: name) == nil, try rows.insert(settings, named: name, now: now) {
                return (true, settings)
            }
            let jar = try rows.lockedJars(named: name)[0]
            var changed = jar.settings
            change(&changed)
            if changed != jar.settings { try rows.update(changed, id: jar.id) }
            return (false, changed)
        }
    }

    /// Renames a jar. Its content stays, and open jars continue to work.
    ///
    /// - Throws: `SessionStoreError.Code.jarNotFound`, and `SessionStoreError.Code.jarExists` if another jar has
    ///   the new name.
    @discardableResult
    public func renameJar(named name: String, to newName: String) throws(SessionStoreError) -> CookieJar {
        try SessionStoreError.check(name, of: "jar")
        try SessionStoreError.check(newName, of: "jar")
        try write(.changedRows) { connection in
            let rows = JarRows(database: connection)
            let id = try rows.lockedJars(named: name)[0].id
            guard !name.isSameName(as: newName) else { return }
            try rows.expectNone(named: newName)
            try rows.rename(id: id, to: newName)
        }
        return try presentJar(named: newName)
    }

    /// Removes every cookie of a jar, and its web storage. The jar stays, with its settings and saved sessions.
    ///
    /// For a day, `crumb jars restore` can undo it.
    ///
    /// - Parameter now: the time, for the journal and for the undo.
    /// - Returns: how many cookies were removed.
    /// - Throws: `SessionStoreError.Code.jarNotFound`.
    @discardableResult
    public func clearJar(
        named name: String, now: Timestamp? = nil
    ) throws(SessionStoreError) -> (cookies: Int, storageItems: Int) {
        let now = now ?? clock.now
        try SessionStoreError.check(name, of: "jar")
        return try write(.changedRows) { connection in
            let id = try JarRows(database: connection).lockedJars(named: name)[0].id
            let undo = JarUndoRows(database: connection, jarID: id)
            try undo.begin(now: now)
            try CaptureRows(database: connection, jarID: id).allowAgain()
            let storageItems = try WebStorageRows(database: connection, jarID: id).delete()
            try RejectionRows(database: connection, jarID: id).removeOldest(keeping: 0)
            rejections.forget()
            let cookies = try JournaledCookieRows(database: connection, jarID: id).removeAll(now: now)
            try undo.end(.cleared, hasChanged: cookies + storageItems > 0, now: now)
            return (cookies, storageItems)
        }
    }

    /// Deletes a jar with everything in it: cookies, settings, header fields, saved sessions and its journal. It cannot
    /// be restored.
    ///
    /// - Returns: the numbers of removed cookies and saved sessions.
    /// - Throws: `SessionStoreError.Code.jarNotFound`.
    @discardableResult
    public func removeJar(named name: String) throws(SessionStoreError) -> JarRemoval {
        try SessionStoreError.check(name, of: "jar")
        return try write(.changedRows) { connection in
            let rows = JarRows(database: connection)
            let id = try rows.lockedJars(named: name)[0].id
            let removal = try rows.content(id: id)
            try rows.delete(id: id)
            return removal
        }
    }

    /// Deletes a jar, unless something was stored in it, or its name or settings were changed, since it was created.
    ///
    /// - Parameter jar: the jar, as it was created.
    /// - Returns: whether it was deleted.
    @discardableResult
    package func removeIfUnused(_ jar: CookieJar) throws(SessionStoreError) -> Bool {
        try write(.changedRows) { connection in
            let rows = JarRows(database: connection)
            guard try rows.jar(named: jar.name) != nil else { return false }
            let present = try rows.lockedJars(named: jar.name)[0]
            guard present.id == jar.id, present.settings == JarSettings(jar.policy), try rows.isEmpty(id: jar.id)
            else { return false }
            try rows.delete(id: jar.id)
            return true
        }
    }

    /// The settings of a jar.
    ///
    /// - Throws: `SessionStoreError.Code.jarNotFound`.
    public func settings(ofJar name: String) throws(SessionStoreError) -> JarSettings {
        try SessionStoreError.check(name, of: "jar")
        return try read { try JarRows(database: $0).presentJar(named: name).settings }
    }

    /// Changes the settings of a jar.
    ///
    /// A jar that is open keeps the rules that it was opened with. Cookies over a new limit are evicted, and reported,
    /// when the next cookie is stored.
    ///
    /// - Parameter change: changes the current settings, within the transaction.
    /// - Returns: the new settings.
    /// - Throws: `SessionStoreError.Code.jarNotFound`.
    @discardableResult
    public func changeSettings(
        ofJar name: String, _ change: (inout JarSettings) -> Void
    ) throws(SessionStoreError) -> JarSettings {
        try SessionStoreError.check(name, of: "jar")
        return try write(.changedRows) { connection in
            let rows = JarRows(database: connection)
            let jar = try rows.lockedJars(named: name)[0]
            var settings = jar.settings
            change(&settings)
            try rows.update(settings, id: jar.id)
            return settings
        }
    }

    /// The jar of that name, which has just existed.
    private func presentJar(named name: String) throws(SessionStoreError) -> CookieJar {
        guard let jar = try existingJar(named: name) else { throw SessionStoreError(noJarNamed: name) }
        return jar
    }
}

extension SessionStoreError {
    /// The error if no jar has that name.
    package init(noJarNamed name: String) {
        self.init(.jarNotFound, name, advice: "no such jar\(command: "; 'crumb jars' lists the jars")")
    }
}

/// The data that was removed with a jar.
public struct JarRemoval: Sendable, Hashable {
    /// How many cookies it had, including expired ones that were not removed yet.
    public let cookies: Int
    /// How many saved sessions it had.
    package let savedSessions: Int
}

/// The result of merging one jar into another. Every cookie of the first is counted once, except in ``evicted``.
package struct JarMerge: Sendable, Hashable {
    /// How many cookies the target did not have.
    package internal(set) var added = 0
    /// How many replaced an older one.
    package internal(set) var replaced = 0
    /// How many were left out because the target's cookie is as new or newer.
    package internal(set) var kept = 0
    /// How many were left out because they had expired.
    package internal(set) var expired = 0
    /// The cookies that were left out because their stored value was tampered with, without a value.
    package internal(set) var unreadable: [Cookie] = []
    /// The cookies, without values, that the target evicted because they exceeded its limits. They may include merged
    /// ones.
    package internal(set) var evicted: [Eviction] = []
}
