package import WebPrimitives

/// The refresh grant: exchanges a refresh token for a new access token (RFC 6749, section 6).
///
/// Two pure functions, one per direction. The caller sends the request and makes sure that only one is sent at a time.
package struct RefreshGrant: Sendable, Equatable {
    /// The server's token endpoint.
    package var tokenEndpoint: EndpointURL
    /// The client and its authentication.
    package var authentication: ClientAuthentication
    /// The scopes to request, a subset of the granted ones; `nil` for all of them.
    package var scopes: Scopes?
    /// The resources that the access token is for (RFC 8707, section 2.2); empty for all that were granted.
    package var resources: [String]

    /// Creates a grant for one client at one server.
    package init(
        tokenEndpoint: EndpointURL, authentication: ClientAuthentication, scopes: Scopes? = nil,
        resources: [String] = []
    ) {
        self.tokenEndpoint = tokenEndpoint
        self.authentication = authentication
        self.scopes = scopes
        self.resources = resources
    }

    /// The request that refreshes `tokens`.
    ///
    /// - Throws: ``OAuth2Error/Code/missingRefreshToken``.
    package func request(refreshing tokens: TokenSet) throws(OAuth2Error) -> EndpointRequest {
        guard let refreshToken = tokens.refreshToken, !refreshToken.isEmpty else {
            throw OAuth2Error(.missingRefreshToken, "There is no refresh token. Log in again to get new tokens.")
        }
        var body = FormBody()
        body.append("grant_type", "refresh_token")
        body.append("refresh_token", refreshToken)
        body.append(scopes)
        body.append(resources: resources)
        return EndpointRequest(endpoint: tokenEndpoint, authentication: authentication, body: body)
    }

    /// The tokens after the server's reply to the request that refreshed `tokens`.
    ///
    /// Values that the reply does not renew stay: the refresh token with its expiry, the ID token, the scopes, and the
    /// end of the grant, which stays the same with another refresh token.
    ///
    /// - Parameters:
    ///   - response: The reply.
    ///   - tokens: The tokens that the request was made of.
    ///   - now: When the reply was received.
    /// - Throws: As ``TokenResponse/tokenSet(status:body:now:redacting:)``. Where the reply was a success all the same,
    ///   ``TokenResponse/refreshToken(status:body:)`` may still find a rotated refresh token in it.
    package func tokens(
        in response: EndpointResponse, refreshing tokens: TokenSet, now: Timestamp
    ) throws(OAuth2Error) -> TokenSet {
        let sent = [tokens.refreshToken, tokens.accessToken, tokens.idToken].compactMap(\.self)
        var renewed = try TokenResponse.tokenSet(response, now: now, redacting: sent + authentication.secrets)
        renewed.scopes = renewed.scopes ?? scopes
        return renewed.completed(by: tokens)
    }
}
