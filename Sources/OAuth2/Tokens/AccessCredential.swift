public import HTTPTypes

/// Tokens and what presenting the access token takes: the key that it is bound to, where it is bound to one (RFC 9449).
public struct AccessCredential: Sendable, Equatable {
    /// The tokens.
    public var tokens: TokenSet
    /// The key that the access token is bound to; `nil` where whoever has it may use it.
    public var proofKey: SigningKey?

    /// A credential from its parts.
    public init(_ tokens: TokenSet, proofKey: SigningKey? = nil) {
        self.tokens = tokens
        self.proofKey = proofKey
    }

    /// Whether the token can be presented at all: it is of a type that is understood, a header field can carry it, and
    /// the key is there that it is bound to.
    public var isPresentable: Bool {
        tokens.exposedAuthorizationField != nil || (tokens.exposedBoundField != nil && proofKey != nil)
    }

    /// The header fields that present the token with one request, which is no longer protected: `Authorization`, and
    /// for a bound token a proof in `DPoP` (RFC 9449, section 7).
    ///
    /// - Parameters:
    ///   - method: The request's method, as it is sent.
    ///   - url: The request's URL without query and fragment.
    ///   - nonce: The server's last nonce; `nil` where it gave none.
    ///   - now: When the request is made, in microseconds since the Unix epoch.
    ///   - generator: A cryptographically secure source: no two proofs are alike.
    /// - Returns: `nil` where the token is not ``isPresentable``.
    public func exposedFields(
        method: String, url: String, nonce: String? = nil, now: Int64, using generator: inout some RandomNumberGenerator
    ) throws(OAuth2Error) -> [HTTPField]? {
        if let field = tokens.exposedAuthorizationField { return [field] }
        guard let field = tokens.exposedBoundField, let name = HTTPField.Name("DPoP"),
            let proof = try proof(method: method, url: url, nonce: nonce, now: now, using: &generator)
        else { return nil }
        var proofField = HTTPField(name: name, value: proof.exposedBytes)
        proofField.indexingStrategy = .disallow
        return [field, proofField]
    }

    /// The proof that goes with a bound token and one request; `nil` where the token is bound to no key, or lacks it.
    package func proof(
        method: String, url: String, nonce: String?, now: Int64, using generator: inout some RandomNumberGenerator
    ) throws(OAuth2Error) -> Secret? {
        guard tokens.tokenType == .dpop, let proofKey else { return nil }
        return try DPoPProof(key: proofKey, nonce: nonce).value(
            method: method, url: url, accessToken: tokens.accessToken, now: now, using: &generator)
    }
}
