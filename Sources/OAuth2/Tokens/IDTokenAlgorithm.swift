internal import Crypto
internal import WebPrimitives

/// How a client expects ID tokens to be signed (OpenID Connect Core 1.0, section 3.1.3.7, points 6 to 8).
///
/// A token names its algorithm, but never chooses it: the client's registration or the server's metadata does.
package enum IDTokenAlgorithm {
    /// The algorithms that ID tokens can be verified by: with the server's public keys, or with the client's secret.
    package static let names = publicKeyAlgorithms + ["HS256", "HS384", "HS512"]

    private static let publicKeyAlgorithms = [
        "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519",
    ]

    /// Whether two names are of the same algorithm: RFC 9864 gives EdDSA with Ed25519 a name of its own.
    package static func isSame(_ one: String, _ other: String) -> Bool {
        one == other || Set([one, other]) == ["EdDSA", "Ed25519"]
    }

    /// Whether a client takes tokens that are signed by an algorithm.
    fileprivate static func isExpected(_ algorithm: String, by settings: ProfileSettings) -> Bool {
        guard names.contains(algorithm) else { return false }
        let named = settings.idTokenAlgorithm.map { [$0] } ?? settings.serverIDTokenAlgorithms
        // A client that knows nothing of its server takes no signature by a shared secret: see RFC 8725, section 3.1.
        return (named ?? publicKeyAlgorithms).contains { isSame($0, algorithm) }
    }

    /// Whether the third part of a token is its authentication code under a shared secret (RFC 7518, section 3.2).
    fileprivate static func isAuthentic(_ token: Secret, _ algorithm: String, by secret: Secret) -> Bool {
        let bytes = token.exposedBytes
        guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), let code = Base64.decodeForURL(bytes[(dot + 1)...])
        else { return false }
        let (signed, key) = (bytes[..<dot], SymmetricKey(data: secret.exposedBytes))
        return switch algorithm {
        case "HS256": HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: signed, using: key)
        case "HS384": HMAC<SHA384>.isValidAuthenticationCode(code, authenticating: signed, using: key)
        case "HS512": HMAC<SHA512>.isValidAuthenticationCode(code, authenticating: signed, using: key)
        default: false
        }
    }
}

extension ProfileCredentials {
    /// Checks that an ID token is signed by an algorithm that the client expects, and verifies a signature that was made
    /// with the client's secret.
    ///
    /// - Parameter claims: The token's claims.
    /// - Returns: Whether one of the server's public keys has to verify the token. TLS may vouch for it instead if the
    ///   token came from the token endpoint itself (OpenID Connect Core 1.0, section 3.1.3.7, point 6).
    /// - Throws: ``OAuth2Error/Code/invalidIDToken``.
    package func needsServerKey(for token: Secret, _ claims: IDTokenClaims) throws(OAuth2Error) -> Bool {
        let name = claims.algorithm ?? "none"
        guard IDTokenAlgorithm.isExpected(name, by: settings) else {
            let isKnown = IDTokenAlgorithm.names.contains(name)
            throw OAuth2Error(
                invalidIDToken: isKnown
                    ? "it is signed with \(name), which is neither the algorithm that the client is registered "
                        + "for nor one of the server's metadata; if the client is registered for it, "
                        + "\(app: "name it in the settings", command: "log in with --id-token-algorithm \(name)")"
                    : "it is unsigned, or signed with an algorithm that Crumb does not support")
        }
        guard name.hasPrefix("HS") else { return true }
        guard let clientSecret, settings.authenticationMethod != .privateKeyJWT else {
            throw OAuth2Error(
                invalidIDToken: "it is signed with a client secret (\(name)), and this client has none; "
                    + "log in with \(app: "the secret", command: "--client-secret-file")")
        }
        guard IDTokenAlgorithm.isAuthentic(token, name, by: clientSecret) else {
            throw OAuth2Error(invalidIDToken: "it is not signed with the client's secret (\(name))")
        }
        return false
    }
}
