import CookieModel
package import OAuth2
package import SessionStore

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

/// An ID token and when it ends.
package struct IDTokenReport: Codable {
    package let idToken: String
    package let expires: String?

    /// - Parameter name: the name of the login.
    /// - Throws: `OperationError` if the stored token is not text.
    package init(_ token: ValidIDToken, of name: String) throws {
        guard let text = token.token.exposedText else {
            throw OperationError(.valueDamaged, "\(name): the stored ID token is not text")
        }
        idToken = text
        expires = token.lifetime.end.map { Timestamp(microseconds: $0).rfc3339 }
    }
}

/// Whether a running service is locked, in JSON.
package struct AgentReport: Codable, Sendable {
    package let isLocked: Bool

    package init(isLocked: Bool) {
        self.isLocked = isLocked
    }
}
