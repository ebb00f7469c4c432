package import CookieModel
package import OAuth2
package import SessionStore

/// Ends tokens at the server that issued them.
package struct TokenRevoker: Sendable {
    private let store: TokenStore
    private let transport: any EndpointTransport
    private let now: @Sendable () -> Timestamp

    package init(_ store: TokenStore, over transport: any EndpointTransport, now: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.transport = transport
        self.now = now
    }

    /// Ends a profile's tokens: the refresh token first, from which others could be got.
    ///
    /// - Returns: which tokens were ended. They are kept no longer, and the access token counts as expired.
    /// - Throws: `OperationError`, `SessionStoreError`, or `OAuth2Error`.
    package func revoke(_ name: String) async throws -> [TokenKind] {
        let stored = try store.get(name)
        guard let credentials = try store.credentials(name) else {
            throw OperationError(
                code: "token-settings-missing",
                "\(name): the server's endpoints are not known; log in with 'crumb token login', or import again with "
                    + "--discover or --token-endpoint")
        }
        let endpoint = try credentials.settings.url(of: .revocation)
        let transport = try credentials.binding(transport) { [now] in now().microseconds }
        var tokens = stored.tokens
        var revoked: [TokenKind] = []
        for (kind, token) in [(TokenKind.refreshToken, tokens.refreshToken), (.accessToken, tokens.accessToken)] {
            guard let token else { continue }
            var generator = SystemRandomNumberGenerator()
            let revocation = TokenRevocation(
                endpoint: endpoint,
                authentication: try credentials.authentication(
                    of: stored.profile.id, now: now().microseconds, using: &generator))
            do throws(OAuth2Error) {
                try revocation.check(
                    try await transport.send(revocation.request(revoking: token, kind)), revoking: token)
                revoked.append(kind)
            } catch {
                // RFC 7009, section 2.2.1: not every server ends access tokens by themselves.
                guard error.serverCode == "unsupported_token_type", !revoked.isEmpty else { throw error }
            }
        }
        let moment = now()
        tokens.refreshToken = nil
        tokens.accessTokenExpiry = min(tokens.accessTokenExpiry ?? .max, moment.microseconds)
        try store.put(tokens, for: stored.profile, cause: .refused, now: moment)
        return revoked
    }
}
