public import OAuth2
package import SessionStore
package import WebPrimitives

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
    /// - Throws: `LoginError`, `SessionStoreError`, or `OAuth2Error`.
    package func revoke(_ name: String) async throws -> [TokenKind] {
        // Tokens that another process renews in the meantime are revoked as well: they belong to the same login.
        var revoked: [TokenKind] = []
        for _ in 0..<TokenRevoker.attempts {
            let (stored, known, resourceTokens) = try await store.reading { [now] store in
                // Damaged tokens for resources cannot be sent; that keeps the others from nothing.
                let resourceTokens = (try? store.resourceAccessTokens(of: name, now: now())) ?? []
                return (try store.get(name), try store.credentials(name), resourceTokens)
            }
            guard let credentials = known else { throw LoginError(noEndpointsOf: name) }
            let ended = try await TokenRevoker.end(
                stored.tokens, and: resourceTokens, of: stored.profile.id, by: credentials, over: transport, now: now)
            for kind in ended where !revoked.contains(kind) { revoked.append(kind) }
            var tokens = stored.tokens
            let moment = now()
            tokens.refreshToken = nil
            tokens.accessTokenExpiry = min(tokens.accessTokenExpiry ?? moment, moment)
            let isStored = try await store.writing { [tokens] store in
                try store.put(
                    tokens, for: stored.profile, expectedGeneration: stored.generation, cause: .refused, now: moment)
            }
            if isStored { return revoked }
        }
        throw LoginError(
            .refreshBusy,
            "\(name): another process keeps renewing these tokens; stop it, and try again")
    }

    /// Ends a profile's tokens as far as their server can, before the profile is removed.
    ///
    /// - Parameter force: Whether to accept that the server cannot be reached, too.
    /// - Throws: As ``revoke(_:)``, if the profile should stay.
    package func revoke(beforeRemoving name: String, force: Bool) async throws -> LogoutOutcome {
        do {
            return LogoutOutcome(revoked: try await revoke(name))
        } catch let error as OAuth2Error where error.code == .endpointMissing || force {
            return LogoutOutcome(
                problem:
                    "\(name): the server did not revoke the tokens: \(app: error.description, command: error.commandDescription)"
            )
        } catch let error as LoginError where error.code == .settingsInvalid || force {
            return LogoutOutcome(
                problem:
                    "the server did not revoke the tokens: \(app: error.description, command: error.commandDescription)"
            )
        }
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

/// What has become of the tokens of a login that was removed.
public struct LogoutOutcome: Sendable, Hashable {
    /// The kinds of tokens that the server has ended.
    public let revoked: [TokenKind]
    /// Why the server did not end them, as a sentence; `nil` if it did.
    public var problem: String? { sentence?.text }
    /// The ``problem`` for users of the command `crumb`.
    package var commandProblem: String? { sentence?.commandText }
    private let sentence: ErrorSentence?

    init(revoked: [TokenKind] = [], problem: ErrorSentence? = nil) {
        self.revoked = revoked
        sentence = problem
    }
}
