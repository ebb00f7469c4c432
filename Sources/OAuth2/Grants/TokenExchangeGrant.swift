public import WebPrimitives

/// An access token for another one (RFC 8693): for another audience, resource or scope, or for a party that acts for its user.
///
/// It is renewed by another exchange, so a refresh token in the response is ignored.
public struct TokenExchangeGrant: RepeatableGrant, Equatable {
    /// The type of an OAuth2 access token (section 3).
    private static let accessTokenType = "urn:ietf:params:oauth:token-type:access_token"
    /// The types that are sent as an access token.
    private static let usableTypes: Set = [accessTokenType, "urn:ietf:params:oauth:token-type:jwt"]

    /// The server's token endpoint.
    public var tokenEndpoint: EndpointURL
    /// The client and its authentication, which is optional here.
    public var authentication: ClientAuthentication
    /// The access token of the user that the new token is for.
    public var subjectToken: Secret
    /// The access token of the party that acts for the user; `nil` if the user acts.
    public var actorToken: Secret?
    /// The names of the services that the new token is for.
    public var audiences: [String]
    /// The scopes to request; `nil` for the server's default.
    public var scopes: Scopes?
    /// The URLs of the services that the new token is for.
    public var resources: [String]

    /// Creates a grant for one access token.
    public init(
        tokenEndpoint: EndpointURL, authentication: ClientAuthentication, subjectToken: Secret,
        actorToken: Secret? = nil, audiences: [String] = [], scopes: Scopes? = nil, resources: [String] = []
    ) {
        self.tokenEndpoint = tokenEndpoint
        self.authentication = authentication
        self.subjectToken = subjectToken
        self.actorToken = actorToken
        self.audiences = audiences
        self.scopes = scopes
        self.resources = resources
    }

    /// The request for the token (section 2.1).
    public func request() -> EndpointRequest {
        var body = FormBody()
        body.append("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange")
        body.append(resources: resources)
        for audience in audiences { body.append("audience", audience) }
        body.append(scopes)
        body.append("requested_token_type", TokenExchangeGrant.accessTokenType)
        body.append("subject_token", subjectToken)
        body.append("subject_token_type", TokenExchangeGrant.accessTokenType)
        if let actorToken {
            body.append("actor_token", actorToken)
            body.append("actor_token_type", TokenExchangeGrant.accessTokenType)
        }
        return EndpointRequest(endpoint: tokenEndpoint, authentication: authentication, body: body)
    }

    /// The token in the server's reply (section 2.2.1).
    ///
    /// - Throws: ``OAuth2Error/Code/incompleteReply`` if the server has issued a token of another type. Section 2.2.1
    ///   requires the type; servers that leave it out have issued the requested type.
    public func tokens(in response: EndpointResponse, now: Timestamp) throws(OAuth2Error) -> TokenSet {
        let sent = [subjectToken, actorToken].compactMap(\.self) + authentication.secrets
        var tokens = try TokenResponse.tokenSet(response, now: now, redacting: sent)
        let members = try response.members(redacting: sent)
        if let type = members["issued_token_type"]?.nonEmptyText, !TokenExchangeGrant.usableTypes.contains(type) {
            throw .unusable(
                .incompleteReply, status: response.statusCode,
                "its issued_token_type says that the token is not an access token")
        }
        tokens.dropRefreshToken()
        tokens.scopes = tokens.scopes ?? scopes
        return tokens
    }
}
