internal import Foundation
public import OAuth2
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A file with a key in it, or with two while a rotation is under way: a line each, the newest last.
///
/// It is made with mode 0600 on first use and refused where others may read it. A passphrase can lock it (scrypt,
/// RFC 7914); the passphrase is asked for once in the life of this object.
public final class KeyFile: Sendable {
    /// The passphrase and the keys found so far, so that neither the user is asked nor scrypt computed twice.
    private struct Memory {
        var passphrase: Secret?
        var keys: [KeyFileLine: SealingKey] = [:]
    }

    /// The path of the file.
    public let path: String
    let passphrases: PassphraseSource?
    /// The cost of scrypt for lines that are written.
    let cost: Int
    private let memory = Mutex(Memory())

    /// - Parameters:
    ///   - path: the file.
    ///   - passphrase: where the passphrase comes from; `nil` where a locked file is to be an error.
    public convenience init(_ path: String, passphrase: PassphraseSource? = nil) {
        self.init(path, passphrase: passphrase, cost: ScryptParameters.defaultCost)
    }

    init(_ path: String, passphrase: PassphraseSource?, cost: Int) {
        self.path = path
        passphrases = passphrase
        self.cost = cost
    }

    /// All keys, the newest last.
    func load(mayCreate: Bool) throws(SessionStoreError) -> [SealingKey] {
        if let lines = try lines() { return try keys(lines) }
        guard mayCreate else {
            throw SessionStoreError(
                .keyMissing, path,
                "the key file of the database is missing; put it back, or name it in CRUMB_KEY_FILE")
        }
        let passphrase = passphrases?.locksNewFiles == true ? try passphrase() : nil
        let bytes = text([try line(SealingKey(), passphrase: passphrase)])
        PrivateFile.createFolders(above: path)
        let failure = PrivateFile.publish(bytes, to: path)
        guard failure == 0 || failure == EEXIST else { throw notWritten(failure) }
        // Read back, also where another process was first: its key is the one that counts.
        guard let lines = try lines() else {
            throw SessionStoreError(
                .keyUnavailable, path, "another process removed the key file while it was being created")
        }
        return try keys(lines)
    }

    /// The lines of the file; `nil` if it does not exist.
    func lines() throws(SessionStoreError) -> [KeyFileLine]? {
        guard let bytes = PrivateFile.contents(path, limit: 16384) else {
            let failure = errno
            if failure == ENOENT { return nil }
            throw SessionStoreError(
                .keyUnavailable, path, "the key file cannot be read: \(PrivateFile.message(failure))")
        }
        if let permissions = PrivateFile.permissions(path), permissions & 0o077 != 0 {
            throw SessionStoreError(.keyExposed, path, "other users can read the key file; run: chmod 600 '\(path)'")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.components(separatedBy: .newlines).map { $0.trimmingCharacters(in: .whitespaces) }
        let keys = lines.filter { !$0.isEmpty }.map { KeyFileLine($0) }
        guard !keys.isEmpty, !keys.contains(nil) else {
            throw SessionStoreError(.keyUnavailable, path, "the file is not a Crumb key file")
        }
        return keys.compactMap { $0 }
    }

    /// The keys in these lines.
    func keys(_ lines: [KeyFileLine]) throws(SessionStoreError) -> [SealingKey] {
        var keys: [SealingKey] = []
        for line in lines {
            if let known = memory.withLock({ $0.keys[line] }) {
                keys.append(known)
                continue
            }
            let passphrase = line.isLocked ? try passphrase() : nil
            if line.isLocked, passphrase == nil {
                throw SessionStoreError(
                    .keyLocked, path,
                    "the key is locked with a passphrase; name the file with the passphrase in "
                        + "CRUMB_PASSPHRASE_FILE, or run this on a terminal")
            }
            guard let key = line.key(passphrase) else {
                throw SessionStoreError(
                    .keyWrong, path, "the passphrase from \(passphrases?.name ?? "nowhere") does not unlock this key")
            }
            memory.withLock { $0.keys[line] = key }
            keys.append(key)
        }
        return keys
    }

    /// Puts these keys in the place of those that are there, all at once, locked with that passphrase or with none.
    func replace(_ keys: [SealingKey], passphrase: Secret?) throws(SessionStoreError) {
        var lines: [KeyFileLine] = []
        for key in keys {
            let line = try line(key, passphrase: passphrase)
            memory.withLock { $0.keys[line] = key }
            lines.append(line)
        }
        try replace(lines)
        memory.withLock { $0.passphrase = passphrase }
    }

    /// Puts these lines in the place of those that are there, all at once.
    func replace(_ lines: [KeyFileLine]) throws(SessionStoreError) {
        let failure = PrivateFile.replace(text(lines), at: path)
        guard failure == 0 else { throw notWritten(failure) }
    }

    /// The line for a new key, locked as the others are.
    func line(_ key: SealingKey, passphrase: Secret?) throws(SessionStoreError) -> KeyFileLine {
        guard let line = KeyFileLine(key, passphrase: passphrase, cost: cost) else {
            throw SessionStoreError(.keyUnavailable, path, "there is not enough memory to lock the key")
        }
        return line
    }

    /// The passphrase, asked for where it is not known yet.
    func passphrase() throws(SessionStoreError) -> Secret? {
        if let known = memory.withLock({ $0.passphrase }) { return known }
        guard let passphrase = try passphrases?.load() else { return nil }
        memory.withLock { $0.passphrase = passphrase }
        return passphrase
    }

    private func text(_ lines: [KeyFileLine]) -> [UInt8] {
        Array(lines.map { $0.text + "\n" }.joined().utf8)
    }

    private func notWritten(_ failure: Int32) -> SessionStoreError {
        SessionStoreError(
            failure == ENOSPC ? .diskFull : .keyUnavailable, path,
            "the key file cannot be created: \(PrivateFile.message(failure))")
    }
}

extension KeyFile {
    /// The properties of a key file, without its content.
    public struct State: Sendable, Hashable {
        /// How many keys it holds: one, or more while a rotation is under way.
        public let keyCount: Int
        /// Whether a passphrase locks it.
        public let isLocked: Bool
    }

