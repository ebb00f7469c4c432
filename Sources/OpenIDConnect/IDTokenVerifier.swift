internal import Foundation
internal import JWTKit
public import OAuth2

/// Checks the signatures of ID tokens by the server's keys (OpenID Connect Core 1.0, section 3.1.3.7, point 6).
///
/// ```swift
/// let keys = try await transport.send(IDTokenVerifier.request(forKeysAt: try metadata.url(of: .keys)))
/// let claims = try await IDTokenVerifier(keys: keys).claims(in: idToken)
/// try claims.check(issuer: metadata.issuer, clientID: clientID, nonce: attempt.nonce, now: now)
/// ```
public struct IDTokenVerifier: Sendable {
    private let keys: [JWK]

    /// The request for a server's keys: its `jwks_uri` (RFC 8414, section 2).
    public static func request(forKeysAt endpoint: EndpointURL) -> EndpointRequest {
        EndpointRequest(reading: endpoint)
    }

    /// A verifier by the keys in the server's reply (RFC 7517, section 5).
    ///
    /// Keys of a kind that is not known, and those for encryption, are passed over.
    ///
    /// - Throws: `OAuth2Error` where the server did not answer with its keys, the reply is no key set, or has no key to
    ///   check signatures with.
    public init(keys response: EndpointResponse) throws(OAuth2Error) {
        try response.expectSuccess()
        guard response.exposedBody.count <= EndpointResponse.maximumBodySize,
            let set = try? JSONDecoder().decode(KeySet.self, from: Data(response.exposedBody))
        else { throw OAuth2Error(invalidIDToken: "the server's keys cannot be read") }
        keys = set.keys.compactMap(\.key).enumerated().map { index, key in
            var key = key
            // What has no name is found by trying.
            if key.keyIdentifier == nil { key.keyIdentifier = JWKIdentifier(string: "unnamed-\(index)") }
            return key
        }
        guard !keys.isEmpty else { throw OAuth2Error(invalidIDToken: "the server has no keys for signatures") }
    }

    /// The claims of a token that one of the keys has signed.
    ///
    /// Only algorithms with public keys count: a token that is not signed, or by a shared secret, is refused here.
    ///
    /// - Throws: `OAuth2Error`, without anything of the token.
    public func claims(in token: Secret) async throws(OAuth2Error) -> IDTokenClaims {
        let claims = try IDTokenClaims(unverified: token)
        guard let text = token.exposedText else { throw OAuth2Error(invalidIDToken: "it is not text") }
        do {
            let collection = JWTKeyCollection()
            for key in keys {
                // A key that is broken is one that has signed nothing.
                _ = try? await collection.add(jwk: key)
            }
            _ = try await collection.verify(text, as: AnyClaims.self, iteratingKeys: true)
        } catch {
            throw OAuth2Error(invalidIDToken: "no key of the server has signed it")
        }
        return claims
    }

    /// The keys of a set; `nil` for each that is none for signatures, or of a kind that is not known.
    private struct KeySet: Decodable {
        struct Entry: Decodable {
            let key: JWK?

            private enum CodingKeys: String, CodingKey {
                case use
            }

            init(from decoder: any Decoder) throws {
                let use = try? decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .use)
                key = use == "enc" ? nil : try? JWK(from: decoder)
            }
        }

        let keys: [Entry]
    }

    /// Claims are read by `IDTokenClaims`; here only the signature counts.
    private struct AnyClaims: JWTPayload {
        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }
}
