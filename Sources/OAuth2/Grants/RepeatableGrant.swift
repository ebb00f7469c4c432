public import WebPrimitives

/// A grant that needs no user, so it is repeated when its tokens expire.
public struct RepeatableGrant: Sendable, Equatable {
    /// What the tokens are issued for.
    public enum Kind: Sendable, Equatable {
        /// The client itself (RFC 6749, section 4.4).
        case clientCredentials
        /// An assertion that someone the server trusts has signed (RFC 7523, section 2.1).
        case jwtBearer(assertion: Secret)
        /// The access token of a user (RFC 8693): the new token is for another audience, resource or scope, or for who
        /// acts for the user.
        ///
        /// - Parameters:
        ///   - subjectToken: The access token of the user that the new token is for.
        ///   - actorToken: The access token of the party that acts for the user; `nil` if the user acts.
        ///   - audiences: The names of the services that the new token is for.
        case tokenExchange(subjectToken: Secret, actorToken: Secret? = nil, audiences: [String] = [])
    }

    /// The type of an OAuth2 access token (RFC 8693, section 3).
    private static let accessTokenType = "urn:ietf:params:oauth:token-type:access_token"
    /// The types that are sent as an access token.
    private static let usableTypes: Set = [accessTokenType, "urn:ietf:params:oauth:token-type:jwt"]

    /// What the tokens are issued for.
    package var kind: Kind
    /// The server's token endpoint.
    package var tokenEndpoint: EndpointURL
    /// The client and its authentication, which is optional with an assertion and an exchange.
    package var authentication: ClientAuthentication
    /// The scopes to request; `nil` for the server's default.
    package var scopes: Scopes?
    /// The resources that the token is for (RFC 8707).
    package var resources: [String]

    /// Creates a grant for one client at one server.
    public init(
        _ kind: Kind, tokenEndpoint: EndpointURL, authentication: ClientAuthentication, scopes: Scopes? = nil,
        resources: [String] = []
    ) {
        self.kind = kind
        self.tokenEndpoint = tokenEndpoint
        self.authentication = authentication
        self.scopes = scopes
        self.resources = resources
    }

    /// The request for tokens.
    public func request() -> EndpointRequest {
        var body = FormBody()
        switch kind {
        case .clientCredentials:
            body.append("grant_type", "client_credentials")
            body.append(scopes)
            body.append(resources: resources)
        case .jwtBearer(let assertion):
            body.append("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
            body.append("assertion", assertion)
            body.append(scopes)
            body.append(resources: resources)
        case .tokenExchange(let subjectToken, let actorToken, let audiences):
            // RFC 8693, section 2.1.
            body.append("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange")
            body.append(resources: resources)
            for audience in audiences { body.append("audience", audience) }
            body.append(scopes)
            body.append("requested_token_type", RepeatableGrant.accessTokenType)
            body.append("subject_token", subjectToken)
            body.append("subject_token_type", RepeatableGrant.accessTokenType)
            if let actorToken {
                body.append("actor_token", actorToken)
                body.append("actor_token_type", RepeatableGrant.accessTokenType)
            }
        }
        return EndpointRequest(endpoint: tokenEndpoint, authentication: authentication, body: body)
    }

    /// The tokens in the server's reply.
    ///
    /// A new assertion, or another exchange, takes the place of a refresh token (RFC 7521, section 4.1), so a refresh
    /// token in the response is ignored.
    ///
    /// - Parameter now: When the reply was received.
    /// - Throws: ``OAuth2Error/Code/incompleteReply`` if the server has exchanged a token for one of another type.
    ///   RFC 8693, section 2.2.1 requires the type; servers that leave it out have issued the requested type.
    public func tokens(in response: EndpointResponse, now: Timestamp) throws(OAuth2Error) -> TokenSet {
        let secrets = sentSecrets + authentication.secrets
        var tokens = try TokenResponse.tokenSet(response, now: now, redacting: secrets)
        if case .tokenExchange = kind,
            let type = try response.members(redacting: secrets)["issued_token_type"]?.nonEmptyText,
            !RepeatableGrant.usableTypes.contains(type)
        {
            throw .unusable(
                .incompleteReply, status: response.statusCode,
                "its issued_token_type says that the token is not an access token")
        }
        if kind != .clientCredentials { (tokens.refreshToken, tokens.refreshTokenExpiry) = (nil, nil) }
        tokens.scopes = tokens.scopes ?? scopes
        return tokens
    }

    private var sentSecrets: [Secret] {
        switch kind {
        case .clientCredentials: []
        case .jwtBearer(let assertion): [assertion]
        case .tokenExchange(let subjectToken, let actorToken, _): [subjectToken, actorToken].compactMap(\.self)
        }
    }
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
    ) async throws -> RepeatableGrant? {
        var generator = SystemRandomNumberGenerator()
        let kind: RepeatableGrant.Kind
        switch settings.grant {
        case .authorizationCode, .deviceCode, .imported: return nil
        case .clientCredentials: kind = .clientCredentials
        case .jwtBearer:
            kind = .jwtBearer(assertion: try grantAssertion(of: profile, now: now(), using: &generator))
        case .tokenExchange:
            guard let exchange = settings.exchange else {
                throw OAuth2Error(
                    .endpointMissing,
                    advice: "The login to exchange is unknown; log in again with \(app: "it", command: "--exchange").")
            }
            let subject = try await tokens(exchange.subject)
            let actor: TokenSet? = if let actor = exchange.actor { try await tokens(actor) } else { nil }
            kind = .tokenExchange(
                subjectToken: subject.accessToken, actorToken: actor?.accessToken, audiences: exchange.audiences)
        }
        return RepeatableGrant(
            kind, tokenEndpoint: try settings.url(of: .token),
            authentication: try authentication(of: profile, now: now(), using: &generator),
            scopes: settings.scopes.map { Scopes(parsing: $0) }, resources: settings.resources)
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
