public import CookieModel
package import HTTPTypes
public import OAuth2
public import SessionStore

/// A rule that adds a token to requests: the URLs that the token is for, and the source of the token.
public struct AuthorizationRule: Sendable {
    /// Returns the tokens for a URL within the scope, or `nil` if there are none.
    public typealias TokenSource = @Sendable (_ url: RequestURL) throws(SessionStoreError) -> TokenSet?
    /// Returns the tokens for a URL within the scope with the key that they are bound to, or `nil` if there are none.
    package typealias CredentialSource = @Sendable (_ url: RequestURL) throws(SessionStoreError) -> AccessCredential?

    /// The URLs that the credential is for.
    package let scope: URLScope
    /// The source of the credential, called for each request.
    package let credential: CredentialSource
    /// Where the stored tokens of the rule are; `nil` if it gets them from elsewhere.
    private let source: (name: String, store: TokenStore)?

    /// Creates a rule for tokens that may be bound to a key.
    package init(within scope: URLScope, credential: @escaping CredentialSource) {
        self.init(within: scope, named: nil, credential: credential)
    }

    /// Creates a rule for tokens that may be bound to a key.
    ///
    /// - Parameter source: Where the tokens are stored, if they are.
    init(
        within scope: URLScope, named source: (name: String, store: TokenStore)?,
        credential: @escaping CredentialSource
    ) {
        self.scope = scope
        self.credential = credential
        self.source = source
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
        self.init(within: scope, named: (name, store)) { _ throws(SessionStoreError) -> AccessCredential? in
            do throws(SessionStoreError) {
                return try store.credential(name)
            } catch  where error.code == .tokenNotFound {
                return nil
            }
        }
    }

    /// Whether the tokens are stored ones.
    var isStored: Bool { source != nil }

    /// Returns a name of the login whose token an Authorization field presents. It stays the same when the token is
    /// renewed, and changes with the account, if that is known.
    ///
    /// - Returns: `nil` if the token is not a stored one of this rule.
    func login(presenting field: Octets) -> Octets? {
        guard let source, let stored = try? source.store.get(source.name),
            field.bytes.drop(while: { $0 != ASCII.space }).dropFirst().elementsEqual(
                stored.tokens.accessToken.exposedBytes)
        else { return nil }
        let id = stored.profile.id
        return Octets([source.name, id.issuer, id.clientID, id.account].joined(separator: "\n"))
    }

    /// Returns the fields that present the credential in a request, with the proof that a bound token needs, or the
    /// reason for omitting them.
    ///
    /// - Parameters:
    ///   - context: The request, with the URLs that redirected to it.
    ///   - method: The method as it is sent.
    package func fields(
        for context: RequestContext, method: String, nonces: DPoPNonces, now: Timestamp
    ) throws(SessionStoreError) -> Result<[HTTPField], FieldOmissionReason> {
        guard scope.contains(context.url) else { return .failure(.outsideScope) }
        guard AuthorizationRule.isConfidential(context.url) else { return .failure(.insecureTransport) }
        // The redirecting site chooses the URL. If it got a token, any site could act in the user's name.
        guard context.redirects.allSatisfy({ $0.isSameOrigin(as: context.url) })
        else { return .failure(.crossOriginRedirect) }
        guard let credential = try credential(context.url) else { return .failure(.tokenMissing) }
        guard credential.tokens.validity(at: now) != .expired else { return .failure(.tokenExpired) }
        var generator = SystemRandomNumberGenerator()
        let fields = try? credential.exposedFields(
            method: method, url: context.url.withoutQuery.description, nonce: nonces.nonce(for: context.url.origin),
            now: now, using: &generator)
        return fields.map { .success($0) } ?? .failure(.tokenNotPresentable)
    }

    /// Whether a credential may go to `url`: over a connection that others cannot read, or one that stays on this
    /// machine (RFC 6750, section 5.3).
    package static func isConfidential(_ url: RequestURL) -> Bool {
        url.scheme.isCryptographic || url.host.isLoopback
    }
}
