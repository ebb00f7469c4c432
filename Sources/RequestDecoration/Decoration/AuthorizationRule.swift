public import CookieModel
public import OAuth2
public import SessionStore

/// Whose credential goes where: the URLs that a token is meant for, and where the token comes from.
public struct AuthorizationRule: Sendable {
    /// Gives the tokens for a URL within the scope; `nil` where there are none at present.
    public typealias TokenSource = @Sendable (_ url: RequestURL) throws(SessionStoreError) -> TokenSet?

    /// The URLs that the credential is meant for.
    public let scope: URLScope
    /// Where the tokens come from; it is asked for each request anew.
    public let tokens: TokenSource

    /// A rule from its parts.
    public init(scope: URLScope, tokens: @escaping TokenSource) {
        self.scope = scope
        self.tokens = tokens
    }

    /// The tokens of a name in a store, as they are when a request is made.
    public init(scope: URLScope, named name: String, in store: TokenStore) {
        self.init(scope: scope) { _ throws(SessionStoreError) in
            do throws(SessionStoreError) {
                return try store.get(name).tokens
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
