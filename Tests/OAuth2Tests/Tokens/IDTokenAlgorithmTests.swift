import Crypto
import Testing
import WebPrimitives

@testable import OAuth2

/// Which signatures of ID tokens a client takes: the token never chooses.
@Suite("How ID tokens are signed")
struct IDTokenAlgorithmTests {
    private static let secret = Secret("client-s3cret")

    /// A token whose header names an algorithm, signed with a secret by another or the same one.
    private func token(_ algorithm: String, by secret: Secret?, with signer: String? = nil) -> Secret {
        let header = Base64.encodeForURL(Array(#"{"alg":"\#(algorithm)"}"#.utf8))
        let payload = Base64.encodeForURL(Array(#"{"iss":"i","sub":"me","aud":"app","exp":1795248060}"#.utf8))
        let input = header + [UInt8(ascii: ".")] + payload
        let key = SymmetricKey(data: (secret ?? Secret("of somebody else")).exposedBytes)
        let code: [UInt8] =
            switch signer ?? algorithm {
            case "HS384": Array(HMAC<SHA384>.authenticationCode(for: input, using: key))
            case "HS512": Array(HMAC<SHA512>.authenticationCode(for: input, using: key))
            default: Array(HMAC<SHA256>.authenticationCode(for: input, using: key))
            }
        return Secret(input + [UInt8(ascii: ".")] + Base64.encodeForURL(code))
    }

    /// What comes of a token: "keys" if the server's keys have to verify it, "taken", or "refused".
    private func outcome(_ token: Secret, registered: String?, server: [String]?, secret: Secret?) throws -> String {
        var settings = ProfileSettings(grant: .authorizationCode, endpoints: [:])
        settings.idTokenAlgorithm = registered
        settings.serverIDTokenAlgorithms = server
        let credentials = ProfileCredentials(settings: settings, clientSecret: secret)
        let claims = try IDTokenClaims(unverified: token)
        do throws(OAuth2Error) {
            return try credentials.needsServerKey(for: token, claims) ? "keys" : "taken"
        } catch {
            #expect(error.code == .invalidIDToken && !error.description.contains("client-s3cret"))
            return "refused"
        }
    }

    @Test(
        "A shared secret signs only if registration or metadata allows it, and verifies",
        arguments: [
            ("HS256", nil, nil, "refused"), ("HS256", nil, ["RS256"], "refused"),
            ("HS256", "RS256", ["HS256"], "refused"),
            ("HS256", "HS512", nil, "refused"), ("HS256", nil, ["RS256", "HS256"], "taken"),
            ("HS256", "HS256", nil, "taken"),
            ("HS384", "HS384", ["RS256"], "taken"), ("HS512", nil, ["HS512"], "taken"),
            ("RS256", nil, nil, "keys"), ("RS256", nil, ["RS256"], "keys"), ("RS256", "RS256", ["ES256"], "keys"),
            ("RS256", "ES256", nil, "refused"), ("ES256", nil, ["RS256"], "refused"),
            ("RS256", "HS256", nil, "refused"),
            ("EdDSA", nil, ["Ed25519"], "keys"), ("Ed25519", "EdDSA", nil, "keys"), ("Ed25519", nil, nil, "keys"),
            ("none", nil, nil, "refused"), ("none", "none", ["none"], "refused"), ("hs256", "hs256", nil, "refused"),
            ("HS1", "HS1", nil, "refused"),
        ] as [(String, String?, [String]?, String)])
    func chosen(algorithm: String, registered: String?, server: [String]?, expected: String) throws {
        let secret = IDTokenAlgorithmTests.secret
        let token = token(algorithm, by: secret)
        #expect(try outcome(token, registered: registered, server: server, secret: secret) == expected)
        if expected == "taken" {
            // The same without the secret, by another one, by another hash, and with any bytes in its place.
            #expect(try outcome(token, registered: registered, server: server, secret: nil) == "refused")
            let other = self.token(algorithm, by: nil)
            #expect(try outcome(other, registered: registered, server: server, secret: secret) == "refused")
            let hash = self.token(algorithm, by: secret, with: algorithm == "HS256" ? "HS512" : "HS256")
            #expect(try outcome(hash, registered: registered, server: server, secret: secret) == "refused")
            let parts = try #require(token.exposedText).split(separator: ".")
            for signature in ["", "AAAA", "not base64!"] {
                let forged = Secret("\(parts[0]).\(parts[1]).\(signature)")
                #expect(try outcome(forged, registered: registered, server: server, secret: secret) == "refused")
            }
        }
    }

    @Test("A client's private key is not a shared secret")
    func privateKey() throws {
        let key = Secret("client-s3cret")
        var settings = ProfileSettings(grant: .imported, endpoints: [:], authenticationMethod: .privateKeyJWT)
        settings.idTokenAlgorithm = "HS256"
        let token = token("HS256", by: key)
        let claims = try IDTokenClaims(unverified: token)
        let error = thrown { () throws(OAuth2Error) in
            try ProfileCredentials(settings: settings, clientSecret: key).needsServerKey(for: token, claims)
        }
        #expect(error?.code == .invalidIDToken)
    }

    @Test("The algorithms come from the server's metadata")
    func metadata() throws {
        let body = #"{"issuer":"https://id.example","id_token_signing_alg_values_supported":["RS256","HS256"]}"#
        let metadata = try MetadataDiscovery(issuer: "https://id.example").metadata(in: Given.response(body))
        #expect(metadata.idTokenAlgorithms == ["RS256", "HS256"])
    }
}
