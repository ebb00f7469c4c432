public import OAuth2
import Platform

/// The source of the sealing keys.
public struct KeySource: Sendable {
    /// The place where a user finds the key: a path, or "the environment".
    public let name: String
    /// The key file, if that is the source. Only a key file can get a new key.
    let file: KeyFile?
    private let loading: @Sendable (_ mayCreate: Bool) throws(SessionStoreError) -> [SealingKey]

    private init(
        name: String, file: KeyFile?,
        loading: @escaping @Sendable (_ mayCreate: Bool) throws(SessionStoreError) -> [SealingKey]
    ) {
        self.name = name
        self.file = file
        self.loading = loading
    }

    /// A custom source, such as a keychain.
    ///
    /// - Parameters:
    ///   - name: the place where a user finds the key.
    ///   - load: returns the key. If `mayCreate` is `true`, the database has no sealed value yet, and a new key may be
    ///     created. Otherwise a missing key is an error. Throw `SessionStoreError.init(code:subject:reason:)`, also for
    ///     a locked keychain.
    public init(name: String, load: @escaping @Sendable (_ mayCreate: Bool) throws(SessionStoreError) -> SealingKey) {
        self.init(name: name, file: nil) { mayCreate throws(SessionStoreError) in [try load(mayCreate)] }
    }

    /// A custom source that can hold several keys, so that values can be resealed under the newest.
    ///
    /// - Parameters:
    ///   - name: the place where a user finds the keys.
    ///   - loadAll: returns all keys, the newest last. The newest one seals; the others open values sealed before
    ///     ``SessionDatabase/rotateKey(batchSize:now:progress:)``. It is called again if another process has
    ///     rotated the key.
    public static func keys(
        name: String, loadAll: @escaping @Sendable (_ mayCreate: Bool) throws(SessionStoreError) -> [SealingKey]
    ) -> KeySource {
        KeySource(name: name, file: nil, loading: loadAll)
    }

    /// A key that the program holds already.
    public static func key(_ key: SealingKey) -> KeySource {
        KeySource(name: "the program") { _ throws(SessionStoreError) in key }
    }

    /// Keys that the program holds already, the newest last.
    public static func keys(_ keys: [SealingKey]) -> KeySource {
        KeySource.keys(name: "the program") { _ throws(SessionStoreError) in keys }
    }

    /// A key file, created with mode 0600 on first use.
    public static func file(_ path: String) -> KeySource {
        file(KeyFile(path))
    }

    /// A key file, created with mode 0600 on first use, and locked if it has a passphrase.
    public static func file(_ file: KeyFile) -> KeySource {
        KeySource(name: file.path, file: file) { mayCreate throws(SessionStoreError) in
            try file.load(mayCreate: mayCreate)
        }
    }

    /// Throws if the source has no key. Does not create one.
    package func checkPresence() throws(SessionStoreError) {
        _ = try KeyRing.newest(try load(mayCreate: false), of: self)
    }

    /// The former keys, the oldest first.
    package func formerKeys() throws(SessionStoreError) -> [KeyFile.FormerKey] {
        if let file { return try file.formerKeys() }
        return try load(mayCreate: false).dropLast().enumerated().map {
            KeyFile.FormerKey(position: $0.offset, replaced: nil, key: $0.element)
        }
    }

    func load(mayCreate: Bool) throws(SessionStoreError) -> [SealingKey] {
        try loading(mayCreate)
    }
}

/// The source of the passphrase of a key file. A ``KeyFile`` asks it at most once, and only if the file needs a
/// passphrase.
public struct PassphraseSource: Sendable {
    /// The place where a user finds it: a path, or "the terminal".
    public let name: String
    /// Whether a key file that is created on first use gets the passphrase, too.
    package let locksNewFiles: Bool
    private let loading: @Sendable () throws(SessionStoreError) -> Secret?

    /// A custom source, such as a window that asks.
    ///
    /// - Parameters:
    ///   - name: the place where a user finds it.
    ///   - locksNewFiles: whether a key file that is created on first use gets the passphrase, too.
    ///   - load: Returns the passphrase; `nil` if there is no user to ask.
    public init(
        name: String, locksNewFiles: Bool = true,
        load: @escaping @Sendable () throws(SessionStoreError) -> Secret?
    ) {
        self.name = name
        self.locksNewFiles = locksNewFiles
        loading = load
    }

    /// A passphrase that the program holds already.
    public static func passphrase(_ passphrase: Secret) -> PassphraseSource {
        PassphraseSource(name: "the program") { () throws(SessionStoreError) in passphrase }
    }

    /// The first line of a file, or of a descriptor as `/dev/fd/3`.
    ///
    /// A file that others can read is rejected.
    public static func file(_ path: String) -> PassphraseSource {
        PassphraseSource(name: path) { () throws(SessionStoreError) in
            let bytes: [UInt8]
            do throws(SystemError) {
                bytes = try FileSystem.contents(path, limit: maximumSize + 2)
            } catch {
                throw SessionStoreError(.keyUnavailable, path, "the passphrase cannot be read: \(error.message)")
            }
            // A pipe has no modes that matter.
            if !FileSystem.isSpecial(path), let permissions = FileSystem.permissions(path), permissions & 0o077 != 0 {
                throw SessionStoreError(
                    .keyExposed, path, "other users can read the passphrase; run: chmod 600 '\(path)'")
            }
            let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            return try check(Secret(line), from: path)
        }
    }

    /// The longest passphrase, in bytes.
    static let maximumSize = 1024

    /// The passphrase; `nil` if there is no user to ask.
    package func load() throws(SessionStoreError) -> Secret? {
        guard let passphrase = try loading() else { return nil }
        return try PassphraseSource.check(passphrase, from: name)
    }

    private static func check(_ passphrase: Secret, from name: String) throws(SessionStoreError) -> Secret {
        let size = passphrase.withExposed { $0.count }
        guard (1...maximumSize).contains(size) else {
            throw SessionStoreError(
                .keyUnavailable, name, "a passphrase is one line of 1 to \(maximumSize) bytes")
        }
        return passphrase
    }
}
