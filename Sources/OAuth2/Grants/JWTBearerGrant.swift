public import WebPrimitives

/// Tokens for an assertion that someone the server trusts has signed, without a user (RFC 7523, section 2.1).
///
/// A new assertion takes the place of a refresh token (RFC 7521, section 4.1), so a refresh token in the response is
/// ignored.
public struct JWTBearerGrant: RepeatableGrant, Equatable {
    /// The server's token endpoint.
    public var tokenEndpoint: EndpointURL
    /// The client and its authentication, which is optional here.
    public var authentication: ClientAuthentication
    /// The signed assertion.
    public var assertion: Secret
    /// The scopes to request; `nil` for the server's default.
    public var scopes: Scopes?
    /// The resources that the token is for (RFC 8707).
    public var resources: [String]

    /// Creates a grant for one assertion.
    public init(
        tokenEndpoint: EndpointURL, authentication: ClientAuthentication, assertion: Secret, scopes: Scopes? = nil,
        resources: [String] = []
    ) {
        self.tokenEndpoint = tokenEndpoint
        self.authentication = authentication
        self.assertion = assertion
        self.scopes = scopes
        self.resources = resources
    }

    /// The request for tokens.
    public func request() -> EndpointRequest {
        var body = FormBody()
        body.append("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
        body.append("assertion", assertion)
        body.append(scopes)
        body.append(resources: resources)
        return EndpointRequest(endpoint: tokenEndpoint, authentication: authentication, body: body)
    }

    /// The tokens in the server's reply.
    public func tokens(in response: EndpointResponse, now: Timestamp) throws(OAuth2Error) -> TokenSet {
        var tokens = try TokenResponse.tokenSet(
            response, now: now, redacting: [assertion] + authentication.secrets)
        tokens.dropRefreshToken()
        tokens.scopes = tokens.scopes ?? scopes
        return tokens
    }
}