    /// The kind of the file; `nil` if it does not exist. Needs no passphrase.
    ///
    /// - Throws: ``SessionStoreError/Code/keyExposed`` where others may read it, and
    ///   ``SessionStoreError/Code/keyUnavailable`` where it cannot be read, or is no key.
    public func state() throws(SessionStoreError) -> State? {
        try lines().map { lines in State(keyCount: lines.count, isLocked: lines.contains { $0.isLocked }) }
    }

    /// Locks the key with another passphrase, or with none. No database changes: the key stays the same.
    ///
    /// A person who copied the old file and knows the old passphrase still has the key: use a rotation against that.
    ///
    /// - Parameter passphrase: the new passphrase; `nil` leaves the key in the clear, mode 0600.
    /// - Throws: an error where the present passphrase is not right, or the file cannot be written; it is then as it was.
    public func changePassphrase(to passphrase: Secret?) throws(SessionStoreError) {
        try locked { () throws(SessionStoreError) in
            try replace(try load(mayCreate: false), passphrase: passphrase)
        }
    }

    /// Adds a new key, which nothing is sealed under until a rotation: services that share a database on a server get it
    /// before.
    ///
    /// - Throws: ``SessionStoreError/Code/keyRotationRefused`` if another process is changing the file, and the errors of
    ///   reading and writing it, which is then as it was.
    public func addKey() throws(SessionStoreError) {
        try locked { () throws(SessionStoreError) in try appendKey() }
    }

    /// Runs `body` while no other process changes the file.
    func locked<Result>(_ body: () throws(SessionStoreError) -> Result) throws(SessionStoreError) -> Result {
        guard let lock = FolderLock(of: path) else {
            throw SessionStoreError(
                .keyRotationRefused, path,
                FolderLock.isHeldElsewhere
                    ? "another process is changing the key file; try again when it has finished"
                    : "the key file's folder cannot be locked: \(PrivateFile.message(PrivateFile.lastFailure))")
        }
        defer { withExtendedLifetime(lock) {} }
        // A file that a killed process left unfinished contains a key.
        PrivateFile.removeTemporaries(of: PrivateFile.resolved(path))
        return try body()
    }

    /// Adds a new key behind those that are there.
    func appendKey() throws(SessionStoreError) {
        guard let lines = try lines() else {
            throw SessionStoreError(.keyMissing, path, "the key file is missing; put it back")
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
                .keyRotationRefused, path,
                "another process changed the key file during the rotation; every value is sealed. Run the "
                    + "command again")
        }
        guard lines.count > 1 else { return }
        try replace([last])
    }
}
