import HTTPTypes
import Testing

@testable import OAuth2

@Suite("AuthorizationCodeGrant")
struct AuthorizationCodeGrantTests {
    private let attempt = AuthorizationAttempt(
        state: Secret("the-state"), codeVerifier: Secret("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
        nonce: Secret("the-nonce"))

    private func grant(
        issuer: String = "https://id.example", sendsIssuer: Bool = false, scopes: Scopes = ["openid", "a"]
    ) throws -> AuthorizationCodeGrant {
        AuthorizationCodeGrant(
            authorizationEndpoint: try Given.endpoint("/authorize"), tokenEndpoint: try Given.endpoint(),
            issuer: issuer, sendsIssuer: sendsIssuer, authentication: Given.authentication,
            redirectURI: "http://127.0.0.1:8765/cb", scopes: scopes, resources: ["https://api.example"])
    }

    @Test("An attempt is 256 bits of verifier, and no two are alike")
    func attempts() {
        var generator = SystemRandomNumberGenerator()
        let attempts = (0..<50).map { _ in AuthorizationAttempt(using: &generator) }
        for attempt in attempts {
            // RFC 7636, section 4.1: 43 to 128 unreserved characters.
            #expect(attempt.codeVerifier.exposedBytes.count == 43)
            #expect(attempt.state != attempt.nonce)
        }
        #expect(Set(attempts.map { $0.state.exposedText }).count == 50)
        #expect(Set(attempts.map { $0.codeVerifier.exposedText }).count == 50)
        #expect(!shown(attempts[0]).contains(attempts[0].codeVerifier.exposedText ?? ""))
    }

    @Test("The browser's URL has all that RFC 6749, RFC 7636 and RFC 8707 want, and never the verifier")
    func authorizationURL() throws {
        var grant = try grant()
        // What the grant decides on is not for others to ask for.
        grant.parameters = [("prompt", "consent"), ("response_type", "token"), ("code_challenge_method", "plain")]
        let url = grant.exposedAuthorizationURL(for: attempt)
        // The challenge is that of RFC 7636, appendix B.
        #expect(
            url == "https://id.example/authorize?client_id=app&response_type=code"
                + "&redirect_uri=http%3A%2F%2F127.0.0.1%3A8765%2Fcb&scope=openid+a&state=the-state"
                + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
                + "&nonce=the-nonce&resource=https%3A%2F%2Fapi.example&prompt=consent")
        #expect(!url.contains("dBjftJeZ4CVP") && !url.contains("s3cret"))
        let plain = try self.grant(scopes: []).exposedAuthorizationURL(for: attempt)
        #expect(!plain.contains("scope=") && !plain.contains("nonce="))
    }

