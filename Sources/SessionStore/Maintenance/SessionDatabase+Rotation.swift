public import CookieModel

extension SessionDatabase {
    /// Reseals every value: cookies, those of saved sessions, tokens, header fields, web storage and the key of the
    /// gateway's authority.
    ///
    /// A key file gets a new key, and keeps the former one with the time: backups and other databases may need it. If
    /// the values are still sealed under a former key, they are resealed under the newest one, and the file gets no
    /// further key. With any other source, and on a server, every value is resealed under the newest key that the
    /// source returns. Other processes may use the database meanwhile, if their source has that key too. After an
    /// interrupted rotation, every value can still be read, and the next call completes the rotation.
    ///
    /// - Parameters:
    ///   - batchSize: How many values are sealed in one transaction, which blocks other writers; on a server, those of
    ///     the same jars.
    ///   - now: the current time, recorded with the new key and the former one.
    ///   - progress: receives the number of values that were resealed so far, after each transaction.
    /// - Throws: `SessionStoreError.Code.keyRotationRefused` if another process rotates, or if the source has no
    ///   newer key; any other error of the store, after which the rotation can be called again.
    public func rotateKey(
        batchSize: Int = 500, now: Timestamp? = nil, progress: (Int) -> Void = { _ in }
    ) throws(SessionStoreError) -> KeyRotation {
        try rotateKey(batchSize: batchSize, now: now ?? clock.now, { () throws(SessionStoreError) in }, progress)
    }

    /// The same for a database beside which other files are sealed with its key.
    ///
    /// - Parameter resealOthers: reseals them. It runs when all writers seal under the new key, and the former one still opens
    ///   values.
    package func rotateKey(
        now: Timestamp, resealingOthers resealOthers: () throws(SessionStoreError) -> Void
    ) throws(SessionStoreError) -> KeyRotation {
        try rotateKey(batchSize: 500, now: now, resealOthers) { _ in }
    }

    private func rotateKey(
        batchSize: Int, now: Timestamp, _ resealOthers: () throws(SessionStoreError) -> Void,
        _ progress: (Int) -> Void
    ) throws(SessionStoreError) -> KeyRotation {
        // The file is one of many on a server, and others must have the key first.
        guard !engine.traits.isShared, let file = keyRing.source.file else {
            return try reseal(try newestKey(), batchSize: batchSize, now: now, resealOthers, progress)
        }
        return try file.locked { () throws(SessionStoreError) in
            let use = try keyUse()
            if use == .newest { try file.appendKey(now: now) }
            var rotation = try reseal(try newestKey(), batchSize: batchSize, now: now, resealOthers, progress)
            rotation.began = use
            return rotation
        }
    }

    /// Which keys the values are sealed under.
    package func keyUse() throws(SessionStoreError) -> KeyUse {
        if try read({ try SealingKeyRows(database: $0).all().count }) > 1 { return .several }
        return sealer.newestKey.isSame(as: try newestKey()) ? .newest : .former
    }

    /// The former keys of the source that this database was opened with, the oldest first.
    package func formerKeys() throws(SessionStoreError) -> [KeyFile.FormerKey] { try keyRing.source.formerKeys() }

    /// Opens a value under any key of the source. Files beside the database may be sealed under a key that the database does
    /// not use: a rotation did not reach them, or the database was restored to a time before a rotation.
    ///
    /// - Returns: `nil` if no key opens the value at that place.
    /// - Throws: an error if the keys cannot be read.
    package func openUnderAnyKey(_ sealed: Octets, at place: [UInt8]) throws(SessionStoreError) -> Octets? {
        guard let id = Sealer.keyID(of: sealed) else { return nil }
        let keys = try keyRing.source.load(mayCreate: false)
        _ = try KeyRing.newest(keys, of: keyRing.source)
        for key in keys.reversed() {
            if let octets = Sealer(key, id: id).open(sealed, at: place) { return octets }
        }
        return nil
    }

    /// The former keys of a key file that values of this database may be sealed under.
    package func needed(_ keys: [KeyFile.FormerKey]) throws(SessionStoreError) -> [KeyFile.FormerKey] {
        try read { SessionDatabase.needed(keys, try SealingKeyRows(database: $0).all()) }
    }

    /// The former keys of a key file that values of a database file, such as a backup, may be sealed under.
    ///
    /// Reads no value, and migrates nothing. A file that is not a Crumb database needs none.
    ///
    /// - Throws: an error if the file cannot be read, because the keys are then unknown.
    package static func needed(
        _ keys: [KeyFile.FormerKey], byFile path: String
    ) throws(SessionStoreError) -> [KeyFile.FormerKey] {
        try SessionStoreError.catching(path) {
            guard try Engine.isOurs(file: path) else { return [] }
            return try Engine.read(file: path) { needed(keys, try SealingKeyRows(database: $0).all()) }
        }
    }

    private static func needed(_ keys: [KeyFile.FormerKey], _ rows: [SealingKeyRows.Row]) -> [KeyFile.FormerKey] {
        keys.filter { key in rows.contains { $0.isSealed(under: key.key) } }
    }

    private func newestKey() throws(SessionStoreError) -> SealingKey {
        try KeyRing.newest(try keyRing.source.load(mayCreate: false), of: keyRing.source)
    }

