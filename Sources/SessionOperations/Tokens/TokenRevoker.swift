package import CookieModel
package import OAuth2
package import SessionStore

/// Ends tokens at the server that issued them.
package struct TokenRevoker: Sendable {
    /// How often it tries again because another process has renewed the tokens in the meantime.
    private static let attempts = 4

    private let store: TokenStore
    private let transport: any EndpointTransport
    private let now: @Sendable () -> Timestamp

    package init(_ store: TokenStore, over transport: any EndpointTransport, now: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.transport = transport
        self.now = now
    }

    /// Ends a profile's tokens: the refresh token first, from which others could be got, those for single resources last.
    ///
    /// - Returns: which tokens were ended. They are kept no longer, and the access token counts as expired.
    /// - Throws: `OperationError`, `SessionStoreError`, or `OAuth2Error`.
    package func revoke(_ name: String) async throws -> [TokenKind] {
        // Tokens that another process renews in the meantime are revoked as well: they belong to the same login.
        var revoked: [TokenKind] = []
        for _ in 0..<TokenRevoker.attempts {
            let stored = try store.get(name)
            guard let credentials = try store.credentials(name) else { throw OperationError(noEndpointsOf: name) }
            // Damaged ones cannot be sent; that keeps the others from nothing.
            let resourceTokens = (try? store.resourceAccessTokens(of: name, now: now())) ?? []
            let ended = try await TokenRevoker.end(
                stored.tokens, and: resourceTokens, of: stored.profile.id, by: credentials, over: transport, now: now)
            for kind in ended where !revoked.contains(kind) { revoked.append(kind) }
            var tokens = stored.tokens
            let moment = now()
            tokens.refreshToken = nil
            tokens.accessTokenExpiry = min(tokens.accessTokenExpiry ?? moment, moment)
            if try store.put(
                tokens, for: stored.profile, expectedGeneration: stored.generation, cause: .refused, now: moment)
            {
                return revoked
            }
        }
        throw OperationError(
            .tokenRefreshBusy,
            "\(name): another process keeps renewing these tokens; stop it, and try again")
    }

    /// Ends tokens at their server, the refresh token first.
    ///
    /// - Parameter resourceTokens: The login's access tokens for single resources.
    static func end(
        _ tokens: TokenSet, and resourceTokens: [Secret] = [], of profile: ProfileID,
        by credentials: ProfileCredentials,
        over transport: any EndpointTransport, now: @escaping @Sendable () -> Timestamp
    ) async throws -> [TokenKind] {
        let endpoint = try credentials.settings.url(of: .revocation)
        let transport = try credentials.binding(transport, now: now)
        var revoked: [TokenKind] = []
        let all = [(TokenKind.refreshToken, tokens.refreshToken), (.accessToken, tokens.accessToken)]
        for (kind, token) in all + resourceTokens.map({ (.accessToken, $0) }) {
            guard let token else { continue }
            var generator = SystemRandomNumberGenerator()
            let revocation = TokenRevocation(
                endpoint: endpoint,
                authentication: try credentials.authentication(
                    of: profile, now: now(), using: &generator))
            do throws(OAuth2Error) {
                try revocation.check(
                    try await transport.send(revocation.request(revoking: token, kind)), revoking: token)
                if !revoked.contains(kind) { revoked.append(kind) }
            } catch {
                // RFC 7009, section 2.2.1: not every server ends access tokens by themselves.
                guard error.serverCode == "unsupported_token_type", !revoked.isEmpty else { throw error }
            }
        }
        return revoked
    }
}

extension OperationError {
    /// The error that a server cannot be asked since nothing is known of it.
    package init(noEndpointsOf name: String) {
        self.init(
            .tokenSettingsInvalid,
            "\(name): the server's endpoints are unknown; log in with 'crumb token login \(name)', or import the "
                + "tokens again with "
                + "--discover, or with --endpoint name=URL")
    }
}

/// A request that will carry an access token. A bound token needs a proof for this request alone (RFC 9449).
package struct DPoPRequest: Sendable {
    package let method: String
    package let url: RequestURL
    /// The last nonce of the URL's server; `nil` if it gave none.
    package let nonce: String?

    package init(method: String, url: RequestURL, nonce: String? = nil) {
        self.method = method
        self.url = url
        self.nonce = nonce
    }

    /// Returns the proof to send with the request; `nil` for tokens that are bound to no key.
    ///
    /// - Parameter name: the name of the tokens.
    /// - Throws: `OperationError` if the key is missing, `OAuth2Error` if it cannot sign.
    package func proof(by credential: AccessCredential, of name: String, now: Timestamp) throws -> String? {
        guard credential.tokens.tokenType == .dpop else { return nil }
        var generator = SystemRandomNumberGenerator()
        let proof = try credential.proof(
            method: method, url: url.withoutQuery.description, nonce: nonce, now: now, using: &generator)
        guard let proof = proof?.exposedText else {
            throw OperationError(
                .tokenSettingsInvalid,
                "\(name): the key that the token is bound to is unknown; log in with 'crumb token login --dpop'")
        }
        return proof
    }
}
