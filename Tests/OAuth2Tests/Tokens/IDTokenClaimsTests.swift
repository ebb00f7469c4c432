import Crypto
import Testing
import WebPrimitives

@testable import OAuth2

@Suite("IDTokenClaims")
struct IDTokenClaimsTests {
    private func token(_ payload: String, header: String = #"{"alg":"RS256"}"#) -> Secret {
        Secret(
            Base64.encodeForURL(Array(header.utf8)) + [0x2E] + Base64.encodeForURL(Array(payload.utf8))
                + Array(".c2ln".utf8))
    }

    private func code(
        _ members: String, nonce: Secret? = nil, header: String = #"{"alg":"RS256"}"#
    ) -> String? {
        thrown { () throws(OAuth2Error) in
            try IDTokenClaims(unverified: token("{\(members)}", header: header)).check(
                issuer: "https://id.example", clientID: "app", nonce: nonce, now: now)
        }?.code.rawValue
    }

    private static let right = #""iss":"https://id.example","sub":"me","aud":"app","exp":1795248060"#

    @Test("Claims of this login are taken")
    func right() throws {
        #expect(code(IDTokenClaimsTests.right) == nil)
        #expect(code(IDTokenClaimsTests.right + #","nonce":"n""#, nonce: Secret("n")) == nil)
        #expect(code(#""iss":"https://id.example","sub":"me","aud":["app","b"],"azp":"app","exp":1795248060"#) == nil)
        let claims = try IDTokenClaims(unverified: token("{" + IDTokenClaimsTests.right + #","acr":"2"}"#))
        #expect(claims.subject == "me" && claims.authenticationContext == "2" && claims.expiry == after(60))
    }

    @Test(
        "Claims of another issuer, client, login or time are not",
        arguments: [
            (#""iss":"https://id.example/","sub":"me","aud":"app","exp":1795248060"#, "issuer_mismatch"),
            (#""iss":"https://id.example","sub":"me","aud":"other","exp":1795248060"#, "invalid_id_token"),
            (#""iss":"https://id.example","sub":"me","aud":["app","b"],"exp":1795248060"#, "invalid_id_token"),
            (#""iss":"https://id.example","sub":"me","aud":"app","azp":"b","exp":1795248060"#, "invalid_id_token"),
            (#""iss":"https://id.example","sub":"me","aud":"app","exp":1795247000"#, "invalid_id_token"),
            (#""iss":"https://id.example","aud":"app","exp":1795248060"#, "invalid_id_token"),
            (#""iss":"https://id.example","sub":"me","aud":"app""#, "invalid_id_token"),
        ])
    func wrong(_ members: String, _ expected: String) {
        #expect(code(members) == expected)
    }

    @Test(
        "A token is valid from nbf on, was not issued in the future, and needs no unknown extension",
        arguments: [
            (#","nbf":1795248000,"iat":1795248000"#, "", nil), (#","nbf":1795248120,"iat":1795248120"#, "", nil),
            (#","nbf":1795248121"#, "", "invalid_id_token"), (#","iat":1795248121"#, "", "invalid_id_token"),
            ("", #","crit":["b64"],"b64":false"#, "invalid_id_token"), ("", #","crit":[]"#, "invalid_id_token"),
            ("", #","crit":null"#, "invalid_id_token"), ("", #","b64":true"#, nil),
        ])
    func moments(_ members: String, _ header: String, _ expected: String?) {
        #expect(
            code(IDTokenClaimsTests.right + members, header: #"{"alg":"RS256"\#(header)}"#) == expected)
    }

    @Test("An unknown issuer or client is not compared")
    func unknownClient() throws {
        let claims = try IDTokenClaims(unverified: token("{" + IDTokenClaimsTests.right + "}"))
        try claims.check(issuer: "", clientID: "", nonce: nil, now: now)
        #expect(
            thrown { () throws(OAuth2Error) in
                try claims.check(issuer: "", clientID: "b", nonce: nil, now: now)
            } != nil)
    }

    @Test(
        "An ID token's at_hash and c_hash belong to the access token and the code, by the algorithm's hash",
        arguments: ["RS256", "ES384", "HS512", "EdDSA", "Ed25519", "PS256", "none"])
    func hashes(algorithm: String) throws {
        func half(_ text: String) -> String {
            let bytes = Array(text.utf8)
            let hash =
                switch algorithm {
                case "ES384": Array(SHA384.hash(data: bytes))
                case "HS512", "EdDSA", "Ed25519": Array(SHA512.hash(data: bytes))
                default: Array(SHA256.hash(data: bytes))
                }
            return String(decoding: Base64.encodeForURL(Array(hash.prefix(hash.count / 2))), as: UTF8.self)
        }
        func isTaken(_ members: String) throws -> Bool {
            let claims = try IDTokenClaims(
                unverified: token("{" + IDTokenClaimsTests.right + members + "}", header: #"{"alg":"\#(algorithm)"}"#))
            return thrown { () throws(OAuth2Error) in
                try claims.check(accessToken: Secret("access"), code: Secret("code"))
            } == nil
        }
        #expect(try isTaken(""))
        let right = #","at_hash":"\#(half("access"))","c_hash":"\#(half("code"))""#
        #expect(try isTaken(right) == (algorithm != "none"))
        for wrong in [
            #","at_hash":"\#(half("other"))""#, #","c_hash":"\#(half("other"))""#, #","at_hash":7"#, #","at_hash":"""#,
            #","at_hash":null"#,
            #","at_hash":"\#(half("code"))""#,
        ] { #expect(try !isTaken(wrong), "\(wrong)") }
    }

    @Test(
        "A login is as recent and made in one of the ways that were asked for",
        arguments: [
            (#""auth_time":1795247990"#, 10, nil, nil), (#""auth_time":1795247880"#, 0, nil, nil),
            (#""auth_time":1795247869"#, 10, nil, "unmet_authentication_requirements"),
            (#""auth_time":1795247879"#, 0, nil, "unmet_authentication_requirements"),
            (#""auth_time":1795247879"#, -5, nil, "unmet_authentication_requirements"),
            (#""acr":"gold""#, 10, nil, "unmet_authentication_requirements"), (#""auth_time":1"#, nil, nil, nil),
            (#""acr":"silver""#, nil, "gold silver", nil), (#""x":1"#, nil, "gold", nil), (#""acr":"0""#, nil, "", nil),
            (#""acr":"0""#, nil, "gold silver", "unmet_authentication_requirements"),
        ] as [(String, Int64?, String?, String?)])
    func asked(_ members: String, _ age: Int64?, _ contexts: String?, _ expected: String?) throws {
        let claims = try IDTokenClaims(unverified: token("{\(IDTokenClaimsTests.right),\(members)}"))
        let error = thrown { () throws(OAuth2Error) in
            try claims.check(maximumAge: age, authenticationContexts: contexts, now: now)
        }
        #expect(error?.code.rawValue == expected)
    }

    @Test(
        "A refreshed token is of the login before it (OpenID Connect Core 1.0, section 12.2)",
        arguments: [
            (#""iss":"i","sub":"me","aud":"app","exp":2"#, nil),
            (#""iss":"i","sub":"me","aud":["app","more"],"exp":2,"auth_time":7,"nonce":"n""#, nil),
            (#""iss":"j","sub":"me","aud":"app","exp":2"#, "issuer_mismatch"),
            (#""iss":"i","sub":"you","aud":"app","exp":2"#, "invalid_id_token"),
            (#""iss":"i","sub":"me","aud":"other","exp":2"#, "invalid_id_token"),
            (#""iss":"i","sub":"me","aud":"app","azp":"app","exp":2"#, "invalid_id_token"),
            (#""iss":"i","sub":"me","aud":"app","exp":2,"auth_time":8"#, "invalid_id_token"),
            (#""iss":"i","sub":"me","aud":"app","exp":2,"nonce":"m""#, "invalid_id_token"),
        ])
    func refreshed(_ members: String, _ expected: String?) throws {
        let earlier = try IDTokenClaims(
            unverified: token(#"{"iss":"i","sub":"me","aud":"app","exp":1,"auth_time":7,"nonce":"n"}"#))
        let error = thrown { () throws(OAuth2Error) in
            try IDTokenClaims(unverified: token("{\(members)}")).check(following: earlier)
        }
        #expect(error?.code.rawValue == expected)
    }

    @Test("A nonce must come back")
    func nonce() {
        #expect(code(IDTokenClaimsTests.right, nonce: Secret("n")) == "invalid_id_token")
        #expect(code(IDTokenClaimsTests.right + #","nonce":"m""#, nonce: Secret("n")) == "invalid_id_token")
    }

    @Test("An invalid token is rejected", arguments: ["", "a.b", "a.b.c", "....", "e30.e30.e30", "e30.W10.e30"])
    func noToken(_ text: String) {
        #expect(
            thrown { () throws(OAuth2Error) in try IDTokenClaims(unverified: Secret(text)) }?.code == .invalidIDToken)
    }

    @Test("Text for URLs is decoded strictly")
    func base64() {
        for count in 0..<50 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
            #expect(Base64.decodeForURL(Base64.encodeForURL(bytes)) == bytes)
        }
        for text in ["A", "AB", "AAB=", "A+/A", "A B"] { #expect(Base64.decodeForURL(text.utf8) == nil, "\(text)") }
    }
}
