package import WebPrimitives

/// Asks the server about a token (RFC 7662).
package struct TokenIntrospection: Sendable, Equatable {
    /// The server's introspection endpoint.
    package var endpoint: EndpointURL
    /// The client and its authentication.
    package var authentication: ClientAuthentication

    /// Creates an introspection by one client at one server.
    package init(endpoint: EndpointURL, authentication: ClientAuthentication) {
        self.endpoint = endpoint
        self.authentication = authentication
    }

    /// The request (section 2.1).
    package func request(about token: Secret, _ kind: TokenKind) -> EndpointRequest {
        EndpointRequest(endpoint: endpoint, authentication: authentication, body: FormBody(about: token, kind))
    }

    /// The result in the server's response (section 2.2).
    package func answer(
        in response: EndpointResponse, about token: Secret
    ) throws(OAuth2Error) -> IntrospectedToken {
        let members = try response.members(redacting: [token] + authentication.secrets)
        guard case .boolean(let isActive) = members["active"] else {
            throw .unusable(.incompleteReply, status: response.statusCode, "it does not say whether it is active")
        }
        return IntrospectedToken(members, isActive: isActive)
    }
}

/// The server's data about a token (RFC 7662, section 2.2).
package struct IntrospectedToken: Sendable, Equatable {
    /// Whether the token can be used.
    package let isActive: Bool
    /// Its scopes.
    package let scopes: Scopes?
    /// The client that it was issued to.
    package let clientID: String?
    /// A readable name of the user.
    package let username: String?
    /// The user's identifier at the issuer.
    package let subject: String?
    /// The audience of the token.
    package let audience: [String]
    /// The issuer of the token.
    package let issuer: String?
    /// Its type.
    package let tokenType: TokenType?
    /// When it ends.
    package let expiry: Timestamp?
    /// When it was issued.
    package let issuedAt: Timestamp?
    /// The thumbprint of the certificate that it is bound to (RFC 8705, section 3.2).
    package let certificateThumbprint: String?

    init(_ members: JSONObject, isActive: Bool) {
        self.isActive = isActive
        scopes = members["scope"]?.text.map { Scopes(parsing: $0) }
        clientID = members["client_id"]?.nonEmptyText
        username = members["username"]?.nonEmptyText
        subject = members["sub"]?.nonEmptyText
        issuer = members["iss"]?.nonEmptyText
        tokenType = members["token_type"]?.nonEmptyText.map { TokenType($0) }
        expiry = members["exp"].flatMap(TokenExpiry.numericDate)
        issuedAt = members["iat"].flatMap(TokenExpiry.numericDate)
        audience = members["aud"]?.texts ?? []
        certificateThumbprint = members.certificateThumbprint
    }
}

/// Revokes tokens at the server (RFC 7009).
package struct TokenRevocation: Sendable, Equatable {
    /// The server's revocation endpoint.
    package var endpoint: EndpointURL
    /// The client and its authentication.
    package var authentication: ClientAuthentication

    /// Creates a revocation by one client at one server.
    package init(endpoint: EndpointURL, authentication: ClientAuthentication) {
        self.endpoint = endpoint
        self.authentication = authentication
    }

    /// The request that revokes a token (section 2.1).
    package func request(revoking token: Secret, _ kind: TokenKind) -> EndpointRequest {
        EndpointRequest(endpoint: endpoint, authentication: authentication, body: FormBody(about: token, kind))
    }

    /// Checks that the server revoked the token (section 2.2). An unknown token counts as revoked.
    package func check(_ response: EndpointResponse, revoking token: Secret) throws(OAuth2Error) {
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
