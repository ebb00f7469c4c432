import HTTPTypes
import Testing

@testable import OAuth2

@Suite("Revocation, introspection and client credentials")
struct EndpointTests {
    @Test("Revocation names the token and its kind, and takes every success")
    func revocation() throws {
        let revocation = TokenRevocation(endpoint: try Given.endpoint("/revoke"), authentication: Given.authentication)
        let request = revocation.request(revoking: Secret("tok-1"), .refreshToken)
        #expect(
            Given.form(request) == [
                "token=tok-1", "token_type_hint=refresh_token", "client_id=app", "client_secret=s3cret-of-the-client",
            ])
        for body in ["", "{}", "<html>", "anything"] {
            try revocation.check(Given.response(body), revoking: Secret("tok-1"))
        }
        func code(_ body: String, _ status: HTTPResponse.Status) -> OAuth2Error.Code? {
            thrown { () throws(OAuth2Error) in
                try revocation.check(Given.response(body, status: status), revoking: Secret("tok-1"))
            }?.code
        }
        #expect(code(#"{"error":"unsupported_token_type"}"#, .badRequest) == .refused)
        #expect(code("", .serviceUnavailable) == .serverUnavailable)
        #expect(code("", .unauthorized) == .unexpectedStatus)
        #expect(code("", .found) == .unexpectedStatus)
    }

    @Test("Introspection returns the server's knowledge, in any form")
    func introspection() throws {
        let introspection = TokenIntrospection(
            endpoint: try Given.endpoint("/introspect"), authentication: Given.authentication)
        #expect(
            Given.form(introspection.request(about: Secret("t"), .accessToken)).prefix(2) == [
                "token=t", "token_type_hint=access_token",
            ])
        func answer(_ body: String) throws -> IntrospectedToken {
            try introspection.answer(in: Given.response(body), about: Secret("t"))
        }
        let full = try answer(
            #"{"active":true,"scope":"a b","client_id":"app","sub":"me","aud":["x","y"],"exp":1795248060,"iat":"1795248000"}"#
        )
        #expect(full.isActive && full.scopes == ["a", "b"] && full.subject == "me" && full.audience == ["x", "y"])
        #expect(full.expiry == after(60) && full.issuedAt == now)
        #expect(try !answer(#"{"active":false}"#).isActive)
        #expect(try answer(#"{"active":true,"aud":"one","exp":"never"}"#).expiry == nil)
        for body in ["{}", #"{"active":"true"}"#, #"{"active":1}"#] {
            #expect(
                thrown { () throws(OAuth2Error) in
                    try introspection.answer(in: Given.response(body), about: Secret("t"))
                }?.code == .incompleteReply)
        }
    }

    @Test("Client credentials ask for scopes and resources")
    func clientCredentials() throws {
        let grant = RepeatableGrant(
            .clientCredentials, tokenEndpoint: try Given.endpoint(), authentication: Given.authentication,
            scopes: ["a", "b"],
            resources: ["https://r"])
        #expect(
            Given.form(grant.request()) == [
                "grant_type=client_credentials", "scope=a+b", "resource=https%3A%2F%2Fr", "client_id=app",
                "client_secret=s3cret-of-the-client",
            ])
        let tokens = try grant.tokens(in: Given.response(#"{"access_token":"t","expires_in":60}"#), now: now)
        #expect(tokens.scopes == ["a", "b"] && tokens.accessTokenExpiry == after(60))
    }

    @Test("A body of more than a mebibyte is not a reply, whatever it contains")
    func oversized() throws {
        let body = #"{"active":true,"pad":""# + String(repeating: "x", count: 1 << 20) + #""}"#
        let introspection = TokenIntrospection(
            endpoint: try Given.endpoint("/introspect"), authentication: Given.authentication)
        #expect(
            thrown { () throws(OAuth2Error) in
                try introspection.answer(in: Given.response(body), about: Secret("t"))
            }?.code == .tooLarge)
    }

    @Test("A token is presented without a body, and only one that can be")
    func presenting() throws {
        let tokens = TokenSet(accessToken: Secret("tok-9"), receivedAt: now)
        let request = try #require(EndpointRequest(presenting: tokens, to: try Given.endpoint("/cookie")))
        #expect(request.exposedHead.headerFields[.authorization] == "Bearer tok-9" && request.exposedBody.isEmpty)
        #expect(request.exposedHead.headerFields[.contentType] == nil && !shown(request).contains("tok-9"))
        #expect(request.boundToken == nil)
        var bound = tokens
        bound.tokenType = .dpop
        let presenting = try #require(EndpointRequest(presenting: bound, to: try Given.endpoint("/cookie")))
        #expect(presenting.exposedHead.headerFields[.authorization] == "DPoP tok-9")
        #expect(presenting.boundToken == bound.accessToken)
        bound.tokenType = TokenType("mac")
        #expect(EndpointRequest(presenting: bound, to: try Given.endpoint("/cookie")) == nil)
    }
}