    @Test("A query that the endpoint has stays")
    func existingQuery() throws {
        var grant = try grant()
        grant.authorizationEndpoint = try Given.endpoint("/authorize?tenant=1")
        #expect(
            grant.exposedAuthorizationURL(for: attempt).hasPrefix("https://id.example/authorize?tenant=1&client_id="))
    }

    @Test("A pushed request leaves client and reference for the browser")
    func push() throws {
        let grant = try grant()
        let request = grant.pushRequest(to: try Given.endpoint("/par"), for: attempt)
        let form = Given.form(request)
        #expect(form.contains("state=the-state") && form.contains("client_secret=s3cret-of-the-client"))
        #expect(form.contains("code_challenge_method=S256") && form.filter { $0.hasPrefix("client_id=") }.count == 1)
        let url = try grant.exposedAuthorizationURL(
            afterPush: Given.response(#"{"request_uri":"urn:x:1","expires_in":60}"#, status: .created), of: attempt)
        #expect(url == "https://id.example/authorize?client_id=app&request_uri=urn%3Ax%3A1")
        let error = thrown { () throws(OAuth2Error) in
            try grant.exposedAuthorizationURL(afterPush: Given.response("{}"), of: attempt)
        }
        #expect(error?.code == .incompleteReply)
    }

    @Test(
        "A redirect gives its code only where it is the answer to this login, from this server",
        arguments: [
            ("/cb?code=c1&state=the-state", false, "c1"),
            ("http://127.0.0.1:1/cb?state=the-state&code=c%2B1&other=x#frag", false, "c+1"),
            ("/cb?code=c1&state=the-state&iss=https%3A%2F%2Fid.example", true, "c1"),
            // RFC 6749, section 10.12
            ("/cb?code=c1&state=the-statf", false, "state_mismatch"),
            ("/cb?code=c1", false, "state_mismatch"),
            ("/cb?code=c1&state=", false, "state_mismatch"),
            ("/cb", false, "state_mismatch"),
            ("/cb?error=access_denied", false, "state_mismatch"),
            // RFC 9207, section 2.4
            ("/cb?code=c1&state=the-state&iss=https%3A%2F%2Fevil.example", false, "issuer_mismatch"),
            ("/cb?code=c1&state=the-state&iss=https%3A%2F%2Fid.example%2F", false, "issuer_mismatch"),
            ("/cb?code=c1&state=the-state", true, "issuer_mismatch"),
            ("/cb?error=access_denied&state=the-state&iss=https%3A%2F%2Fevil.example", false, "issuer_mismatch"),
            // RFC 6749, sections 3.1 and 4.1.2.1
            ("/cb?code=c1&code=c2&state=the-state", false, "invalid_redirect"),
            ("/cb?code=c1&state=the-state&state=x", false, "invalid_redirect"),
            ("/cb?code=&state=the-state", false, "invalid_redirect"),
            ("/cb?state=the-state", false, "invalid_redirect"),
            ("/cb?error=access_denied&state=the-state", false, "access_denied"),
            ("/cb?error=temporarily_unavailable&state=the-state", false, "server_unavailable"),
            ("/cb?error=invalid_scope&state=the-state&code=c1", false, "refused"),
        ])
    func redirects(_ redirect: String, _ sendsIssuer: Bool, _ expected: String) throws {
        let grant = try grant(sendsIssuer: sendsIssuer)
        do {
            let code = try grant.code(inRedirect: redirect, to: attempt)
            #expect(code.exposedText == expected)
        } catch {
            #expect(error.code.rawValue == expected)
            #expect(!shown(error).contains("the-state"))
        }
    }

    @Test("A server that repeats the request does not bring it into an error")
    func echo() throws {
        let redirect = "/cb?state=the-state&error=x&error_description=the-state+was+bad%1B%5B31m"
        let grant = try grant()
        let error = thrown { () throws(OAuth2Error) in try grant.code(inRedirect: redirect, to: attempt) }
        #expect(error?.code == .refused && error.map { !shown($0).contains("the-state") } == true)
    }

    @Test("A code is redeemed with its verifier and the very redirect URI")
    func redeeming() throws {
        let request = try grant().request(redeeming: Secret("c1"), of: attempt)
        #expect(
            Given.form(request) == [
                "grant_type=authorization_code", "code=c1", "redirect_uri=http%3A%2F%2F127.0.0.1%3A8765%2Fcb",
                "code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "resource=https%3A%2F%2Fapi.example",
                "client_id=app", "client_secret=s3cret-of-the-client",
            ])
        for text in ["c1&", "dBjft", "s3cret"] { #expect(!shown(request).contains(text)) }
    }

    @Test("Tokens come with the scopes that were asked for, unless the server tells others")
    func tokens() throws {
        func scopes(_ body: String) throws -> Scopes? {
            try grant().tokens(in: Given.response(body), redeeming: Secret("c1"), of: attempt, now: now).scopes
        }
        #expect(try scopes(#"{"access_token":"t"}"#) == ["openid", "a"])
        #expect(try scopes(#"{"access_token":"t","scope":"a"}"#) == ["a"])
    }

    @Test("A replayed code is a refusal that does not repeat it")
    func replay() throws {
        let reply = Given.response(
            #"{"error":"invalid_grant","error_description":"code long-code-1 was used"}"#, status: .badRequest)
        let grant = try grant()
        let error = thrown { () throws(OAuth2Error) in
            try grant.tokens(in: reply, redeeming: Secret("long-code-1"), of: attempt, now: now)
        }
        #expect(error?.code == .invalidGrant && error.map { !shown($0).contains("long-code-1") } == true)
    }
}
