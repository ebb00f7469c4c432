package import CookieModel
package import OAuth2

/// A request that an access token is to be presented with: a bound one needs a proof that is for it alone (RFC 9449).
package struct ProvenRequest: Sendable {
    package let method: String
    package let url: RequestURL
    /// The last nonce of the URL's server; `nil` where it gave none.
    package let nonce: String?

    package init(method: String, url: RequestURL, nonce: String? = nil) {
        self.method = method
        self.url = url
        self.nonce = nonce
    }

    /// The proof that goes with the request; `nil` for tokens that are bound to no key.
    ///
    /// - Parameter name: what the tokens are called.
    /// - Throws: `OperationError` where the key is missing, `OAuth2Error` where it cannot sign.
    package func proof(by credential: AccessCredential, of name: String, now: Timestamp) throws -> String? {
        guard credential.tokens.tokenType == .dpop else { return nil }
        var generator = SystemRandomNumberGenerator()
        let proof = try credential.proof(
            method: method, url: url.withoutQuery.description, nonce: nonce, now: now.microseconds, using: &generator)
        guard let proof = proof?.exposedText else {
            throw OperationError(
                .tokenSettingsInvalid,
                "\(name): the key that the token is bound to is not known; log in with 'crumb token login --dpop'")
        }
        return proof
    }
}
