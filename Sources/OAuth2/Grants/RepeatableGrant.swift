public import WebPrimitives

/// A grant that needs no user, so it is repeated when its tokens expire.
public protocol RepeatableGrant: Sendable {
    /// The request for tokens.
    func request() -> EndpointRequest

    /// The tokens in the server's reply.
    ///
    /// - Parameter now: When the reply was received.
    func tokens(in response: EndpointResponse, now: Timestamp) throws(OAuth2Error) -> TokenSet
}

extension ProfileCredentials {
    /// Returns the profile's grant, if it needs no user; otherwise `nil`.
    ///
    /// - Parameters:
    ///   - profile: The profile.
    ///   - now: The time.
    ///   - tokens: The tokens of another login, by its name, renewed if they are due.
    /// - Throws: `OAuth2Error`, and the errors of `tokens`.
    package func repeatableGrant(
        of profile: ProfileID, now: () -> Timestamp, loggedInAs tokens: (String) async throws -> TokenSet
    ) async throws -> (any RepeatableGrant)? {
        var generator = SystemRandomNumberGenerator()
        let scopes = settings.scopes.map { Scopes(parsing: $0) }
        switch settings.grant {
        case .authorizationCode, .deviceCode, .imported:
            return nil
        case .clientCredentials:
            return ClientCredentialsGrant(
                tokenEndpoint: try settings.url(of: .token),
                authentication: try authentication(of: profile, now: now(), using: &generator), scopes: scopes,
                resources: settings.resources)
        case .jwtBearer:
            return JWTBearerGrant(
                tokenEndpoint: try settings.url(of: .token),
                authentication: try authentication(of: profile, now: now(), using: &generator),
                assertion: try grantAssertion(of: profile, now: now(), using: &generator), scopes: scopes,
                resources: settings.resources)
        case .tokenExchange:
            guard let exchange = settings.exchange else {
                throw OAuth2Error(.endpointMissing, "The login to exchange is unknown; log in again with --exchange.")
            }
            let subject = try await tokens(exchange.subject)
            let actor: TokenSet? = if let actor = exchange.actor { try await tokens(actor) } else { nil }
            return TokenExchangeGrant(
                tokenEndpoint: try settings.url(of: .token),
                authentication: try authentication(of: profile, now: now(), using: &generator),
                subjectToken: subject.accessToken, actorToken: actor?.accessToken, audiences: exchange.audiences,
                scopes: scopes, resources: settings.resources)
        }
    }

    /// The assertion in the place of a user's login (RFC 7523, section 3).
    private func grantAssertion(
        of profile: ProfileID, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) throws(OAuth2Error) -> Secret {
        guard let grantKey else {
            throw OAuth2Error(.invalidKey, "The key for the assertion is unknown; log in again with its file.")
        }
        let assertion = settings.assertion ?? ProfileSettings.Assertion()
        let issuer = assertion.issuer ?? profile.clientID
        let claims = AssertionClaims(
            issuer: issuer, subject: assertion.subject ?? issuer,
            audience: assertion.audience ?? assertionAudience(of: profile),
            scopes: settings.scopes.map { Scopes(parsing: $0) })
        return try claims.signed(
            by: .privateKey(try SigningKey(grantKey)), keyID: assertion.keyID ?? "", now: now, using: &generator)
    }
}

extension TokenSet {
    /// Leaves out the refresh token of a grant that is made again instead.
    mutating func dropRefreshToken() {
        refreshToken = nil
        refreshTokenExpiry = nil
    }
}
