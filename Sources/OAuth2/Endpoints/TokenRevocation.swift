/// Ends tokens at the server (RFC 7009).
public struct TokenRevocation: Sendable, Equatable {
    /// The server's revocation endpoint.
    public var endpoint: EndpointURL
    /// The client and its authentication.
    public var authentication: ClientAuthentication

    /// Revocation by one client at one server.
    public init(endpoint: EndpointURL, authentication: ClientAuthentication) {
        self.endpoint = endpoint
        self.authentication = authentication
    }

    /// The request that ends a token (section 2.1).
    public func request(revoking token: Secret, _ kind: TokenKind) -> EndpointRequest {
        EndpointRequest(endpoint: endpoint, authentication: authentication, body: FormBody(about: token, kind))
    }

    /// Makes sure that the token has ended (section 2.2). A token that the server does not know has.
    public func check(_ response: EndpointResponse, revoking token: Secret) throws(OAuth2Error) {
        try response.expectSuccess(redacting: [token] + authentication.secrets)
    }
}

/// Which of a profile's tokens one is (RFC 7009, section 2.1).
public enum TokenKind: String, Sendable, CaseIterable {
    /// The access token.
    case accessToken = "access_token"
    /// The refresh token.
    case refreshToken = "refresh_token"
}
