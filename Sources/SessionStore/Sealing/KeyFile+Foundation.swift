internal import CookieModel
internal import OAuth2
import Platform
import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A file with sealing keys: the newest one last, and before it the former ones, each with the time at which a newer key
/// replaced it.
///
/// It is created with mode 0600 on first use and rejected if other users can read it. Any number of databases can share
/// it: a rotation of one keeps the former key for the others and for backups, until `crumb key forget` removes it. A
/// passphrase can lock it (scrypt, RFC 7914). An object asks for the passphrase only once.
public final class KeyFile: Sendable {
    /// The known passphrase and lock, so that the user is not asked twice and scrypt is not computed twice.
    private struct Memory {
        var passphrase: Secret?
        var locks: [ScryptParameters: KeyFileLock] = [:]
    }

    /// The maximum number of keys in a file.
    static let maximumKeyCount = 256

    /// The path of the file.
    public let path: String
    let passphrases: PassphraseSource?
    /// The cost of scrypt for new lines.
    let cost: Int
    private let memory = Mutex(Memory())

    /// - Parameters:
    ///   - path: the file.
    ///   - passphrase: the source of the passphrase; `nil` if a locked file is an error.
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
                advice:
                    "the key file of the database is missing; put it back\(command: ", or name it in CRUMB_KEY_FILE")")
        }
        let failure = try publish()
        guard failure == 0 || failure == EEXIST else { throw notWritten(failure) }
        // The file is read back: if another process was first, its key counts.
        guard let lines = try lines() else {
            throw SessionStoreError(
                .keyUnavailable, path, "another process removed the key file while it was being created")
        }
        return try keys(lines)
    }

    /// Creates the file with a new key, locked if the source of its passphrase locks new files. Replaces no file.
    ///
    /// - Returns: 0, or the `errno` of the failure.
    func publish() throws(SessionStoreError) -> Int32 {
        let passphrase = passphrases?.locksNewFiles == true ? try passphrase() : nil
        let bytes = text([try line(SealingKey(), lock: try newLock(passphrase))])
        PrivateFile.createFolders(above: path)
        return PrivateFile.publish(bytes, to: path)
    }

    /// The lines of the file; `nil` if it does not exist.
    func lines() throws(SessionStoreError) -> [KeyFileLine]? {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try FileSystem.contents(path, limit: 1 << 16)
        } catch {
            if error.number == ENOENT { return nil }
            throw SessionStoreError(.keyUnavailable, path, "the key file cannot be read: \(error.message)")
        }
        if let permissions = FileSystem.permissions(path), permissions & 0o077 != 0 {
            throw SessionStoreError(.keyExposed, path, "other users can read the key file; run: chmod 600 '\(path)'")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline).map { String($0.trimmingWhitespace) }
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
            let lock = try lock(of: line)
            guard let key = line.key(lock) else {
                throw SessionStoreError(
                    .keyWrong, path, "the passphrase from \(passphrases?.name ?? "nowhere") does not unlock this key")
            }
            if let lock { memory.withLock { $0.locks[lock.parameters] = lock } }
            keys.append(key)
        }
        return keys
    }

    /// Replaces the lock of every key in one step. `nil` stores the keys unencrypted.
    func relock(_ passphrase: Secret?) throws(SessionStoreError) {
        guard let lines = try lines() else { throw missing }
        let lock = try newLock(passphrase)
        var relocked: [KeyFileLine] = []
        for (line, key) in zip(lines, try keys(lines)) {
            relocked.append(try self.line(key, lock: lock, replaced: line.replaced))
        }
        try replace(relocked)
        memory.withLock {
            $0.passphrase = passphrase
            $0.locks = [:]
            if let lock { $0.locks[lock.parameters] = lock }
        }
    }

    /// Replaces all lines by these, in one step.
    func replace(_ lines: [KeyFileLine]) throws(SessionStoreError) {
        let failure = PrivateFile.replace(text(lines), at: path)
        guard failure == 0 else { throw notWritten(failure) }
    }

    func line(
        _ key: SealingKey, lock: KeyFileLock?, replaced: Timestamp? = nil
    ) throws(SessionStoreError) -> KeyFileLine {
        guard let line = KeyFileLine(key, lock: lock, replaced: replaced) else {
            throw SessionStoreError(.keyUnavailable, path, "the key cannot be locked")
        }
        return line
    }

    /// The lock of a line, derived if it is not known yet; `nil` for an unlocked key.
    func lock(of line: KeyFileLine) throws(SessionStoreError) -> KeyFileLock? {
        guard let parameters = line.lockParameters else { return nil }
        if let known = memory.withLock({ $0.locks[parameters] }) { return known }
        guard let passphrase = try passphrase() else {
            throw SessionStoreError(
                .keyLocked, path,
                advice: "the key is locked with a passphrase; "
                    + "\(app: "give the key file a source of it", command: "name the file with the passphrase in CRUMB_PASSPHRASE_FILE, or run this on a terminal")"
            )
        }
        return try derive(passphrase, parameters)
    }

    /// The lock of a new file or a new passphrase; `nil` without a passphrase.
    private func newLock(_ passphrase: Secret?) throws(SessionStoreError) -> KeyFileLock? {
        guard let passphrase else { return nil }
        return try derive(passphrase, ScryptParameters(cost: cost))
    }

    private func derive(
        _ passphrase: Secret, _ parameters: ScryptParameters
    ) throws(SessionStoreError) -> KeyFileLock {
        guard let lock = KeyFileLock(passphrase, parameters) else {
            throw SessionStoreError(.keyUnavailable, path, "there is not enough memory to derive the key's lock")
        }
        return lock
    }

    /// The passphrase. The user is asked if it is not known yet.
    func passphrase() throws(SessionStoreError) -> Secret? {
        if let known = memory.withLock({ $0.passphrase }) { return known }
        guard let passphrase = try passphrases?.load() else { return nil }
        memory.withLock { $0.passphrase = passphrase }
        return passphrase
    }

    var missing: SessionStoreError {
        SessionStoreError(.keyMissing, path, "the key file is missing; put it back")
    }

    private func text(_ lines: [KeyFileLine]) -> [UInt8] {
        Array(lines.map { $0.text + "\n" }.joined().utf8)
    }

    func notWritten(_ failure: Int32) -> SessionStoreError {
        SessionStoreError(
            failure == ENOSPC ? .diskFull : .keyUnavailable, path,
            "the key file cannot be created: \(SystemError(failure).message(creating: path))")
    }
}
