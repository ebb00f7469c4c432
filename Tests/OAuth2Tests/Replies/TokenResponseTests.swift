import HTTPTypes
import OAuth2
import Testing

@Suite("TokenResponse, a reply with tokens")
struct TokenResponseTests {
    private func read(_ json: String) throws(OAuth2Error) -> TokenSet {
        try TokenResponse.tokenSet(status: .ok, body: Array(json.utf8), now: now)
    }

    @Test("A token response is read completely, as in RFC 6749, section 5.1")
    func example() throws {
        let tokens = try read(
            """
            {"access_token":"2YotnFZFEjr1zCsicMWpAA","token_type":"example","expires_in":3600,
             "refresh_token":"tGzv3JOkF0XG5Qx2TlKWIA","example_parameter":"example_value",
             "id_token":"eyJ.e30.c2ln","scope":"openid profile","refresh_expires_in":86400}
            """)
        #expect(
            tokens
                == TokenSet(
                    accessToken: Secret("2YotnFZFEjr1zCsicMWpAA"), tokenType: TokenType("example"),
                    refreshToken: Secret("tGzv3JOkF0XG5Qx2TlKWIA"), idToken: Secret("eyJ.e30.c2ln"),
                    scopes: ["openid", "profile"], receivedAt: now, accessTokenExpiry: after(3600),
                    refreshTokenExpiry: after(86400)))
    }

    @Test("A token response needs only an access token")
    func minimal() throws {
        #expect(try read(#"{"access_token":"a"}"#) == TokenSet(accessToken: Secret("a"), receivedAt: now))
    }

    @Test(
        "A token response without a type is Bearer, and another keeps its type",
        arguments: [
            (#""x":1"#, "Bearer"), (#""token_type":null"#, "Bearer"), (#""token_type":"""#, "Bearer"),
            (#""token_type":7"#, "Bearer"), (#""token_type":"bearer""#, "bearer"),
            (#""token_type":"DPoP""#, "DPoP"), (#""token_type":"urn:ietf:params:x""#, "urn:ietf:params:x"),
        ])
    func tokenType(_ member: String, _ expected: String) throws {
        #expect(try read(#"{"access_token":"a",\#(member)}"#).tokenType.name == expected)
    }

    @Test(
        "A token response may have scopes in any form that servers use",
        arguments: [
            (#""x":1"#, nil), (#""scope":null"#, nil), (#""scope":5"#, nil), (#""scope":"""#, []),
            (#""scope":"a b""#, ["a", "b"]), (#""scope":["a","b"]"#, ["a", "b"]), (#""scope":["a",1,null]"#, ["a"]),
            (#""scope":"repo,user""#, ["repo", "user"]),
        ] as [(String, Scopes?)])
    func scopes(_ member: String, _ expected: Scopes?) throws {
        #expect(try read(#"{"access_token":"a",\#(member)}"#).scopes == expected)
    }

    @Test(
        "A token response with any form of expiry keeps the token",
        arguments: [
            ("3600", 3600), (#""3600""#, 3600), (#"" 3600 ""#, 3600), ("3600.0", 3600), (#""3600.0""#, 3600),
            ("3.6e3", 3600), ("1", 1),
            ("null", nil), (#""""#, nil), (#""soon""#, nil), (#""nan""#, nil), (#""inf""#, nil), (#""0x10""#, nil),
            ("true", nil), ("[3600]", nil), (#"{"s":1}"#, nil), (#""1h""#, nil),
            (#""2026-01-01""#, nil),
        ] as [(String, Int64?)])
    func expiry(_ value: String, _ seconds: Int64?) throws {
        for (name, path) in [
            ("expires_in", \TokenSet.accessTokenExpiry), ("refresh_expires_in", \TokenSet.refreshTokenExpiry),
            ("refresh_token_expires_in", \TokenSet.refreshTokenExpiry),
            ("x_refresh_token_expires_in", \TokenSet.refreshTokenExpiry),
            ("re_expires_in", \TokenSet.refreshTokenExpiry), ("refresh_token_timeout", \TokenSet.refreshTokenExpiry),
            ("authorization_expires_in", \TokenSet.grantExpiry), ("consent_expires_in", \TokenSet.grantExpiry),
        ] {
            let tokens = try read(#"{"access_token":"a","\#(name)":\#(value)}"#)
            #expect(tokens.accessToken == Secret("a"))
            #expect(tokens[keyPath: path] == seconds.map(after))
        }
    }

    @Test(
        "A token response with a lifetime of zero has no known expiry, and a negative one has expired",
        arguments: [
            ("0", .unknown), ("0.0", .unknown), (#""0""#, .unknown), ("-1", .expired), (#""-3600""#, .expired),
            ("-1e999", .expired),
        ] as [(String, TokenValidity)])
    func noLifetime(_ value: String, _ validity: TokenValidity) throws {
        let tokens = try read(#"{"access_token":"a","expires_in":\#(value),"refresh_expires_in":\#(value)}"#)
        #expect(tokens.validity(at: now) == validity)
        #expect(tokens.accessTokenExpiry == (validity == .unknown ? nil : now) && tokens.refreshTokenExpiry == nil)
    }

    @Test(
        "A token response with a huge lifetime expires at the end of time",
        arguments: ["9223372036854775807", "1e30", "1e999"])
    func hugeExpiry(_ value: String) throws {
        #expect(try read(#"{"access_token":"a","expires_in":\#(value)}"#).accessTokenExpiry == .distantFuture)
        #expect(try read(#"{"access_token":"a","expires_in":"\#(value)"}"#).accessTokenExpiry == .distantFuture)
    }

    @Test("A token response's lifetime counts from now, and the server's clock counts only without a lifetime")
    func absoluteExpiry() throws {
        let both = try read(#"{"access_token":"a","expires_in":"60","expires_on":"1"}"#)
        #expect(both.accessTokenExpiry == after(60))
        let absolute = try read(#"{"access_token":"a","expires_in":null,"expires_on":"1795251600"}"#)
        #expect(absolute.accessTokenExpiry == after(3600))
    }

    @Test(
        "A token response distinguishes the end of the grant from that of its refresh token",
        arguments: [
            (#""refresh_token_timeout":604800,"authorization_expires_in":864000"#, 604_800, 864_000),
            (#""refresh_token_timeout":604800,"authorization_expires_in":259200"#, 604_800, 259_200),
            (#""refresh_expires_in":0,"authorization_expires_in":60"#, nil, 60),
            (#""refresh_expires_in":60,"authorization_expires_in":0"#, 60, nil),
            (#""consent_expires_in":"1987200""#, nil, 1_987_200),
            (#""consent_expires_in":1,"authorization_expires_in":2"#, nil, 2),
            (#""authorization_expires_at":1795251600"#, nil, 3600),
            (#""authorization_expires_in":"soon""#, nil, nil), (#""grant_id":"g""#, nil, nil),
        ] as [(String, Int64?, Int64?)])
    func grantExpiry(_ members: String, _ refreshToken: Int64?, _ grant: Int64?) throws {
        let tokens = try read(#"{"access_token":"a",\#(members)}"#)
        #expect(tokens.refreshTokenExpiry == refreshToken.map(after) && tokens.grantExpiry == grant.map(after))
    }

    @Test("A token response keeps fractions of a second")
    func fraction() throws {
        #expect(
            try read(#"{"access_token":"a","expires_in":0.25}"#).accessTokenExpiry
                == now.advanced(by: .milliseconds(250)))
    }

    @Test(
        "A token response is read without invalid refresh tokens and ID tokens",
        arguments: ["null", "\"\"", "false", "[]", "{}", "1"])
    func absentTokens(_ value: String) throws {
        let tokens = try read(#"{"access_token":"a","refresh_token":\#(value),"id_token":\#(value)}"#)
        #expect(tokens.refreshToken == nil)
        #expect(tokens.idToken == nil)
    }

    @Test(
        "A token may have characters that RFC 6750 excludes and large providers use",
        arguments: ["00D!AQ4.x", "12|ab", "~+/=:"])
    func unusualTokens(_ token: String) throws {
        #expect(try read(#"{"access_token":"\#(token)"}"#).accessToken == Secret(token))
    }

    @Test("A token response may have escapes, a byte order mark, white space, a status 201 and strange other members")
    func unusualJSON() throws {
        #expect(try read(#" {"access_token" : "\u0061\/b"} "#).accessToken == Secret("a/b"))
        #expect(try read("\u{FEFF}{\"access_token\":\"a\"}\r\n").accessToken == Secret("a"))
        #expect(try read(#"{"x":1e999,"y":"\ud800","z":[[{}]],"access_token":"a"}"#).accessToken == Secret("a"))
        #expect(try read(#"{"access_token":"a","error":"","error_description":null}"#).accessToken == Secret("a"))
        let bytes = Array(#"{"y":""#.utf8) + [0xFF, 0xC0] + Array(#"","access_token":"a"}"#.utf8)
        #expect(try TokenResponse.tokenSet(status: .created, body: bytes, now: now).accessToken == Secret("a"))
    }
}
