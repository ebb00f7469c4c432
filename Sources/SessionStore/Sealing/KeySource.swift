/// Where the sealing keys come from.
public struct KeySource: Sendable {
    /// Where a person would look for the key: a path, "the environment".
    public let name: String
    /// The key file, where that is the source: only that can be given a new key.
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

    /// A source of one's own, such as a keychain.
    ///
    /// - Parameters:
    ///   - name: where a person would look for the key.
    ///   - load: gives the key. `mayCreate` is true where the database has no sealed value yet, so that a new key may
    ///     be made; where it is false, a key that is not there is an error.
    public init(name: String, load: @escaping @Sendable (_ mayCreate: Bool) throws(SessionStoreError) -> SealingKey) {
        self.init(name: name, file: nil) { mayCreate throws(SessionStoreError) in [try load(mayCreate)] }
    }

    /// A source of one's own that can hold several keys, so that values can be sealed anew under the newest.
    ///
    /// - Parameters:
    ///   - name: where a person would look for the keys.
    ///   - loadAll: gives all keys, the newest last: that one seals, and the others open what was sealed before
    ///     ``SessionDatabase/rotateKey(keepingOldKeys:batchSize:now:)``. Asked again where another process has rotated.
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

    /// A key file, made with mode 0600 on first use.
    public static func file(_ path: String) -> KeySource {
        file(KeyFile(path))
    }

    /// A key file, made with mode 0600 on first use; locked with a passphrase where it is given one.
    public static func file(_ file: KeyFile) -> KeySource {
        KeySource(name: file.path, file: file) { mayCreate throws(SessionStoreError) in
            try file.load(mayCreate: mayCreate)
        }
    }

    func load(mayCreate: Bool) throws(SessionStoreError) -> [SealingKey] {
        try loading(mayCreate)
    }
}
