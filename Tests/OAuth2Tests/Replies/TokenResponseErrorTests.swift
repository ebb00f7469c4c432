import HTTPTypes
import OAuth2
import Testing

@Suite("TokenResponse, a reply without tokens")
struct TokenResponseErrorTests {
    private func error(
        _ status: Int, _ body: String, redacting secrets: [Secret] = []
    ) -> OAuth2Error? {
        thrown { () throws(OAuth2Error) in
            try TokenResponse.tokenSet(
                status: HTTPResponse.Status(code: status), body: Array(body.utf8), now: now, redacting: secrets)
        }
    }

    @Test(
        "Each fault of a successful token response has a code",
        arguments: [
            ("", .empty), (" \r\n", .empty), ("\u{FEFF}", .empty),
            ("<!DOCTYPE html><title>Log in</title>", .markup), ("\n <html>", .markup),
            ("<?xml version='1.0'?>", .markup),
            ("access_token=a&token_type=bearer", .notJSON), (#"{"access_token":"a""#, .notJSON),
            (#"{"access_token":"a"}x"#, .notJSON), (#"{'access_token':'a'}"#, .notJSON),
            (#"{"access_token":"a",}"#, .notJSON), ("{\"access_token\":\"a\nb\"}", .notJSON),
            ("[]", .notAnObject), ("null", .notAnObject), (#""a""#, .notAnObject), ("1", .notAnObject),
            ("{}", .missingAccessToken), (#"{"access_token":null}"#, .missingAccessToken),
            (#"{"data":{"access_token":"a"}}"#, .missingAccessToken), (#"{"id_token":"a"}"#, .missingAccessToken),
            (#"{"access_token":""}"#, .invalidAccessToken), (#"{"access_token":1}"#, .invalidAccessToken),
            (#"{"access_token":["a"]}"#, .invalidAccessToken), (#"{"access_token":"a b"}"#, .invalidAccessToken),
            (#"{"access_token":"a\r\nX: y"}"#, .invalidAccessToken),
            (#"{"access_token":"a\u0000"}"#, .invalidAccessToken),
            (#"{"access_token":"é"}"#, .invalidAccessToken), (#"{"access_token":"\u007f"}"#, .invalidAccessToken),
            (#"{"access_token":"\ud800"}"#, .invalidAccessToken),
            (#"{"access_token":"a","refresh_token":"r\n"}"#, .invalidMember),
            (#"{"access_token":"a","id_token":"i i"}"#, .invalidMember),
            (#"{"access_token":"a","token_type":"a b"}"#, .invalidMember),
        ] as [(String, OAuth2Error.Code)])
    func success(_ body: String, _ expected: OAuth2Error.Code) {
        let error = error(200, body)
        #expect(error?.code == expected)
        #expect(error?.status == 200)
    }

    @Test("A token response is rejected only if it is larger than a mebibyte")
    func size() {
        let frame = #"{"access_token":"a","x":""}"#.utf8.count
        let padding = String(repeating: "x", count: EndpointResponse.maximumBodySize - frame)
        #expect(error(200, #"{"access_token":"a","x":"\#(padding)"}"#) == nil)
        #expect(error(200, #"{"access_token":"a","x":"\#(padding)y"}"#)?.code == .tooLarge)
    }

    @Test("Reading a token response does not recurse without limit")
    func depth() {
        #expect(error(200, #"{"access_token":"a","x":"# + String(repeating: "[", count: 500_000))?.code == .notJSON)
        #expect(error(200, String(repeating: #"{"a":"#, count: 200_000))?.code == .notJSON)
    }

    @Test(
        "A rejected grant, in any words, is distinguished from failures that a new login would not solve",
        arguments: [
            // RFC 6749, section 5.2, and what servers answer in its place
            (400, #"{"error":"invalid_grant"}"#, true), (400, "", true), (403, "", true), (401, "", true),
            (400, "{}", true), (422, #"{"message":"expired"}"#, true), (403, "<html>", true), (404, "", true),
            (403, #"{"error":"invalid_code"}"#, true), (200, #"{"error":"bad_refresh_token"}"#, true),
            (400, #"{"error":"invalid_request"}"#, true), (400, #"{"error":"interaction_required"}"#, true),
            (400, #"{"error":"unauthorized_client"}"#, true), (400, #"{"error":"access_denied"}"#, true),
            // The client, its proof
            (401, #"{"error":"invalid_client"}"#, false), (400, #"{"error":"use_dpop_nonce"}"#, false),
            (400, #"{"error":"invalid_dpop_proof"}"#, false),
            // Later it may be another answer
            (408, "", false), (425, "", false), (429, "", false), (429, #"{"error":"invalid_grant"}"#, false),
            (500, #"{"error":"invalid_grant"}"#, false), (503, "", false), (400, #"{"error":"slow_down"}"#, false),
            (400, #"{"error":"temporarily_unavailable"}"#, false),
            // Somebody else has answered
            (407, "", false), (421, "", false), (302, "", false), (200, "<html>", false), (200, "", false),
        ] as [(Int, String, Bool)])
    func refusesGrant(_ status: Int, _ body: String, _ expected: Bool) {
        #expect(error(status, body)?.refusesGrant == expected)
    }

    @Test(
        "The error of a token response has the server's error, if it sent one",
        arguments: [
            (400, #"{"error":"invalid_grant"}"#, .invalidGrant, "invalid_grant"),
            (403, #"{"error":"invalid_grant"}"#, .invalidGrant, "invalid_grant"),
            (200, #"{"error":"invalid_grant"}"#, .invalidGrant, "invalid_grant"),
            (401, #"{"error":"invalid_client"}"#, .invalidClient, "invalid_client"),
            (403, #"{"error":"invalid_code"}"#, .refused, "invalid_code"),
            (400, #"{"error":"use_dpop_nonce"}"#, .refused, "use_dpop_nonce"),
            (200, #"{"error":"bad_verification_code"}"#, .refused, "bad_verification_code"),
            (400, #"{"error":"temporarily_unavailable"}"#, .serverUnavailable, "temporarily_unavailable"),
            // A failing server's word does not end a grant.
            (500, #"{"error":"invalid_grant"}"#, .serverUnavailable, "invalid_grant"),
            (503, "<html>", .serverUnavailable, nil),
            (429, #"{"error":"invalid_grant"}"#, .serverUnavailable, "invalid_grant"),
            (502, "", .serverUnavailable, nil),
            (400, "", .unexpectedStatus, nil), (404, "<html>", .unexpectedStatus, nil),
            (400, "{}", .unexpectedStatus, nil),
            (302, "", .unexpectedStatus, nil), (302, #"{"access_token":"a"}"#, .unexpectedStatus, nil),
            (400, #"{"access_token":"a"}"#, .unexpectedStatus, nil),
            (400, #"{"error":{"message":"x"}}"#, .unexpectedStatus, nil), (400, "not json", .unexpectedStatus, nil),
        ] as [(Int, String, OAuth2Error.Code, String?)])
    func refusal(_ status: Int, _ body: String, _ code: OAuth2Error.Code, _ serverCode: String?) {
        let error = error(status, body)
        #expect(error?.code == code)
        #expect(error?.serverCode == serverCode)
        #expect(error?.status == status)
    }

    @Test(
        "The error of a token response keeps a code only with the characters of the RFC",
        arguments: [
            "inv\\u0000alid", "a\\nb", "a\\\\b", "a\\\"b", "ünbekannt", "\\u001b[31m", "eyJhbGciOiJIUzI1NiJ9",
            String(repeating: "a", count: 65),
        ])
    func strangeCodes(_ code: String) {
        let error = error(400, #"{"error":"\#(code)"}"#)
        #expect(error?.serverCode == nil)
        #expect(error?.code == .unexpectedStatus)
    }

    @Test(
        "The error of a token response has a description that is safe for a terminal",
        arguments: [
            ("The token has expired.", "The token has expired."),
            (#"a\r\nb\tc"#, "a b c"), (#"\u001b[31mred\u0007"#, "[31mred"), (#"a\u202eb\u200bc"#, "abc"),
            (#"say \"no\""#, "say 'no'"), ("Das Gerät", "Das Gerät"), ("", nil), (#"\n"#, nil),
            ("code 4/0AX4XfWgSomeLongValue1 is bad", "code … is bad"),
            ("invalid_oauth2_client_x is 0123456789abcdef.", "invalid_oauth2_client_x is …"),
            ("Unsupported grant type unsupported_grant_type", "Unsupported grant type unsupported_grant_type"),
        ])
    func descriptions(_ text: String, _ expected: String?) {
        #expect(
            error(400, #"{"error":"invalid_request","error_description":"\#(text)"}"#)?.serverDescription == expected)
    }

    @Test("The error of a token response cuts a long description, and drops an endless one")
    func longDescriptions() {
        func description(_ words: Int) -> String? {
            let text = String(repeating: "word ", count: words)
            return error(400, #"{"error":"x","error_description":"\#(text)"}"#)?.serverDescription
        }
        #expect(description(100)?.count == 200)
        #expect(description(100)?.hasSuffix("…") == true)
        #expect(description(1000) == nil)
    }

    @Test(
        "The error of a token response never shows the secrets of the request, even if the server repeats them",
        arguments: ["short1", "a-secret-of-mine"])
    func repeatedSecrets(_ secret: String) {
        let echoes = [
            #"{"error":"\#(secret)"}"#, #"{"error":"invalid_grant","error_description":"token \#(secret) is bad"}"#,
            #"{"error":"invalid_grant","error_description":"\#(secret.prefix(3))\u200b\#(secret.dropFirst(3))"}"#,
            #"{"error":"invalid_grant","refresh_token":"\#(secret)"}"#, "no JSON: \(secret)", "<p>\(secret)",
        ]
        for status in [200, 302, 400, 500] {
            for echo in echoes {
                let error = error(status, echo, redacting: [Secret(secret)])
                #expect(error != nil)
                #expect(!shown(error as Any).contains(secret))
            }
        }
    }

    @Test(
        "The error of a token response has a code of the specifications even if a secret of the request is part of it",
        arguments: [
            ("grant", "invalid_grant", .invalidGrant), ("_", "invalid_client", .invalidClient),
            ("invalid_client", "invalid_client", .invalidClient), ("denied", "access_denied", .accessDenied),
            ("token", "expired_token", .deviceCodeExpired), ("a", "temporarily_unavailable", .serverUnavailable),
            ("server", "server_error", .serverUnavailable), ("pend", "authorization_pending", .refused),
            ("slow", "slow_down", .refused), ("nonce", "use_dpop_nonce", .refused),
            ("type", "unsupported_token_type", .refused), ("login", "login_required", .refused),
            ("code", "invalid_code", nil), ("grant", "invalid_grant2", nil), ("grant", "Invalid_grant", nil),
            ("down", "slow_down ", nil),
        ] as [(String, String, OAuth2Error.Code?)])
    func partOfCode(_ secret: String, _ serverCode: String, _ code: OAuth2Error.Code?) {
        let error = error(
            400, #"{"error":"\#(serverCode)","error_description":"\#(secret)"}"#, redacting: [Secret(secret)])
        #expect(error?.code == code ?? .unexpectedStatus)
        #expect(error?.serverCode == (code == nil ? nil : serverCode))
        #expect(error?.serverDescription == nil)
    }

    @Test("The error of a damaged token response shows no token")
    func damagedSuccess() {
        for body in [
            #"{"access_token":"s3cr3t s3cr3t"}"#, #"{"access_token":"s3cr3t","refresh_token":"s3cr3t\n"}"#,
            #"{"access_token":"s3cr3t","#, "s3cr3t", #"["s3cr3t"]"#,
        ] {
            #expect(!shown(error(200, body) as Any).contains("s3cr3t"))
        }
    }

    @Test("The error of a token response describes the failure in one sentence")
    func sentences() {
        #expect(
            error(400, #"{"error":"invalid_grant","error_description":"Token is not active"}"#)?.description
                == #"The server no longer accepts the grant (status 400: invalid_grant, "Token is not active")."#)
        #expect(
            error(400, "")?.description
                == "The server did not answer as an authorization server does (status 400: an empty body).")
        #expect(
            error(200, "<html>")?.description
                == "The server's reply (status 200) cannot be used: "
                + "it is HTML or XML, not JSON; it may come from a login page or a proxy.")
    }
}
