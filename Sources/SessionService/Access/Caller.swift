import SessionStore

/// Who sends a request.
struct Caller: Sendable, Hashable {
    /// The name of the access token, or of the way in; it appears in the audit log.
    var name: String
    var grant: AccessGrant

    /// A caller with what it may do.
    init(name: String, grant: AccessGrant) {
        self.name = name
        self.grant = grant
    }

    /// Nobody: may do nothing.
    static let nobody = Caller(name: "nobody", grant: AccessGrant(verbs: [], jars: .named([])))

    /// Whoever reaches the socket that its owner alone can reach. An access token can have the same name, and the same
    /// meaning.
    static let owner = Caller(name: "owner", grant: .everything)
}
