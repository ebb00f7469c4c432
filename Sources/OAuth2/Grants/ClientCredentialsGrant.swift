/// The client's own tokens, without a user (RFC 6749, section 4.4).
public struct ClientCredentialsGrant: RepeatableGrant, Equatable {
    /// The server's token endpoint.
    public var tokenEndpoint: EndpointURL
    /// The client and its authentication.
    public var authentication: ClientAuthentication
    /// The scopes to ask for; `nil` for the server's default.
    public var scopes: Scopes?
    /// The resources that the token is for (RFC 8707).
    public var resources: [String]

    /// A grant for one client at one server.
    public init(
        tokenEndpoint: EndpointURL, authentication: ClientAuthentication, scopes: Scopes? = nil,
        resources: [String] = []
    ) {
        self.tokenEndpoint = tokenEndpoint
        self.authentication = authentication
        self.scopes = scopes
        self.resources = resources
    }

    /// The request for tokens.
    public func request() -> EndpointRequest {
        var body = FormBody()
        body.append("grant_type", "client_credentials")
        body.append(scopes)
        body.append(resources: resources)
        return EndpointRequest(endpoint: tokenEndpoint, authentication: authentication, body: body)
    }

    /// The tokens in the server's reply.
    public func tokens(in response: EndpointResponse, now: Int64) throws(OAuth2Error) -> TokenSet {
        var tokens = try TokenResponse.tokenSet(
            response, now: now, redacting: authentication.secrets)
        tokens.scopes = tokens.scopes ?? scopes
        return tokens
    }
}
