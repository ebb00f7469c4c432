import OAuth2
import Testing

@Suite("TokenImport")
struct TokenImportTests {
    private func read(_ text: String) throws(OAuth2Error) -> TokenSet {
        try TokenImport.tokenSet(Array(text.utf8), now: now)
    }

    @Test("A token import reads a complete reply")
    func reply() throws {
        let tokens = try read(
            """
            {
              "access_token": "a", "refresh_token": "r", "id_token": "i", "token_type": "bearer",
              "scope": "openid", "expires_at": 1795251600, "refresh_expires_at": "2026-11-22T08:00:00Z",
              "authorization_expires_at": "2026-11-23T08:00:00Z"
            }
            """)
        #expect(
            tokens
                == TokenSet(
                    accessToken: Secret("a"), refreshToken: Secret("r"), idToken: Secret("i"), scopes: ["openid"],
                    receivedAt: now, accessTokenExpiry: after(3600), refreshTokenExpiry: after(86400),
                    grantExpiry: after(2 * 86400)))
    }

    @Test(
        "A token import reads the expiry in each form that tools write",
        arguments: [
            (#""expires_at":1795251600"#, 3600), (#""expires_at":"1795251600""#, 3600),
            (#""expires_at":1795251600.0"#, 3600), (#""expires_on":"1795251600""#, 3600),
            (#""expiry":"2026-11-21T09:00:00Z""#, 3600), (#""expiry":"2026-11-21T09:00:00.000000001Z""#, 3600),
            (#""expiry":"2026-11-21T10:00:00+01:00""#, 3600), (#""expires_at":"2026-11-21 09:00:00z""#, 3600),
            // A leap second is the first moment of the next minute, as in POSIX time.
            (#""expires_at":"2026-11-21T08:59:60Z""#, 3600),
            // Milliseconds, as JavaScript counts.
            (#""expiry_date":1795251600000"#, 3600), (#""expires_at":1795251600000"#, 3600),
            // What is absolute counts, even when it is over.
            (#""expires_at":1795244400,"expires_in":7200"#, -3600), (#""expires_in":60"#, 60),
            (#""expires_at":null,"expires_in":60"#, 60), (#""expires_at":"later","expires_in":60"#, 60),
            (#""created_at":1795247000,"expires_in":7200"#, 6200), (#""created_at":9999999999,"expires_in":60"#, 60),
            // Go's zero time, and other things that are no moment.
            (#""expiry":"0001-01-01T00:00:00Z""#, nil), (#""expires_at":0"#, nil), (#""expires_at":-1"#, nil),
            (#""expiry":"2026-11-21T09:00:00""#, nil), (#""expiry":"2026-02-30T09:00:00Z""#, nil),
            (#""expires_on":"2026-11-21""#, nil), (#""expires_at":[]"#, nil), (#""x":1"#, nil),
        ] as [(String, Int64?)])
    func expiry(_ members: String, _ seconds: Int64?) throws {
        #expect(try read(#"{"access_token":"a",\#(members)}"#).accessTokenExpiry == seconds.map(after))
    }

    @Test("A token import keeps the time of the reply, if it is stated and not in the future")
    func createdAt() throws {
        #expect(try read(#"{"access_token":"a","created_at":1795247000}"#).receivedAt == after(-1000))
        #expect(try read(#"{"access_token":"a","created_at":1795249000}"#).receivedAt == now)
        #expect(try read(#"{"access_token":"a"}"#).receivedAt == now)
    }

    @Test(
        "A token import reads a single access token on a line",
        arguments: [
            "tok-en.1", "tok-en.1\n", "  tok-en.1\r\n\n", "\u{FEFF}tok-en.1", "Bearer tok-en.1\n", "bearer  tok-en.1",
            #""tok-en.1""#, #" "tok\u002den.1" "#,
        ])
    func bareToken(_ text: String) throws {
        #expect(try read(text) == TokenSet(accessToken: Secret("tok-en.1"), receivedAt: now))
    }

    @Test(
        "The error of a token import names the problem, and nothing of the input",
        arguments: [
            ("", .empty), (" \n\t", .empty), ("s3cr3t\ns3cr3t", .invalidAccessToken),
            ("s3cr3t s3cr3t", .invalidAccessToken),
            ("s3cr3t\u{0}", .invalidAccessToken), ("s3cr3té", .invalidAccessToken),
            ("Bearer s3cr3t s3cr3t", .invalidAccessToken),
            ("access_token: s3cr3t", .invalidAccessToken), ("null\n", .missingAccessToken), (#""s3cr3t"#, .notJSON),
            (#""s3cr3t" "s3cr3t""#, .notJSON), (#""""#, .invalidAccessToken), (#""s3cr3t\n""#, .invalidAccessToken),
            ("<html>s3cr3t", .markup), (#"["s3cr3t"]"#, .notAnObject), (#"{"access_token":"s3cr3t""#, .notJSON),
            ("{}", .missingAccessToken), (#"{"accessToken":"s3cr3t"}"#, .missingAccessToken),
            (#"{"access_token":"s3cr3t\u0001"}"#, .invalidAccessToken), (#"{"error":"invalid_grant"}"#, .refused),
        ] as [(String, OAuth2Error.Code)])
    func errors(_ text: String, _ expected: OAuth2Error.Code) {
        let error = thrown { () throws(OAuth2Error) in try read(text) }
        #expect(error?.code == expected)
        #expect(error?.status == nil)
        #expect(!shown(error as Any).contains("s3cr3t"))
        #expect(error?.description.hasPrefix("The input cannot be used: ") == true)
    }

    @Test("A token import reads at most a mebibyte, in either form", arguments: ["", "{"])
    func size(_ start: String) {
        let text = start + String(repeating: "x", count: EndpointResponse.maximumBodySize)
        #expect(thrown { () throws(OAuth2Error) in try read(text + "x") }?.code == .tooLarge)
    }
}
