import CookieModel
package import OAuth2

/// An access token and what its user has to know.
package struct AccessTokenReport: Codable {
    package let accessToken: String
    package let tokenType: String
    package let expires: String?
    /// The value of the `DPoP` field for the request that was named, where the token is bound to a key.
    package let proof: String?

    package init(_ tokens: TokenSet, token: String, proof: String? = nil) {
        accessToken = token
        tokenType = tokens.tokenType.name
        expires = tokens.accessTokenExpiry.map { Timestamp(microseconds: $0).rfc3339 }
        self.proof = proof
    }
}
