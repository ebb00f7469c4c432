internal import Crypto
internal import WebPrimitives

/// A proof that who sends a request has the key that tokens are bound to (RFC 9449, section 4.2).
public struct DPoPProof: Sendable, Equatable {
    /// The key.
    public var key: SigningKey
    /// The server's last nonce for this key (section 8); `nil` where it gave none.
    public var nonce: String?

    /// Proofs by a key.
    public init(key: SigningKey, nonce: String? = nil) {
        self.key = key
        self.nonce = nonce
    }

    /// The value of the `DPoP` field for one request.
    ///
    /// - Parameters:
    ///   - method: The request's method.
    ///   - url: The request's URL without query and fragment.
    ///   - accessToken: The access token that goes with the request to a resource server; `nil` at the token endpoint.
    ///   - now: When it is made, in microseconds since the Unix epoch.
    ///   - generator: A cryptographically secure source: no two proofs are alike.
    public func value(
        method: String, url: String, accessToken: Secret? = nil, now: Int64,
        using generator: inout some RandomNumberGenerator
    ) throws(OAuth2Error) -> Secret {
        var header = JSONObjectWriter()
        header.append("typ", "dpop+jwt")
        header.append("alg", "ES256")
        header.append("jwk", json: try key.publicJWK)
        var payload = JSONObjectWriter()
        payload.append(
            "jti", String(decoding: Base64.randomForURL(byteCount: 16, using: &generator), as: UTF8.self))
        payload.append("htm", method)
        payload.append("htu", url)
        payload.append("iat", now / Microseconds.perSecond)
        if let accessToken {
            let hash = Array(SHA256.hash(data: accessToken.exposedBytes))
            payload.append("ath", String(decoding: Base64.encodeForURL(hash), as: UTF8.self))
        }
        if let nonce { payload.append("nonce", nonce) }
        return try key.signed(header: header, payload: payload)
    }
}