    /// Reseals everything under `key`, which the source must already return.
    private func reseal(
        _ key: SealingKey, batchSize: Int, now: Timestamp, _ resealOthers: () throws(SessionStoreError) -> Void,
        _ progress: (Int) -> Void
    ) throws(SessionStoreError) -> KeyRotation {
        let hasOlderKeys = try write { database in
            let rows = SealingKeyRows(database: database)
            if !sealer.newestKey.isSame(as: key) {
                try rows.append(key, now: now)
            } else if try rows.all().count == 1, engine.traits.isShared || keyRing.source.file == nil {
                throw SessionStoreError(
                    .keyRotationRefused, keyRing.source.name,
                    advice: engine.traits.isShared
                        ? "its newest key is in use; for another one, "
                            + "\(app: "append a new key to its source", command: "run 'crumb cluster rotate-key --new-key'") first"
                        : "there is no newer key; append one to the old one")
            }
            return try rows.all().count > 1
        }
        var rotation = KeyRotation()
        if hasOlderKeys {
            // A first transaction makes all writers use the new key. Otherwise the old key could be removed while
            // values are still sealed under it.
            guard try write(.database, { _ in sealer.newestKey.isSame(as: key) }) else {
                throw SessionStoreError(
                    .keyRotationRefused, keyRing.source.name,
                    "the new key is not in use yet; nothing was changed. Try again")
            }
            try checkKeys()
            // From here on, all writers seal under the new key, so no resealed page gets values under the old key. This
            // holds on a server, too, because that transaction has waited for all running ones.
            for table in SealedTable.allCases {
                var position: SealedTable.Position?
                repeat {
                    let (end, count) = try write(resealingLock) { database in
                        let page = try table.page(database, after: position, limit: batchSize)
                        // Jars are locked before their rows, as in every transaction. Otherwise two could wait for each
                        // other.
                        _ = try database.lock(.jars(page.values.compactMap(\.key.jarID)))
                        var count = 0
                        for value in page.values where Sealer.keyID(of: value.sealed) != sealer.keyID {
                            if try reseal(value, database) { count += 1 }
                        }
                        return (page.end, count)
                    }
                    position = end
                    rotation.resealed += count
                    progress(rotation.resealed)
                } while position != nil
            }
            try resealOthers()
            rotation.unreadable = try giveUpOlderKeys(&rotation.resealed)
        }
        // Free pages of the file and of the log still contain values sealed under the old key.
        try compact()
        rotation.isLogEmpty = try emptyLog()
        return rotation
    }

    /// Throws if a key is missing that values may be sealed under. Otherwise the key would be forgotten, and its values
    /// would be lost.
    private func checkKeys() throws(SessionStoreError) {
        guard try hasMissingKeys() else { return }
        throw SessionStoreError(
            .keyMissing, keyRing.source.name,
            "a key is not there that values may still be sealed under; put it back before the newest one, and run the "
                + "command again")
    }

    /// Whether values may be sealed under a key that the source does not have.
    func hasMissingKeys() throws(SessionStoreError) -> Bool {
        try read { try SealingKeyRows(database: $0).all() }.contains { !sealer.hasKey($0.id) }
    }

    /// What a transaction locks that reseals values. On a server, a value that was replaced since it was read is left
    /// alone, so that nothing else has to wait.
    private var resealingLock: WriteLock { engine.traits.hasRowLocks ? .changedRows : .database }

    /// Reseals one value.
    ///
    /// - Returns: whether the value could be opened.
    private func reseal(_ value: SealedValue, _ database: Connection) throws -> Bool {
        guard let opened = sealer.open(value.sealed, at: value.place) else { return false }
        try SealedTable.write(try sealer.seal(opened, at: value.place), to: value, database)
        return true
    }

    /// Removes the older keys, in one transaction with the check that no readable value needs them.
    ///
    /// - Returns: the values that cannot be read.
    private func giveUpOlderKeys(_ resealed: inout Int) throws(SessionStoreError) -> [SealedValueLocation] {
        // The key file may drop the key only after all of this is safely on the disk.
        let (count, unreadable) = try SessionStoreError.catching(path) {
            try engine.withFullSynchronization {
                try write(resealingLock) { database in
                    var count = 0
                    var unreadable: [SealedValueLocation] = []
                    for table in SealedTable.allCases {
                        try table.forEach(database, notUnder: sealer.keyID) { value in
                            if try reseal(value, database) { count += 1 } else { unreadable.append(value.location) }
                        }
                    }
                    try SealingKeyRows(database: database).deleteOlder(than: sealer.keyID)
                    return (count, unreadable)
                }
            }
        }
        resealed += count
        return unreadable
    }
}

/// The result of a key rotation.
public struct KeyRotation: Sendable, Hashable {
    /// How many values were resealed.
    public package(set) var resealed = 0
    /// The values that no loaded key opens, because they were changed, moved or truncated. They stay as they are.
    public package(set) var unreadable: [SealedValueLocation] = []
    /// The keys that were in use when the rotation began. A new key was created only if the newest one was in use.
    package var began = KeyUse.newest
    /// Whether the write-ahead log was emptied. If another process was reading, the log keeps values under the old key
    /// until that process ends its read.
    public package(set) var isLogEmpty = false

    /// Creates a result of a rotation that has resealed nothing.
    package init() {}
}

/// The keys of its source that a database is sealed under.
package enum KeyUse: Sendable, Hashable {
    /// The newest one.
    case newest
    /// A former one: another database that uses the same key file was rotated, this one is a backup, or a rotation was
    /// interrupted before the new key was in use.
    case former
    /// Several: a rotation was interrupted, or is in progress.
    case several
}
