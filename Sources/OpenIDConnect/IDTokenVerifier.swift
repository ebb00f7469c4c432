internal import JWTKit
public import OAuth2

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Checks the signatures of ID tokens by the server's keys (OpenID Connect Core 1.0, section 3.1.3.7, point 6).
///
/// ```swift
/// let login = TokenLogin(
///     issuer: "https://id.example", clientID: "app", scopes: ["openid"], transport: transport,
///     checkingIDTokens: IDTokenVerifier.check)
/// ```
public struct IDTokenVerifier: Sendable {
    private let keys: [JWK]

    /// Checks the signature of an ID token with the server's keys, for `TokenLogin` and `TokenRefresher`.
    public static let check: @Sendable (_ token: Secret, _ keys: EndpointResponse) async throws -> Void = {
        _ = try await IDTokenVerifier(keys: $1).claims(in: $0)
    }

    /// The request for a server's keys: its `jwks_uri` (RFC 8414, section 2).
    package static func request(forKeysAt endpoint: EndpointURL) -> EndpointRequest {
        EndpointRequest(reading: endpoint)
    }

    /// A verifier by the keys in the server's reply (RFC 7517, section 5).
    ///
    /// Keys of a kind that is not known, and those for encryption, are passed over.
    ///
    /// - Throws: `OAuth2Error` if the server did not answer with its keys, the reply is no key set, or has no key to
    ///   check signatures with.
    package init(keys response: EndpointResponse) throws(OAuth2Error) {
        try response.expectSuccess()
        guard response.exposedBody.count <= EndpointResponse.maximumBodySize,
            let set = try? JSONDecoder().decode(KeySet.self, from: Data(response.exposedBody))
        else { throw OAuth2Error(invalidIDToken: "the server's keys cannot be read") }
        keys = set.keys.compactMap(\.key).map { key in
            var key = key
            // JWTKit asks for a name.
            if key.keyIdentifier == nil { key.keyIdentifier = JWKIdentifier(string: "unnamed") }
            return key
        }
        guard !keys.isEmpty else { throw OAuth2Error(invalidIDToken: "the server has no keys for signatures") }
    }

    /// The claims of a token that one of the keys has signed.
    ///
    /// Only algorithms with public keys count: a token that is not signed, or by a shared secret, is refused here.
    ///
    /// - Throws: `OAuth2Error`, without anything of the token.
    package func claims(in token: Secret) async throws(OAuth2Error) -> IDTokenClaims {
        let claims = try IDTokenClaims(unverified: token)
        guard let text = token.exposedText else { throw OAuth2Error(invalidIDToken: "it is not text") }
        let algorithm = claims.algorithm ?? "none"
        for key in keys where IDTokenVerifier.isFor(algorithm, key) {
            let collection = JWTKeyCollection()
            // A key that is broken is one that has signed nothing.
            guard (try? await collection.add(jwk: key)) != nil,
                (try? await collection.verify(text, as: AnyClaims.self)) != nil
            else { continue }
            return claims
        }
        throw OAuth2Error(invalidIDToken: "it is not signed with a key of the server")
    }

    /// Whether a key signs by an algorithm: it is of its kind, and not meant for another one.
    private static func isFor(_ algorithm: String, _ key: JWK) -> Bool {
        let kind: JWK.KeyType? =
            switch algorithm.prefix(2) {
            case "RS", "PS": .rsa
            case "ES": .ecdsa
            case "Ed": .octetKeyPair
            default: nil
            }
        guard key.keyType == kind else { return false }
        return key.algorithm.map { IDTokenAlgorithm.isSame($0.rawValue, algorithm) } ?? true
    }

    /// The keys of a set; `nil` for each key that is not for signatures, or of an unknown kind.
    private struct KeySet: Decodable {
        struct Entry: Decodable {
            let key: JWK?

            private enum CodingKeys: String, CodingKey {
                case use, kty, crv, x, kid
            }

            init(from decoder: any Decoder) throws {
                let members = try? decoder.container(keyedBy: CodingKeys.self)
                func text(_ name: CodingKeys) -> String? { try? members?.decode(String.self, forKey: name) }
                if text(.use) == "enc" {
                    key = nil
                } else if text(.kty) == "OKP", text(.crv) == "Ed25519" {
                    // JWTKit knows its algorithm by the older name only (RFC 9864).
                    key = .octetKeyPair(
                        .eddsa, identifier: text(.kid).map { JWKIdentifier(string: $0) }, x: text(.x), y: nil,
                        curve: .ed25519)
                } else {
                    key = try? JWK(from: decoder)
                }
            }
        }

        let keys: [Entry]
    }

    /// Claims are read by `IDTokenClaims`; here only the signature counts.
    private struct AnyClaims: JWTPayload {
        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }
}
