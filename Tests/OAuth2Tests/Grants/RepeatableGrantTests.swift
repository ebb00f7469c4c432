import Crypto
import Foundation
import HTTPTypes
import Testing
import WebPrimitives

@testable import OAuth2

/// The tables follow RFC 7523 (https://www.rfc-editor.org/rfc/rfc7523.html), RFC 8693 and OpenID Connect Core 1.0.
@Suite("Grants without a user, and clients that sign with their secret")
struct RepeatableGrantTests {
    private let key = SigningKey()

    /// Header and payload of a token; its signature is for the caller to verify.
    private func parts(_ token: Secret?) throws -> (header: [String: Any], payload: [String: Any], parts: [String]) {
        let parts = try #require(token?.exposedText).split(separator: ".").map(String.init)
        let objects = try parts.prefix(2).map { part in
            let bytes = Data(try #require(Base64.decodeForURL(part.utf8)))
            return try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        }
        try #require(objects.count == 2 && parts.count == 3)
        return (objects[0], objects[1], parts)
    }

    @Test("A client signs with its secret (client_secret_jwt), and the secret is not sent")
    func clientSecretJWT() throws {
        let settings = ProfileSettings(
            grant: .clientCredentials, endpoints: [.token: "https://id.example/token"],
            authenticationMethod: .clientSecretJWT)
        var generator = CountingGenerator()
        let authentication = try ProfileCredentials(settings: settings, clientSecret: Given.secret).authentication(
            of: ProfileID(issuer: "https://id.example", clientID: "app"), now: now, using: &generator)
        #expect(authentication.methodName == "client_secret_jwt" && authentication.authorization == nil)
        let token = try parts(authentication.secret)
        let code = try #require(Base64.decodeForURL(token.parts[2].utf8))
        let signed = Data("\(token.parts[0]).\(token.parts[1])".utf8)
        let symmetricKey = SymmetricKey(data: Given.secret.exposedBytes)
        #expect(HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: signed, using: symmetricKey))
        #expect(token.header["alg"] as? String == "HS256" && token.payload["aud"] as? String == "https://id.example")
        #expect(token.payload["iss"] as? String == "app" && token.payload["sub"] as? String == "app")
        #expect(token.payload["exp"] as? Int64 == now.seconds + 60 && token.payload["jti"] is String)
        let form = Given.form(
            RepeatableGrant(
                .clientCredentials, tokenEndpoint: try Given.endpoint(), authentication: authentication
            ).request())
        #expect(form.contains("client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"))
        #expect(form.contains { $0.hasPrefix("client_assertion=eyJ") } && form.contains("client_id=app"))
        #expect(!form.contains { $0.contains("s3cret") })
        // Anyone could sign with an empty secret.
        let error = thrown { () throws(OAuth2Error) in
            try ProfileCredentials(settings: settings).authentication(
                of: ProfileID(clientID: "app"), now: now, using: &generator)
        }
        #expect(error?.code == .invalidKey)
    }

    @Test(
        "An assertion is by its issuer, about its subject, for its audience",
        arguments: [
            (nil, nil, nil, "app", "app", "https://id.example"),
            ("robot", nil, nil, "robot", "robot", "https://id.example"),
            ("robot", "alice", nil, "robot", "alice", "https://id.example"),
            (nil, "alice", "https://id.example/token", "app", "alice", "https://id.example/token"),
        ] as [(String?, String?, String?, String, String, String)])
    func assertion(
        issuer: String?, subject: String?, audience: String?, expectedIssuer: String, expectedSubject: String,
        expectedAudience: String
    ) async throws {
        var settings = ProfileSettings(
            grant: .jwtBearer, endpoints: [.token: "https://id.example/token"], scopes: ["a", "b"])
        settings.assertion = ProfileSettings.Assertion(
            issuer: issuer, subject: subject, audience: audience, keyID: "k1")
        let credentials = ProfileCredentials(settings: settings, grantKey: key.secret)
        let grant = try await credentials.repeatableGrant(
            of: ProfileID(issuer: "https://id.example", clientID: "app"), now: { now },
            loggedInAs: { _ in throw OAuth2Error(unreachable: "no other login is used") })
        let request = try #require(grant).request()
        let form = Given.form(request)
        #expect(form.first == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer")
        #expect(form.contains("scope=a+b") && form.contains("client_id=app"))
        let sent = try #require(form.first { $0.hasPrefix("assertion=") }?.dropFirst("assertion=".count))
        let token = try parts(Secret(String(sent)))
        let publicKey = try P256.Signing.PrivateKey(rawRepresentation: key.secret.exposedBytes).publicKey
        let signature = try P256.Signing.ECDSASignature(
            rawRepresentation: try #require(Base64.decodeForURL(token.parts[2].utf8)))
        #expect(publicKey.isValidSignature(signature, for: Data("\(token.parts[0]).\(token.parts[1])".utf8)))
        #expect(token.header["kid"] as? String == "k1" && token.header["alg"] as? String == "ES256")
        #expect(token.payload["iss"] as? String == expectedIssuer && token.payload["sub"] as? String == expectedSubject)
        #expect(token.payload["aud"] as? String == expectedAudience && token.payload["scope"] as? String == "a b")
        #expect(token.payload["exp"] as? Int64 == now.seconds + 60)
    }

    @Test("A client that is not named sends no identifier, and a missing key is one clear error")
    func unnamedClient() async throws {
        var settings = ProfileSettings(grant: .jwtBearer, endpoints: [.token: "https://id.example/token"])
        settings.assertion = ProfileSettings.Assertion(issuer: "robot")
        let profile = ProfileID(issuer: "https://id.example")
        func grant(_ key: Secret?) async throws -> RepeatableGrant? {
            try await ProfileCredentials(settings: settings, grantKey: key).repeatableGrant(
                of: profile, now: { now }, loggedInAs: { _ in TokenSet(accessToken: Secret("t"), receivedAt: now) })
        }
        let form = Given.form(try #require(try await grant(key.secret)).request())
        #expect(form.count == 2 && !form.contains { $0.hasPrefix("client_id") })
        let error = await #expect(throws: OAuth2Error.self) { try await grant(nil) }
        #expect(error?.code == .invalidKey)
    }

    @Test("An exchange sends the parameters of RFC 8693, section 2.1, in order", arguments: [true, false])
    func exchange(hasActor: Bool) async throws {
        var settings = ProfileSettings(
            grant: .tokenExchange, endpoints: [.token: "https://id.example/token"],
            authenticationMethod: .clientSecretPost, scopes: ["s"], resources: ["https://r1", "https://r2"])
        settings.exchange = ProfileSettings.Exchange(
            subject: "work", actor: hasActor ? "robot" : nil, audiences: ["a1", "a2"])
        let grant = try await ProfileCredentials(settings: settings, clientSecret: Given.secret).repeatableGrant(
            of: ProfileID(issuer: "https://id.example", clientID: "app"), now: { now },
            loggedInAs: { TokenSet(accessToken: Secret("token-of-\($0)"), receivedAt: now) })
        let type = "urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token"
        #expect(
            Given.form(try #require(grant).request()) == [
                "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange", "resource=https%3A%2F%2Fr1",
                "resource=https%3A%2F%2Fr2", "audience=a1", "audience=a2", "scope=s", "requested_token_type=\(type)",
                "subject_token=token-of-work", "subject_token_type=\(type)",
            ] + (hasActor ? ["actor_token=token-of-robot", "actor_token_type=\(type)"] : []) + [
                "client_id=app", "client_secret=s3cret-of-the-client",
            ])
    }

    @Test(
        "A token of another type than an access token is refused",
        arguments: [
            (#","issued_token_type":"urn:ietf:params:oauth:token-type:access_token""#, true),
            (#","issued_token_type":"urn:ietf:params:oauth:token-type:jwt""#, true),
            ("", true),
            (#","issued_token_type":"urn:ietf:params:oauth:token-type:id_token""#, false),
            (#","issued_token_type":"urn:ietf:params:oauth:token-type:saml2""#, false),
        ])
    func issuedType(member: String, isUsable: Bool) throws {
        let grant = RepeatableGrant(
            .tokenExchange(subjectToken: Secret("sub-Xk3")), tokenEndpoint: try Given.endpoint(),
            authentication: Given.authentication)
        let response = Given.response(
            #"{"access_token":"t","token_type":"Bearer","expires_in":60,"refresh_token":"r"\#(member)}"#)
        if isUsable {
            let tokens = try grant.tokens(in: response, now: now)
            // Another exchange renews it, not a refresh.
            #expect(tokens.refreshToken == nil && tokens.accessTokenExpiry == after(60))
        } else {
            let error = thrown { () throws(OAuth2Error) in try grant.tokens(in: response, now: now) }
            #expect(error?.code == .incompleteReply)
        }
        // What the server repeats of the request is not shown.
        let refused = Given.response(
            #"{"error":"invalid_target","error_description":"not for sub-Xk3"}"#, status: .badRequest)
        let error = try #require(thrown { () throws(OAuth2Error) in try grant.tokens(in: refused, now: now) })
        #expect(error.serverCode == "invalid_target" && !shown(error).contains("sub-Xk3"))
    }
}
