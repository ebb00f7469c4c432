internal import Crypto
internal import WebPrimitives

/// One login in a browser: what ties the redirect that ends it to the request that began it.
///
/// Each login has one of its own, and it is used once (RFC 9700, section 2.1).
public struct AuthorizationAttempt: Sendable, Equatable {
    /// Comes back in the redirect, which is thereby known to be the answer to this login.
    public let state: Secret
    /// What only who began the login can show (RFC 7636, section 4.1): 43 characters of 256 random bits.
    public let codeVerifier: Secret
    /// Comes back in the ID token (OpenID Connect Core 1.0, section 3.1.2.1).
    public let nonce: Secret

    /// A new attempt.
    ///
    /// - Parameter generator: A cryptographically secure source; in programs `SystemRandomNumberGenerator`.
    public init(using generator: inout some RandomNumberGenerator) {
        state = Secret(Base64.randomForURL(byteCount: 24, using: &generator))
        codeVerifier = Secret(Base64.randomForURL(byteCount: 32, using: &generator))
        nonce = Secret(Base64.randomForURL(byteCount: 24, using: &generator))
    }

    /// An attempt from its parts, as one that was kept while the user was away.
    public init(state: Secret, codeVerifier: Secret, nonce: Secret) {
        self.state = state
        self.codeVerifier = codeVerifier
        self.nonce = nonce
    }

    /// The S256 code challenge (RFC 7636, section 4.2). There is no `plain` here.
    var codeChallenge: String {
        String(decoding: Base64.encodeForURL(Array(SHA256.hash(data: codeVerifier.exposedBytes))), as: UTF8.self)
    }
}
