public import CookieModel
public import OAuth2
public import SessionStore

/// Whose credential goes where: the URLs that a token is meant for, and where the token comes from.
public struct AuthorizationRule: Sendable {
    /// Gives the tokens for a URL within the scope; `nil` if there are none at present.
    public typealias TokenSource = @Sendable (_ url: RequestURL) throws(SessionStoreError) -> TokenSet?
    /// Gives the tokens for a URL within the scope with the key that they are bound to; `nil` if there are none.
    public typealias CredentialSource = @Sendable (_ url: RequestURL) throws(SessionStoreError) -> AccessCredential?

    /// The URLs that the credential is meant for.
    public let scope: URLScope
    /// Where the credential comes from; it is asked for each request again.
    public let credential: CredentialSource

    /// A rule for tokens that may be bound to a key.
    public init(within scope: URLScope, credential: @escaping CredentialSource) {
        self.scope = scope
        self.credential = credential
    }

    /// A rule for tokens that are bound to no key.
    public init(scope: URLScope, tokens: @escaping TokenSource) {
        self.init(within: scope) { url throws(SessionStoreError) in
            guard let tokens = try tokens(url) else { return nil }
            return AccessCredential(tokens)
        }
    }

    /// The tokens of a name in a store, as they are when a request is made.
    public init(scope: URLScope, named name: String, in store: TokenStore) {
        self.init(within: scope) { _ throws(SessionStoreError) -> AccessCredential? in
            do throws(SessionStoreError) {
                return try store.credential(name)
            } catch  where error.code == .tokenNotFound {
                return nil
            }
        }
    }

    /// Whether a credential may go to `url`: over a connection that others cannot read, or one that stays on this
    /// machine (RFC 6750, section 5.3).
    package static func isConfidential(_ url: RequestURL) -> Bool {
        url.scheme.isCryptographic || url.host.isLoopback
    }
}
