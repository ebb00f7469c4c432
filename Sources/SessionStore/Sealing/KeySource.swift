/// Where the sealing key comes from.
public struct KeySource: Sendable {
    /// Where a person would look for the key: a path, "the environment".
    public let name: String
    private let loading: @Sendable (_ mayCreate: Bool) throws(SessionStoreError) -> SealingKey

    /// A source of one's own, such as a keychain.
    ///
    /// - Parameters:
    ///   - name: where a person would look for the key.
    ///   - load: gives the key. `mayCreate` is true where the database has no sealed value yet, so that a new key may
    ///     be made; where it is false, a key that is not there is an error.
    public init(name: String, load: @escaping @Sendable (_ mayCreate: Bool) throws(SessionStoreError) -> SealingKey) {
        self.name = name
        loading = load
    }

    /// A key that the program holds already.
    public static func key(_ key: SealingKey) -> KeySource {
        KeySource(name: "the program") { _ throws(SessionStoreError) in key }
    }

    /// A key file, made with mode 0600 on first use.
    public static func file(_ path: String) -> KeySource {
        KeySource(name: path) { mayCreate throws(SessionStoreError) in
            try KeyFile.load(path, mayCreate: mayCreate)
        }
    }

    func load(mayCreate: Bool) throws(SessionStoreError) -> SealingKey {
        try loading(mayCreate)
    }
}
