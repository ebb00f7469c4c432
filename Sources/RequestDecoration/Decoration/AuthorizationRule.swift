public import CookieModel
public import OAuth2
public import SessionStore

/// A rule that adds a token to requests: the URLs that the token is for, and the source of the token.
public struct AuthorizationRule: Sendable {
    /// Returns the tokens for a URL within the scope, or `nil` if there are none.
    public typealias TokenSource = @Sendable (_ url: RequestURL) throws(SessionStoreError) -> TokenSet?
    /// Returns the tokens for a URL within the scope with the key that they are bound to, or `nil` if there are none.
    public typealias CredentialSource = @Sendable (_ url: RequestURL) throws(SessionStoreError) -> AccessCredential?

    /// The URLs that the credential is for.
    public let scope: URLScope
    /// The source of the credential, called for each request.
    public let credential: CredentialSource

    /// Creates a rule for tokens that may be bound to a key.
    public init(within scope: URLScope, credential: @escaping CredentialSource) {
        self.scope = scope
        self.credential = credential
    }

    /// Creates a rule for tokens that are not bound to a key.
    public init(scope: URLScope, tokens: @escaping TokenSource) {
        self.init(within: scope) { url throws(SessionStoreError) in
            guard let tokens = try tokens(url) else { return nil }
            return AccessCredential(tokens)
        }
    }

    /// Creates a rule for the tokens of a name in a store, read for each request.
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
