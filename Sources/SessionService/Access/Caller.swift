import CookieModel
import SessionStore

/// Who sends a request.
struct Caller: Sendable, Hashable {
    /// The name of the access token, or of the way in; it appears in the audit log.
    var name: String
    var grant: AccessGrant
    /// The number of the access token; `nil` for the way in. Names are given again after a token was revoked, numbers
    /// never.
    var tokenID: Int64?

    /// A caller with what it may do.
    init(name: String, grant: AccessGrant, tokenID: Int64? = nil) {
        self.name = name
        self.grant = grant
        self.tokenID = tokenID
    }

    /// The bearer of an access token.
    init(_ token: ServiceToken) {
        self.init(name: token.name, grant: token.grant, tokenID: token.id)
    }

    /// Whether who was let in once would be let in again.
    func isStillAdmitted(by tokens: ServiceTokenStore, now: Timestamp) throws(SessionStoreError) -> Bool {
        guard let tokenID else { return true }
        return try tokens.isValid(tokenID, now: now)
    }

    /// Nobody: may do nothing.
    static let nobody = Caller(name: "nobody", grant: AccessGrant(verbs: [], jars: .named([])))

    /// Whoever reaches the socket that its owner alone can reach. An access token can have the same name, and the same
    /// meaning.
    static let owner = Caller(name: "owner", grant: .everything)
}
