public import OAuth2

extension KeyFile {
    /// What a key file is, without what is in it.
    public struct State: Sendable, Hashable {
        /// How many keys it holds: one, or more while a rotation is under way.
        public let keyCount: Int
        /// Whether a passphrase locks it.
        public let isLocked: Bool
    }

    /// What the file is; `nil` where there is none. Needs no passphrase.
    ///
    /// - Throws: ``SessionStoreError/Code/keyExposed`` where others may read it, and
    ///   ``SessionStoreError/Code/keyUnavailable`` where it cannot be read, or is no key.
    public func state() throws(SessionStoreError) -> State? {
        try lines().map { lines in State(keyCount: lines.count, isLocked: lines.contains { $0.isLocked }) }
    }

    /// Locks the key with another passphrase, or with none. No database changes: the key stays the same.
    ///
    /// Whoever copied the old file and knows the old passphrase still has the key: that is what a rotation is for.
    ///
    /// - Parameter passphrase: the new passphrase; `nil` leaves the key in the clear, mode 0600.
    /// - Throws: an error where the present passphrase is not right, or the file cannot be written; it is then as it was.
    public func changePassphrase(to passphrase: Secret?) throws(SessionStoreError) {
        try locked { () throws(SessionStoreError) in
            try replace(try load(mayCreate: false), passphrase: passphrase)
        }
    }

    /// Runs `body` while no other process changes the file.
    func locked<Result>(_ body: () throws(SessionStoreError) -> Result) throws(SessionStoreError) -> Result {
        guard let lock = FolderLock(of: path) else {
            throw SessionStoreError(
                .keyRotationRefused, path,
                FolderLock.isHeldElsewhere
                    ? "another process is changing the key file; wait for its end"
                    : "the key file's folder cannot be locked: \(PrivateFile.message(PrivateFile.lastFailure))")
        }
        defer { withExtendedLifetime(lock) {} }
        // What a process that was killed left unfinished holds a key.
        PrivateFile.removeTemporaries(of: PrivateFile.resolved(path))
        return try body()
    }

    /// Adds a new key behind those that are there.
    func appendKey() throws(SessionStoreError) {
        guard let lines = try lines() else {
            throw SessionStoreError(.keyMissing, path, "the key file is not here; put it back")
        }
        // The passphrase has to be proven before something new is locked with it.
        _ = try keys(lines)
        let passphrase = lines.contains { $0.isLocked } ? try passphrase() : nil
        try replace(lines + [try line(SealingKey(), passphrase: passphrase)])
    }

    /// Drops every key but `newest`, which has to be the last one.
    func keepOnly(_ newest: SealingKey) throws(SessionStoreError) {
        guard let lines = try lines(), let last = lines.last, let key = try keys([last]).first, key.isSame(as: newest)
        else {
            throw SessionStoreError(
                .keyRotationRefused, path, "the key file was changed meanwhile; everything is sealed, run it again")
        }
        guard lines.count > 1 else { return }
        try replace([last])
    }
}
