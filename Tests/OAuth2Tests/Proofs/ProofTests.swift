import Crypto
import Foundation
import HTTPTypes
import Testing
import WebPrimitives

@testable import OAuth2

@Suite("DPoP proofs and client assertions")
struct ProofTests {
    /// Header and payload of a signed token, after its signature was verified with `key`.
    private func parts(_ token: Secret?, _ key: SigningKey) throws -> (header: [String: Any], payload: [String: Any]) {
        let text = try #require(token?.exposedText)
        let parts = text.split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let bytes = try parts.map { Data(try #require(Base64.decodeForURL($0.utf8))) }
        let publicKey = try P256.Signing.PrivateKey(rawRepresentation: key.secret.exposedBytes).publicKey
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: bytes[2])
        #expect(publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)))
        let objects = try bytes[..<2].map { try #require(JSONSerialization.jsonObject(with: $0) as? [String: Any]) }
        return (objects[0], objects[1])
    }

    @Test("A proof has the claims of RFC 9449, section 4.2, and its signature is valid")
    func proof() throws {
        let key = SigningKey()
        var generator = SystemRandomNumberGenerator()
        let value = try DPoPProof(key: key, nonce: "n-\"1").value(
            method: "POST", url: "https://id.example/token", accessToken: Secret("tok"), now: now, using: &generator)
        let (header, payload) = try parts(value, key)
        #expect(header["typ"] as? String == "dpop+jwt" && header["alg"] as? String == "ES256")
        let jwk = try #require(header["jwk"] as? [String: String])
        #expect(jwk["kty"] == "EC" && jwk["crv"] == "P-256" && jwk["d"] == nil && jwk["x"]?.count == 43)
        #expect(payload["htm"] as? String == "POST" && payload["htu"] as? String == "https://id.example/token")
        #expect(payload["iat"] as? Int64 == now.seconds && payload["nonce"] as? String == "n-\"1")
        let hash = String(
            decoding: Base64.encodeForURL(Array(SHA256.hash(data: Data("tok".utf8)))), as: UTF8.self)
        #expect(payload["ath"] as? String == hash && (payload["jti"] as? String)?.count == 22)
    }

    @Test("Keys are restored from storage, and damaged ones are rejected")
    func keys() throws {
        let key = SigningKey()
        #expect(try SigningKey(key.secret) == key && key != SigningKey())
        #expect(try key.thumbprint.count == 43)
        #expect(thrown { () throws(OAuth2Error) in try SigningKey(Secret("short")) }?.code == .invalidKey)
        #expect(thrown { () throws(OAuth2Error) in try SigningKey(pem: Secret("no pem")) }?.code == .invalidKey)
        #expect(!shown(key).contains(String(decoding: key.secret.exposedBytes, as: UTF8.self)))
        let pem = try P256.Signing.PrivateKey(rawRepresentation: key.secret.exposedBytes).pemRepresentation
        #expect(try SigningKey(pem: Secret(pem)) == key)
    }

    @Test("An assertion is for one server, for a minute, and never the same twice")
    func assertion() throws {
        let key = SigningKey()
        let assertion = ClientAssertion(clientID: "app", audience: "https://id.example", key: key, keyID: "k1")
        var generator = SystemRandomNumberGenerator()
        let authentication = try assertion.authentication(now: now, using: &generator)
        #expect(authentication.methodName == "private_key_jwt" && authentication.authorization == nil)
        #expect(try assertion.authentication(now: now, using: &generator) != authentication)
        let (header, payload) = try parts(authentication.secret, key)
        #expect(header["kid"] as? String == "k1")
        #expect(payload["iss"] as? String == "app" && payload["sub"] as? String == "app")
        #expect(payload["aud"] as? String == "https://id.example" && payload["exp"] as? Int64 == now.seconds + 60)
        let grant = RepeatableGrant(
            .clientCredentials, tokenEndpoint: try Given.endpoint(), authentication: authentication)
        let form = Given.form(grant.request())
        #expect(form.contains("client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"))
        #expect(form.contains { $0.hasPrefix("client_assertion=eyJ") } && form.contains("client_id=app"))
    }

    @Test(
        "A signature is made out to the issuer, or to the token endpoint where that is wanted or all that is known",
        arguments: [
            ("https://id.example", nil, "https://id.example"), ("https://id.example", .issuer, "https://id.example"),
            ("https://id.example", .tokenEndpoint, "https://id.example/token"), ("", nil, "https://id.example/token"),
        ] as [(String, ProfileSettings.AssertionAudience?, String)])
    func audience(issuer: String, chosen: ProfileSettings.AssertionAudience?, expected: String) throws {
        let key = SigningKey()
        var settings = ProfileSettings(
            grant: .clientCredentials, endpoints: [.token: "https://id.example/token"],
            authenticationMethod: .privateKeyJWT)
        settings.assertionAudience = chosen
        var generator = SystemRandomNumberGenerator()
        let authentication = try ProfileCredentials(settings: settings, clientSecret: key.secret).authentication(
            of: ProfileID(issuer: issuer, clientID: "app"), now: now, using: &generator)
        #expect(try parts(authentication.secret, key).payload["aud"] as? String == expected)
    }

    @Test("A nonce that the server wants is sent, once")
    func nonce() async throws {
        let name = try #require(HTTPField.Name("DPoP-Nonce"))
        let transport = ScriptedTransport { _ throws(OAuth2Error) in
            var fields = HTTPFields()
            fields[name] = "server-nonce"
            return Given.response(#"{"error":"use_dpop_nonce"}"#, status: .badRequest, fields: fields)
        }
        let key = SigningKey()
        let bound = DPoPTransport(transport, key: key) { now }
        let grant = RepeatableGrant(
            .clientCredentials, tokenEndpoint: try Given.endpoint(), authentication: Given.authentication)
        let response = try await bound.send(grant.request())
        #expect(response.status == .badRequest)
        let requests = await transport.requests
        #expect(requests.count == 2)
        let proofName = try #require(HTTPField.Name("DPoP"))
        let nonces = try requests.map { request in
            try parts(request.exposedHead.headerFields[proofName].map { Secret($0) }, key).payload["nonce"] as? String
        }
        #expect(nonces == [nil, "server-nonce"])
    }

    @Test("A presented token's proof is for that token, and a challenge names the nonce")
    func presented() async throws {
        let name = try #require(HTTPField.Name("DPoP-Nonce"))
        let transport = ScriptedTransport { _ throws(OAuth2Error) in
            var fields = HTTPFields()
            fields[.wwwAuthenticate] = "DPoP error=\"use_dpop_nonce\""
            fields[name] = "n1"
            return Given.response("", status: .unauthorized, fields: fields)
        }
        let key = SigningKey()
        let tokens = TokenSet(accessToken: Secret("tok"), tokenType: .dpop, receivedAt: now)
        let request = try #require(EndpointRequest(presenting: tokens, to: try Given.endpoint("/cookie?a=b")))
        _ = try await DPoPTransport(transport, key: key) { now }.send(request)
        let payloads = try await transport.requests.map { request in
            let name = try #require(HTTPField.Name("DPoP"))
            return try parts(request.exposedHead.headerFields[name].map { Secret($0) }, key).payload
        }
        #expect(payloads.map { $0["nonce"] as? String } == [nil, "n1"])
        let hash = String(decoding: Base64.encodeForURL(Array(SHA256.hash(data: Data("tok".utf8)))), as: UTF8.self)
        #expect(payloads.allSatisfy { $0["ath"] as? String == hash })
        #expect(payloads.allSatisfy { ($0["htu"] as? String)?.hasSuffix("/cookie") == true })
    }

    @Test("A credential has the fields that present it, and none where the key is missing")
    func credential() throws {
        let key = SigningKey()
        var tokens = TokenSet(accessToken: Secret("tok"), receivedAt: now)
        var generator = SystemRandomNumberGenerator()
        func fields(_ credential: AccessCredential) throws -> [String: String]? {
            try credential.exposedFields(
                method: "PUT", url: "https://api.example/a", nonce: "n", now: now, using: &generator
            ).map { Dictionary(uniqueKeysWithValues: $0.map { ($0.name.rawName, $0.value) }) }
        }
        // A server that binds nothing issues Bearer tokens, whatever key there is.
        #expect(try fields(AccessCredential(tokens, proofKey: key)) == ["Authorization": "Bearer tok"])
        tokens.tokenType = TokenType("dpop")
        #expect(try fields(AccessCredential(tokens)) == nil && !AccessCredential(tokens).isPresentable)
        let bound = try #require(try fields(AccessCredential(tokens, proofKey: key)))
        #expect(bound["Authorization"] == "DPoP tok" && AccessCredential(tokens, proofKey: key).isPresentable)
        let payload = try parts(bound["DPoP"].map { Secret($0) }, key).payload
        #expect(payload["htm"] as? String == "PUT" && payload["htu"] as? String == "https://api.example/a")
        #expect(payload["nonce"] as? String == "n" && payload["ath"] != nil)
        tokens.accessToken = Secret("a b")
        #expect(try fields(AccessCredential(tokens, proofKey: key)) == nil)
    }

    @Test("Nonces are remembered for each origin, unless they are invalid")
    func nonces() {
        let nonces = DPoPNonces()
        nonces.remember("one", for: "https://a.test")
        nonces.remember("two", for: "https://a.test")
        nonces.remember("other", for: "https://b.test")
        for text in ["", "a b", "a\"b", "a\\b", "é", String(repeating: "x", count: 1025)] {
            nonces.remember(text, for: "https://a.test")
        }
        #expect(nonces.nonce(for: "https://a.test") == "two" && nonces.nonce(for: "https://b.test") == "other")
        #expect(nonces.nonce(for: "https://a.test:444") == nil)
        for number in 0..<1000 { nonces.remember("n", for: "https://\(number).test") }
        #expect(nonces.nonce(for: "https://999.test") == "n" && nonces.nonce(for: "https://a.test") == nil)
    }

    @Test("A request that fails for another reason than a nonce is not repeated")
    func refusal() async throws {
        let transport = ScriptedTransport { _ throws(OAuth2Error) in
            Given.response(#"{"error":"invalid_grant"}"#, status: .badRequest)
        }
        let bound = DPoPTransport(transport, key: SigningKey()) { now }
        let grant = RepeatableGrant(
            .clientCredentials, tokenEndpoint: try Given.endpoint(), authentication: Given.authentication)
        _ = try await bound.send(grant.request())
        #expect(await transport.requests.count == 1)
    }
}
