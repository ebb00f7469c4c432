import CookieModel
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import OAuth2
import SessionStore
import Testing

@testable import SessionService

@Suite("Tokens and logins", .timeLimit(.minutes(10)))
struct TokenRouteTests {
    @Test("A valid token is returned without a request; one that is due is refreshed first")
    func accessToken() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            let fresh = try await client.send(.post, "/v1/tokens/work/access-token")
            #expect(fresh.object["accessToken"] as? String == "access-secret")
            #expect(fixture.server.paths.isEmpty)
            let due = try await client.send(.post, "/v1/tokens/work/access-token", #"{"skew":7200}"#)
            #expect(due.object["accessToken"] as? String == "access-secret-2")
            #expect(fixture.server.paths == ["/token"])
        }
    }

    @Test("An ID token is returned with its expiry; a login without one is a problem")
    func idToken() async throws {
        let fixture = try ServiceFixture()
        let stored = try fixture.database.tokens.get("work")
        try await fixture.run { client in
            let given = try await client.send(.post, "/v1/tokens/work/id-token", #"{"skew":5}"#)
            #expect(given.object["idToken"] as? String == ServiceFixture.idToken)
            #expect(given.object["expires"] as? String == "2096-10-02T07:06:40Z")
            #expect(try await client.send(.post, "/v1/tokens/work/id-token", #"{"skew":-1}"#).status == 400)
            var tokens = stored.tokens
            tokens.idToken = nil
            try fixture.database.tokens.put(tokens, for: stored.profile, now: ServiceFixture.now)
            let none = try await client.send(.post, "/v1/tokens/work/id-token")
            #expect(none.status == 409 && none.code == "token-settings-missing")
        }
        #expect(fixture.server.paths.isEmpty)
    }

    @Test("A bound token is returned with the proof for the named request, other tokens without one")
    func proof() async throws {
        let fixture = try ServiceFixture()
        let asked = #"{"url":"https://api.example/a?b","method":"PUT","nonce":"n1"}"#
        let tokens = TokenSet(accessToken: Secret("bound-secret"), tokenType: .dpop, receivedAt: .epoch)
        try fixture.database.tokens.put(
            tokens, for: Profile(id: ProfileID(), name: "bound"),
            credentials: ProfileCredentials(
                settings: ProfileSettings(grant: .imported, endpoints: [:]), proofKey: SigningKey().secret),
            now: ServiceFixture.now)
        try fixture.database.tokens.put(
            tokens, for: Profile(id: ProfileID(account: "x"), name: "keyless"), now: ServiceFixture.now)
        try await fixture.run { client in
            let plain = try await client.send(.post, "/v1/tokens/work/access-token", asked)
            #expect(plain.status == 200 && plain.object["proof"] == nil)
            let unnamed = try await client.send(.post, "/v1/tokens/bound/access-token")
            #expect(unnamed.status == 200 && unnamed.object["proof"] == nil)
            let bound = try await client.send(.post, "/v1/tokens/bound/access-token", asked)
            #expect((bound.object["proof"] as? String)?.split(separator: ".").count == 3)
            let keyless = try await client.send(.post, "/v1/tokens/keyless/access-token", asked)
            #expect(keyless.status >= 400 && keyless.code == "token-settings-missing")
        }
    }

    @Test("The expiry of the grant is reported, and kept by a refresh that does not state it")
    func grantExpiry() async throws {
        let fixture = try ServiceFixture()
        var stored = try fixture.database.tokens.get("work")
        var tokens = stored.tokens
        tokens.grantExpiry = ServiceFixture.now.advanced(bySeconds: 86_400)
        try fixture.database.tokens.put(tokens, for: stored.profile, now: ServiceFixture.now)
        let end = #""grantExpires":"2027-01-16T08:00:00Z""#
        try await fixture.run { client in
            #expect(try await client.send(.get, "/v1/tokens/work").text.contains(end))
            #expect(try await client.send(.post, "/v1/tokens/work/refresh").text.contains(end))
            let list = try await client.send(.get, "/v1/tokens")
            #expect(list.text.contains(end))
        }
        stored = try fixture.database.tokens.get("work")
        #expect(
            stored.tokens.accessToken == Secret("access-secret-2") && stored.tokens.grantExpiry == tokens.grantExpiry)
    }

    @Test("If a refresh fails, a valid token is returned, and an expired one is a problem")
    func refreshFails() async throws {
        let fixture = try ServiceFixture()
        fixture.server.answer("/token", 503, "")
        try await fixture.run { client in
            let due = try await client.send(.post, "/v1/tokens/work/access-token", #"{"skew":7200}"#)
            #expect(due.object["accessToken"] as? String == "access-secret")
            let asked = try await client.send(.post, "/v1/tokens/work/refresh")
            #expect(asked.status == 502 && asked.code == "server-unavailable")
        }
        fixture.server.answer("/token", 400, #"{"error":"invalid_grant"}"#)
        let lost = try await fixture.run { try await $0.send(.post, "/v1/tokens/work/refresh") }
        #expect(lost.status == 409 && lost.code == "login-required")
        let listed = try await fixture.run { try await $0.send(.get, "/v1/tokens") }
        #expect(listed.text.contains(#""state":"login-required""#))
    }

    @Test("A logout revokes the tokens at the server and removes them")
    func revoke() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            let revoked = try await client.send(.post, "/v1/tokens/work/revoke")
            #expect(revoked.text == #"{"isRemoved":false,"name":"work","revoked":["refresh_token","access_token"]}"#)
            let loggedOut = try await client.send(.post, "/v1/tokens/work/logout")
            #expect(loggedOut.object["isRemoved"] as? Bool == true)
            #expect(try await client.send(.get, "/v1/tokens/work").status == 404)
        }
    }

    @Test("If the server cannot be reached, a logout removes nothing, unless that is requested")
    func logoutOffline() async throws {
        let fixture = try ServiceFixture()
        fixture.server.answer("/revoke", 503, "")
        try await fixture.run { client in
            let refused = try await client.send(.post, "/v1/tokens/work/logout")
            #expect(refused.code == "server-unavailable")
            #expect(try await client.send(.get, "/v1/tokens/work").status == 200)
            let forced = try await client.send(.post, "/v1/tokens/work/logout", #"{"force":true}"#)
            #expect(forced.status == 200)
            #expect(try await client.send(.get, "/v1/tokens/work").status == 404)
        }
    }

    private func state(
        _ client: ServiceClient, _ id: String, after other: String = "pending"
    ) async throws -> ServiceAnswer {
        while true {
            let answer = try await client.send(.get, "/v1/logins/\(id)")
            if answer.object["state"] as? String != other { return answer }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    @Test("A login on another device shows the code and the address, and completes by itself")
    func device() async throws {
        let fixture = try ServiceFixture()
        fixture.server.answer("/token", 400, #"{"error":"authorization_pending"}"#)
        try await fixture.run { client in
            let begun = try await client.send(.post, "/v1/logins", #"{"name":"work","flow":"device"}"#)
            #expect(begun.object["userCode"] as? String == "WDJB-MJHT")
            #expect(begun.object["state"] as? String == "pending" && !begun.text.contains("device-secret"))
            let id = try #require(begun.object["id"] as? String)
            #expect(begun.fields[.location] == "/v1/logins/\(id)")
            fixture.server.answer("/token", 200, #"{"access_token":"access-secret-3","token_type":"Bearer"}"#)
            let ended = try await state(client, id)
            #expect(ended.object["state"] as? String == "done", "\(ended.text)")
            let token = try await client.send(.post, "/v1/tokens/work/access-token")
            #expect(token.object["accessToken"] as? String == "access-secret-3")
        }
    }

    @Test("A rejected login reports the reason; a cancelled one is removed")
    func refused() async throws {
        let fixture = try ServiceFixture()
        fixture.server.answer("/token", 400, #"{"error":"access_denied"}"#)
        try await fixture.run { client in
            let begun = try await client.send(.post, "/v1/logins", #"{"name":"work","flow":"device"}"#)
            let id = try #require(begun.object["id"] as? String)
            let ended = try await state(client, id)
            let problem = ended.object["problem"] as? [String: Any]
            #expect(problem?["code"] as? String == "login-failed", "\(ended.text)")
            #expect(try await client.send(.delete, "/v1/logins/\(id)").status == 204)
            #expect(try await client.send(.get, "/v1/logins/\(id)").code == "login-not-found")
        }
    }

    /// The parameter of a URL.
    private func parameter(_ name: String, of url: String?) throws -> String {
        let pair = url?.split(whereSeparator: { $0 == "?" || $0 == "&" }).first { $0.hasPrefix("\(name)=") }
        return String(try #require(pair).dropFirst(name.count + 1))
    }

    @Test("A browser can use the callback of a login once, and no other redirect counts")
    func browser() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            let begun = try await client.send(.post, "/v1/logins", #"{"name":"work","flow":"browser"}"#)
            let url = begun.object["authorizationURL"] as? String
            #expect(url?.hasPrefix("https://id.test/authorize?") == true, "\(begun.text)")
            let state = try parameter("state", of: url)
            let id = try #require(begun.object["id"] as? String)
            let foreign = try await client.send(.get, "/v1/logins/callback?state=other&code=c")
            #expect(foreign.status == 400 && foreign.mediaType == "text/html")
            let route = try #require(fixture.api.routes.first { $0.path == "/v1/logins/callback" })
            let look = Request(
                head: HTTPRequest(
                    method: .head, scheme: "http", authority: "localhost",
                    path: "/v1/logins/callback?state=\(state)&code=c"), body: RequestBody(buffer: ByteBuffer()))
            #expect(try await route.respond(to: look, in: .owner).status == .badRequest)
            let nobody = try await fixture.run(AccessGrant(verbs: [])) {
                try await $0.send(.get, "/v1/logins/callback?state=\(state)&code=c")
            }
            #expect(nobody.status == 200 && nobody.text.contains("You are logged in"))
            #expect(try await client.send(.get, "/v1/logins/\(id)").object["state"] as? String == "done")
            let again = try await client.send(.get, "/v1/logins/callback?state=\(state)&code=c")
            #expect(again.status == 400)
            #expect(fixture.server.paths == ["/token"])
        }
    }

    @Test("The final URL of a browser can be posted to complete a login")
    func redirect() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            let begun = try await client.send(
                .post, "/v1/logins", #"{"name":"work","flow":"browser","redirectURI":"app.test:/back"}"#)
            let state = try parameter("state", of: begun.object["authorizationURL"] as? String)
            let id = try #require(begun.object["id"] as? String)
            let wrong = try await client.send(
                .post, "/v1/logins/\(id)/redirect", #"{"url":"app.test:/back?state=x&code=c"}"#)
            #expect(wrong.status == 422 && wrong.code == "login-failed")
            let right = try await client.send(
                .post, "/v1/logins/\(id)/redirect", #"{"url":"app.test:/back?state=\#(state)&code=c"}"#)
            #expect(right.object["state"] as? String == "done", "\(right.text)")
        }
    }

    @Test("A login can use another redirect address once; later logins use the registered one")
    func returnsOnce() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            let begun = try await client.send(
                .post, "/v1/logins",
                #"{"name":"work","flow":"browser","browserReturnsTo":"http://127.0.0.1:4711/callback"}"#)
            let url = begun.object["authorizationURL"] as? String
            #expect(try parameter("redirect_uri", of: url).contains("4711"))
            let id = try #require(begun.object["id"] as? String)
            let state = try parameter("state", of: url)
            let ended = try await client.send(
                .post, "/v1/logins/\(id)/redirect",
                #"{"url":"http://127.0.0.1:4711/callback?state=\#(state)&code=c"}"#)
            #expect(ended.object["state"] as? String == "done", "\(ended.text)")
            let later = try await client.send(.post, "/v1/logins", #"{"name":"work","flow":"browser"}"#)
            let redirectURI = try parameter("redirect_uri", of: later.object["authorizationURL"] as? String)
            #expect(redirectURI.contains("callback") && !redirectURI.contains("4711"), "\(redirectURI)")
        }
    }

    /// What a login in a browser is begun with, at a service of its own.
    private static let login =
        #"{"name":"new","clientID":"c","endpoints":{"authorization_endpoint":"https://id.test/a","token_endpoint":"https://id.test/token"}}"#

    /// Where the browser is to come back to.
    private func redirectURI(_ server: RunningServer) async throws -> (url: String?, code: String) {
        let token = try server.ownerToken
        let answer = try await RawConnection.with(path: server.port == 0 ? server.socket : nil, port: server.port) {
            connection in
            try await connection.ask(
                "POST", "/v1/logins",
                ["Host": "localhost:\(server.port)", "Authorization": "Bearer \(token)"], body: TokenRouteTests.login)
        }
        let uri = answer.body.firstMatch(of: /redirect_uri=([^&"]*)/).map { String($0.output.1) }
        return (uri?.removingPercentEncoding, answer.body)
    }

    @Test(
        "A browser comes back to the address that the service listens on, or to the one of its proxy",
        arguments: [nil, "https://crumb.example", "https://crumb.example:8443", "https://www.example/a/crumb"]
            as [String?])
    func defaultCallback(publicURL: String?) async throws {
        try await RunningServer.with(
            { $0.publicURL = publicURL.flatMap(PublicURL.init) }, transport: AuthorizationServer()
        ) {
            server in
            let (url, answer) = try await redirectURI(server)
            #expect(url == (publicURL ?? "http://127.0.0.1:\(server.port)") + "/v1/logins/callback", "\(answer)")
        }
    }

    @Test("The service accepts the name of its proxy and pages from there, and no others")
    func publicPages() async throws {
        try await RunningServer.with {
            $0.publicURL = PublicURL("https://crumb.example")
        } _: { server in
            let token = try server.token("t", [.read])
            try await RawConnection.with(port: server.port) { connection in
                let rows = [
                    ("crumb.example", "https://crumb.example", 200), ("crumb.example", "http://crumb.example", 200),
                    ("crumb.example", "https://evil.test", 403), ("evil.test", "https://crumb.example", 421),
                    ("crumb.example", "https://crumb.example:8443", 403), ("crumb.example", "null", 403),
                ]
                for (host, origin, status) in rows {
                    let answer = try await connection.ask(
                        "GET", "/v1/jars", ["Host": host, "Origin": origin, "Authorization": "Bearer \(token)"])
                    #expect(answer.status == status, "\(host) \(origin)")
                }
            }
        }
    }

    @Test(
        "A URL that cannot be a proxy's is rejected",
        arguments: [
            "http://crumb.example", "a.test", "ftp://a.test", "", "https://a.test/?q", "https://a.test/x//y",
            "https://a.test/a%20b", "https://a.test/v1", "https://a.test/jars/x", "https://a.test/sign-in",
            "https://a.test/\(String(repeating: "x", count: 200))",
        ])
    func noPublicURL(text: String) {
        #expect(PublicURL(text) == nil)
    }

    @Test("A provider's preset replaces an issuer or endpoints; explicit values take precedence")
    func preset() async throws {
        let fixture = try ServiceFixture()
        fixture.server.answer(
            "/.well-known/oauth-authorization-server/realms/r", 200,
            #"{"issuer":"https://id.test/realms/r","authorization_endpoint":"https://id.test/a","token_endpoint":"https://id.test/token","jwks_uri":"https://id.test/k"}"#
        )
        try await fixture.run { client in
            let github = try await client.send(
                .post, "/v1/logins", #"{"name":"hub","provider":"github","clientID":"c","scope":"gist"}"#)
            let url = try #require(github.object["authorizationURL"] as? String)
            #expect(url.hasPrefix("https://github.com/login/oauth/authorize?") && url.contains("scope=gist"))
            let keycloak = try await client.send(
                .post, "/v1/logins",
                #"{"name":"k","provider":"keycloak","providerHost":"id.test","providerTenant":"r","clientID":"c"}"#)
            let page = try #require(keycloak.object["authorizationURL"] as? String, "\(keycloak.text)")
            #expect(page.hasPrefix("https://id.test/a?") && page.contains("offline_access"))
            let bad: [(String, Int, String)] = [
                (#"{"name":"k","provider":"nobody","clientID":"c"}"#, 422, "token-settings-missing"),
                (#"{"name":"k","provider":"keycloak","clientID":"c"}"#, 422, "token-settings-missing"),
                (#"{"name":"k","providerHost":"h","clientID":"c"}"#, 400, "body-invalid"),
                (#"{"name":"k","clientKey":"k","clientSecret":"s","clientID":"c"}"#, 400, "body-invalid"),
                (#"{"name":"k","provider":"github","clientKey":"k","clientID":"c"}"#, 422, "token-settings-missing"),
            ]
            for (body, status, code) in bad {
                let answer = try await client.send(.post, "/v1/logins", body)
                #expect(answer.status == status && answer.code == code, "\(answer.text)")
            }
        }
    }

    @Test(
        "A client with a key signs assertions for the audience of the login", arguments: ["issuer", "token_endpoint"])
    func keyAudience(audience: String) async throws {
        let fixture = try ServiceFixture()
        let key = [
            "-----BEGIN PRIVATE KEY-----", "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgtCnk9IdqkTelQYji",
            "XUbAYMipfZMZYQRXzTO8JUWuO9ihRANCAARF6xWrKA0ULoOvU3Bus5OjgqGoYhrv",
            "kYYDGrofvzkK/nI4gQiEavTepKcKEIjhwxzqIU/y7yuk0mVLyWaVjNuE", "-----END PRIVATE KEY-----",
        ].joined(separator: #"\n"#)
        try await fixture.run { client in
            let answer = try await client.send(
                .post, "/v1/logins",
                #"{"name":"own","flow":"client-credentials","issuer":"https://id.test","endpoints":{"token_endpoint":"https://id.test/token"},"clientID":"c","clientKey":"\#(key)","keyID":"k1","keyAudience":"\#(audience)"}"#
            )
            #expect(answer.status == 201, "\(answer.text)")
            let settings = try fixture.database.tokens.credentials("own")?.settings
            #expect(settings?.authenticationMethod == .privateKeyJWT && settings?.keyID == "k1")
            #expect(settings?.assertionAudience?.rawValue == audience)
        }
    }

    @Test("A login with client credentials returns tokens at once")
    func clientCredentials() async throws {
        let answer = try await ServiceFixture().run { client in
            try await client.send(
                .post, "/v1/logins",
                #"{"name":"own","flow":"client-credentials","clientID":"c","clientSecret":"client-secret","endpoints":{"token_endpoint":"https://id.test/token"}}"#
            )
        }
        #expect(answer.status == 201 && answer.object["state"] as? String == "done", "\(answer.text)")
    }

    @Test("The number of pending logins is limited")
    func bounded() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            for _ in 0..<LoginRegistry.limit {
                _ = try await client.send(.post, "/v1/logins", #"{"name":"work","flow":"browser"}"#)
            }
            let answer = try await client.send(.post, "/v1/logins", #"{"name":"work","flow":"browser"}"#)
            #expect(answer.status == 429 && answer.code == "logins-exhausted")
        }
    }
}
