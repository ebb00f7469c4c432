import Foundation
import HTTPTypes
import OAuth2
import Testing

@Suite("RefreshGrant")
struct RefreshGrantTests {
    private let tokens = TokenSet(
        accessToken: Secret("old-access"), refreshToken: Secret("old-refresh"), idToken: Secret("old-id"),
        scopes: ["a", "b"], receivedAt: after(-3600), accessTokenExpiry: now, refreshTokenExpiry: after(1000),
        grantExpiry: after(2000))

    private func grant(_ authentication: ClientAuthentication, scopes: Scopes? = nil) throws -> RefreshGrant {
        RefreshGrant(
            tokenEndpoint: try EndpointURL("https://issuer.example:8443/token?tenant=1"),
            authentication: authentication, scopes: scopes)
    }

    // MARK: - Request

    @Test("A refresh sends a POST with a form, and only the necessary parameters")
    func request() throws {
        let request = try grant(.publicClient(clientID: "app")).request(refreshing: tokens)
        let head = request.exposedHead
        #expect(head.method == .post)
        #expect(head.scheme == "https")
        #expect(head.authority == "issuer.example:8443")
        #expect(head.path == "/token?tenant=1")
        #expect(head.headerFields[.contentType] == "application/x-www-form-urlencoded")
        #expect(head.headerFields[.accept] == "application/json")
        #expect(head.headerFields.count == 2)
        #expect(
            String(decoding: request.exposedBody, as: UTF8.self)
                == "grant_type=refresh_token&refresh_token=old-refresh&client_id=app")
        #expect("\(request)" == "POST https://issuer.example:8443/token")
    }

    @Test(
        "A refresh authenticates the client with each method",
        arguments: [
            (.publicClient(clientID: ""), nil, ""),
            (.publicClient(clientID: "my app"), nil, "&client_id=my+app"),
            (.clientSecretPost(clientID: "app", secret: Secret("p&w=")), nil, "&client_id=app&client_secret=p%26w%3D"),
            (.clientSecretBasic(clientID: "s6BhdRkqt3", secret: Secret("gX1fBat3bV")), "s6BhdRkqt3:gX1fBat3bV", ""),
            // Form-encoded first, so that a colon in either cannot be taken for the one between them.
            (
                .clientSecretBasic(clientID: "https://a:1", secret: Secret(" %&+£€")),
                "https%3A%2F%2Fa%3A1:%20%25%26%2B%C2%A3%E2%82%AC", ""
            ),
            (.clientSecretBasic(clientID: "", secret: Secret("")), ":", ""),
        ] as [(ClientAuthentication, String?, String)])
    func authentication(_ authentication: ClientAuthentication, _ pair: String?, _ parameters: String) throws {
        let request = try grant(authentication).request(refreshing: tokens)
        let field = request.exposedHead.headerFields.first { $0.name == .authorization }
        #expect(field?.value == pair.map { "Basic " + Data($0.utf8).base64EncodedString() })
        if let field { #expect(field.indexingStrategy == .disallow) }
        #expect(
            String(decoding: request.exposedBody, as: UTF8.self)
                == "grant_type=refresh_token&refresh_token=old-refresh" + parameters)
    }

    @Test("Client authentication methods have the names of servers' metadata")
    func methodNames() {
        let secret = Secret("s")
        #expect(ClientAuthentication.publicClient(clientID: "a").methodName == "none")
        #expect(
            ClientAuthentication.clientSecretBasic(clientID: "a", secret: secret).methodName == "client_secret_basic")
        #expect(ClientAuthentication.clientSecretPost(clientID: "a", secret: secret).methodName == "client_secret_post")
        #expect(ClientAuthentication.clientSecretPost(clientID: "a", secret: secret).clientID == "a")
    }

    @Test("A refresh requests scopes if told to, and encodes any refresh token")
    func encoding() throws {
        var odd = tokens
        odd.refreshToken = Secret("a+b/c=d e&f")
        let body = try grant(.publicClient(clientID: ""), scopes: ["a", "urn:b"]).request(refreshing: odd).exposedBody
        #expect(
            String(decoding: body, as: UTF8.self)
                == "grant_type=refresh_token&refresh_token=a%2Bb%2Fc%3Dd+e%26f&scope=a+urn%3Ab")
        let none = try grant(.publicClient(clientID: ""), scopes: []).request(refreshing: tokens).exposedBody
        #expect(!String(decoding: none, as: UTF8.self).contains("scope"))
    }

    @Test("A refresh needs a refresh token", arguments: [nil, ""])
    func missing(_ refreshToken: String?) throws {
        var without = tokens
        without.refreshToken = refreshToken.map { Secret($0) }
        let grant = try grant(.publicClient(clientID: "app"))
        let error = thrown { () throws(OAuth2Error) in try grant.request(refreshing: without) }
        #expect(error?.code == .missingRefreshToken)
    }

    // MARK: - Response

    private func response(_ body: String, status: HTTPResponse.Status = .ok, scopes: Scopes? = nil) throws -> TokenSet {
        try grant(.clientSecretPost(clientID: "app", secret: Secret("pw-of-app")), scopes: scopes)
            .tokens(in: EndpointResponse(status: status, body: Array(body.utf8)), refreshing: tokens, now: now)
    }

    @Test("A refresh takes all new values of the reply")
    func rotation() throws {
        let renewed = try response(
            #"{"access_token":"new","refresh_token":"next","id_token":"id2","scope":"a","expires_in":60}"#)
        #expect(
            renewed
                == TokenSet(
                    accessToken: Secret("new"), refreshToken: Secret("next"), idToken: Secret("id2"), scopes: ["a"],
                    receivedAt: now, accessTokenExpiry: after(60), refreshTokenExpiry: nil,
                    grantExpiry: after(2000)))
    }

    @Test("A refresh keeps absent values, but never the old access token's expiry")
    func keeping() throws {
        let renewed = try response(#"{"access_token":"new"}"#)
        #expect(
            renewed
                == TokenSet(
                    accessToken: Secret("new"), refreshToken: Secret("old-refresh"), idToken: Secret("old-id"),
                    scopes: ["a", "b"], receivedAt: now, refreshTokenExpiry: after(1000), grantExpiry: after(2000)))
        #expect(try response(#"{"access_token":"new","refresh_token":""}"#) == renewed)
        #expect(try response(#"{"access_token":"new"}"#, scopes: ["a"]).scopes == ["a"])
        #expect(try response(#"{"access_token":"new","refresh_expires_in":5}"#).refreshTokenExpiry == after(5))
    }

    @Test("A refresh keeps the expiry of an unchanged refresh token, and of no other")
    func repeated() throws {
        let repeated = #"{"access_token":"new","refresh_token":"old-refresh"#
        #expect(try response(repeated + #""}"#).refreshTokenExpiry == after(1000))
        #expect(try response(repeated + #"","refresh_expires_in":5}"#).refreshTokenExpiry == after(5))
        #expect(try response(repeated + #"-2"}"#).refreshTokenExpiry == nil)
    }

    @Test(
        "A refresh keeps the end of the grant, whatever happens to the refresh token, until a reply has another one",
        arguments: [
            ("", 2000), (#","refresh_token":"next""#, 2000), (#","refresh_expires_in":5"#, 2000),
            (#","authorization_expires_in":7"#, 7), (#","refresh_token":"next","authorization_expires_in":9000"#, 9000),
        ] as [(String, Int64)])
    func grantExpiry(_ members: String, _ seconds: Int64) throws {
        #expect(try response(#"{"access_token":"new"\#(members)}"#).grantExpiry == after(seconds))
    }

    @Test("A refresh distinguishes a lost grant from a server that cannot answer")
    func errors() {
        func code(_ body: String, _ status: HTTPResponse.Status) -> OAuth2Error.Code? {
            do {
                _ = try response(body, status: status)
                return nil
            } catch {
                return (error as? OAuth2Error)?.code
            }
        }
        #expect(code(#"{"error":"invalid_grant"}"#, .badRequest) == .invalidGrant)
        #expect(code(#"{"error":"invalid_client"}"#, .unauthorized) == .invalidClient)
        #expect(code("", .badGateway) == .serverUnavailable)
        #expect(code("", .badRequest) == .unexpectedStatus)
        #expect(code("<html>", .ok) == .markup)
    }

    @Test(
        "The error of a refresh shows nothing of the request",
        arguments: ["old-refresh", "old-access", "old-id", "pw-of-app"])
    func echoes(_ secret: String) {
        do {
            _ = try response(#"{"error":"invalid_grant","error_description":"bad: \#(secret)"}"#, status: .badRequest)
            Issue.record("An error was expected.")
        } catch {
            #expect(!shown(error).contains(secret))
        }
    }
}
