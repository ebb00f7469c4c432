/// What makes an OAuth2 authorization one and not another: who issued it, to which client, for which account.
///
/// The three are compared as they are, without normalization (RFC 8414, section 3.3 asks for that of issuers). An
/// empty string means that the part is not known, as with tokens that another tool obtained, and is a value like any
/// other: two authorizations with no known account are the same one.
public struct ProfileID: Sendable, Hashable {
    /// The authorization server's issuer identifier (RFC 8414, section 2), or an empty string.
    public var issuer: String
    /// The client identifier (RFC 6749, section 2.2), or an empty string.
    public var clientID: String
    /// The account at the issuer, such as an ID token's `sub`, or an empty string.
    public var account: String

    /// An identity of the parts that are known.
    public init(issuer: String = "", clientID: String = "", account: String = "") {
        self.issuer = issuer
        self.clientID = clientID
        self.account = account
    }
}
