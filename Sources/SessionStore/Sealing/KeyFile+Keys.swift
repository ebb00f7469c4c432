package import CookieModel
package import OAuth2
package import Platform

extension KeyFile {
    /// The properties of a key file, without its content.
    package struct State: Sendable, Hashable {
        /// How many keys it holds: the newest one, and former ones.
        package let keyCount: Int
        /// Whether a passphrase locks it.
        package let isLocked: Bool
    }

    /// The state of the file; `nil` if it does not exist. Needs no passphrase.
    ///
    /// - Throws: ``SessionStoreError/Code/keyExposed`` if others can read it, and
    ///   ``SessionStoreError/Code/keyUnavailable`` if it cannot be read, or contains no key.
    package func state() throws(SessionStoreError) -> State? {
        try lines().map { lines in State(keyCount: lines.count, isLocked: lines.contains { $0.lockParameters != nil }) }
    }

    /// Locks the key with another passphrase, or with none. No database changes: the key stays the same.
    ///
    /// Anyone who has copied the old file and knows the old passphrase still has the key. Rotate the key against that.
    ///
    /// - Parameter passphrase: the new passphrase; `nil` stores the key unencrypted, with mode 0600.
    /// - Throws: an error if the present passphrase is wrong, or the file cannot be written. After an error, the file
    ///   is unchanged.
    package func changePassphrase(to passphrase: Secret?) throws(SessionStoreError) {
        try locked { () throws(SessionStoreError) in
            try relock(passphrase)
        }
    }

    /// Creates the file with a new key, locked if the source of its passphrase locks new files.
    ///
    /// - Throws: ``SessionStoreError/Code/fileExists`` if the file exists. It is not changed.
    package func create() throws(SessionStoreError) {
        let failure = try publish()
        guard failure != EEXIST else {
            throw SessionStoreError(
                .fileExists, path, "the key file already exists; every value that it seals would be lost with it")
        }
        guard failure == 0 else { throw notWritten(failure) }
    }

    /// Adds a new key, under which nothing is sealed until a rotation. Services that share a database on a server need
    /// the key before that.
    ///
    /// - Parameter now: the current time, which is stored with the former key.
    /// - Throws: ``SessionStoreError/Code/keyRotationRefused`` if another process is changing the file, and the errors
    ///   of reading and writing it. After an error, the file is unchanged.
    package func addKey(now: Timestamp) throws(SessionStoreError) {
        try locked { () throws(SessionStoreError) in try appendKey(now: now) }
    }

    /// Runs `body` while no other process changes the file.
    func locked<Result>(_ body: () throws(SessionStoreError) -> Result) throws(SessionStoreError) -> Result {
        let lock: FolderLock
        do throws(SystemError) {
            lock = try FolderLock(of: path)
        } catch {
            throw SessionStoreError(
                .keyRotationRefused, path,
                error.number == EWOULDBLOCK
                    ? "another process is changing the key file; try again when it has finished"
                    : "the key file's folder cannot be locked: \(error.message)")
        }
        defer { withExtendedLifetime(lock) {} }
        // A file that a killed process left unfinished contains a key.
        PrivateFile.removeTemporaries(of: FileSystem.resolved(path))
        return try body()
    }

    /// Adds a new key as the newest one, and stores the time of the replacement with the former ones.
    func appendKey(now: Timestamp) throws(SessionStoreError) {
        guard var lines = try lines() else { throw missing }
        guard lines.count < KeyFile.maximumKeyCount else {
            throw SessionStoreError(
                .keyRotationRefused, path,
                advice: "the key file holds \(lines.count) keys, which is the limit; "
                    + "\(app: "forget the former ones", command: "run 'crumb key forget'") first")
        }
        // The passphrase must be verified before a new key is locked with it.
        _ = try keys(lines)
        var lock: KeyFileLock?
        for line in lines { lock = try self.lock(of: line) ?? lock }
        for index in lines.indices where lines[index].replaced == nil { lines[index].replaced = now }
        try replace(lines + [try line(SealingKey(), lock: lock)])
    }
}

/// Keeps other processes from changing the same file in a folder, for as long as this object lives; a process that dies
/// releases it. Nothing is written.
package final class FolderLock {
    private let folder: Descriptor

    /// Locks the folder of `path`.
    ///
    /// - Throws: `EWOULDBLOCK` if another process has the lock.
    package init(of path: String) throws(SystemError) {
        folder = try Descriptor(opening: FileSystem.folder(of: FileSystem.resolved(path)), O_RDONLY | O_DIRECTORY)
        guard retrying({ flock(folder.number, LOCK_EX | LOCK_NB) }) == 0 else { throw .last }
    }

    deinit {
        folder.close()
    }
}

extension KeyFile {
    /// A key that a newer one has replaced, in a key file or another source (``KeySource/formerKeys()``). Prints no key.
    package struct FormerKey: Sendable {
        /// Its position among the keys, of which the newest is the last.
        package let position: Int
        /// When a newer key was added; `nil` if the source does not report it.
        package let replaced: Timestamp?
        let key: SealingKey
    }

    /// The former keys, the oldest first.
    package func formerKeys() throws(SessionStoreError) -> [FormerKey] {
        guard let lines = try lines() else { return [] }
        return zip(lines, try keys(lines)).dropLast().enumerated().map { position, pair in
            FormerKey(position: position, replaced: pair.0.replaced, key: pair.1)
        }
    }

    /// Removes former keys. Values that are still sealed under them can never be read again.
    ///
    /// The newest key stays, even if another process has made it the newest since.
    ///
    /// - Throws: ``SessionStoreError/Code/keyRotationRefused`` if another process is changing the file, and the errors
    ///   of reading and writing it. After an error, the file is unchanged.
    package func forget(_ keys: [FormerKey]) throws(SessionStoreError) {
        try locked { () throws(SessionStoreError) in
            guard let lines = try lines(), let newest = lines.last else { throw missing }
            let kept = zip(lines, try self.keys(lines)).dropLast().filter { line, key in
                !keys.contains { $0.key.isSame(as: key) }
            }
            try replace(kept.map(\.0) + [newest])
        }
    }
}
