import CookieModel
import Foundation
import HTTPTypes
import OAuth2
import SessionOperations
import SessionStore
import Testing

@testable import SessionService

/// How a login in a browser ends at the service: once, with a page that tells the end.
@Suite("The end of a login in a browser", .timeLimit(.minutes(10)))
struct LoginCallbackTests {
    private static let passphrase = #"{"passphrase":"correct horse"}"#

    /// A browser login that has begun: its identifier, and the URL that the browser comes back to.
    private func begin(_ client: ServiceClient) async throws -> (id: String, callback: String) {
        let begun = try await client.send(.post, "/v1/logins", #"{"name":"work","flow":"browser"}"#)
        let url = URLComponents(string: try #require(begun.object["authorizationURL"] as? String))
        let state = try #require(url?.queryItems?.first { $0.name == "state" }?.value)
        return (try #require(begun.object["id"] as? String), "/v1/logins/callback?code=c&state=\(state)")
    }

    @Test("The page after a rejected login names it, with markup and control characters as text")
    func refusal() async throws {
        let fixture = try ServiceFixture()
        let body = #"{"error":"invalid_grant","error_description":"<b>used\u001b[2J</b> & gone"}"#
        fixture.server.answer("/token", 400, body)
        try await fixture.run { client in
            let (id, callback) = try await begin(client)
            let page = try await client.send(.get, callback)
            #expect(page.status == 400 && page.text.contains("The login failed"), "\(page.text)")
            #expect(page.text.contains("invalid_grant") && !page.text.contains("<b>"), "\(page.text)")
            #expect(!page.text.unicodeScalars.contains { $0.value == 0x1B })
            #expect(page.fields[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
            #expect(try await client.send(.get, "/v1/logins/\(id)").object["state"] as? String == "failed")
        }
    }

    @Test("A locked service exchanges no code; the same page ends the login after it is unlocked")
    func locked() async throws {
        let fixture = try ServiceFixture()
        try await fixture.run { client in
            let (id, callback) = try await begin(client)
            #expect(try await client.send(.post, "/v1/agent/lock", Self.passphrase).status == 200)
            let refused = try await client.send(.get, callback)
            #expect(refused.status == 423 && refused.mediaType == "text/html", "\(refused.text)")
            #expect(refused.text.contains("crumb token agent unlock"))
            #expect(try APIDocument().faults(of: refused, to: "GET /v1/logins/callback") == [])
            #expect(fixture.server.paths.isEmpty)
            #expect(try fixture.database.tokens.get("work").tokens.accessToken == Secret("access-secret"))
            #expect(try await client.send(.get, "/v1/logins/callback?code=c&state=x").status == 400)
            #expect(try await client.send(.post, "/v1/agent/unlock", Self.passphrase).status == 200)
            #expect(try await client.send(.get, "/v1/logins/\(id)").object["state"] as? String == "pending")
            let done = try await client.send(.get, callback)
            #expect(done.status == 200 && done.text.contains("You are logged in"), "\(done.text)")
        }
    }

    @Test("A service that is locked during the exchange revokes the tokens and stores none")
    func lockedMeanwhile() async throws {
        let server = SlowServer()
        let fixture = try ServiceFixture(transport: server)
        try await fixture.run { client in
            let (id, callback) = try await begin(client)
            async let page = client.send(.get, callback)
            await server.awaitRequest()
            #expect(try await client.send(.post, "/v1/agent/lock", Self.passphrase).status == 200)
            server.open()
            let answer = try await page
            #expect(answer.status == 400 && answer.text.contains("locked"), "\(answer.text)")
            #expect(server.paths == ["/token", "/revoke", "/revoke"])
            #expect(try fixture.database.tokens.get("work").tokens.accessToken == Secret("access-secret"))
            #expect(try await client.send(.get, "/v1/logins/\(id)").object["state"] as? String == "failed")
        }
    }

    @Test("Logins without a browser that end while the service is locked are revoked and not stored")
    func lockedOthers() async throws {
        let client =
            #""clientID":"m","endpoints":{"token_endpoint":"https://id.test/token","#
            + #""device_authorization_endpoint":"https://id.test/device","revocation_endpoint":"https://id.test/revoke"}"#
        for flow in ["device", "client-credentials"] {
            let server = SlowServer()
            let fixture = try ServiceFixture(transport: server)
            let request = #"{"name":"machine","flow":"\#(flow)",\#(client)}"#
            try await fixture.run { client in
                async let begun = client.send(.post, "/v1/logins", request)
                await server.awaitRequest()
                #expect(try await client.send(.post, "/v1/agent/lock", Self.passphrase).status == 200)
                server.open()
                let answer = try await begun
                if flow == "device" {
                    let id = try #require(answer.object["id"] as? String)
                    var login = answer.object
                    while login["state"] as? String == "pending" {
                        try Task.checkCancellation()
                        login = try await client.send(.get, "/v1/logins/\(id)").object
                    }
                    #expect((login["problem"] as? [String: Any])?["code"] as? String == "agent-locked", "\(login)")
                } else {
                    #expect(answer.status == 423 && answer.code == "agent-locked", "\(answer.text)")
                }
                #expect(server.paths.suffix(3) == ["/token", "/revoke", "/revoke"])
                #expect(throws: SessionStoreError.self) { try fixture.database.tokens.get("machine") }
            }
        }
    }

    @Test("A browser that loads the page again during the exchange waits for the same end; the code is exchanged once")
    func reload() async throws {
        let server = SlowServer()
        let clock = SteppingClock()
        let fixture = try ServiceFixture(transport: server, clock: clock)
        try await fixture.run { client in
            let (id, callback) = try await begin(client)
            async let page = client.send(.get, callback)
            await server.awaitRequest()
            #expect(try await client.send(.get, "\(callback)&more=1").status == 400)
            async let again = client.send(.get, callback)
            await clock.awaitWait()
            #expect(try await client.send(.get, "/v1/logins/\(id)").object["state"] as? String == "pending")
            server.open()
            #expect(try await page.status == 200)
            #expect(try await again.status == 200)
            #expect(try await client.send(.get, callback).status == 400)
            #expect(server.paths == ["/token"])
        }
    }

    @Test("A login that is cancelled during the exchange revokes the tokens and stores none")
    func cancelled() async throws {
        let server = SlowServer()
        let fixture = try ServiceFixture(transport: server)
        try await fixture.run { client in
            let (id, callback) = try await begin(client)
            async let page = client.send(.get, callback)
            await server.awaitRequest()
            #expect(try await client.send(.delete, "/v1/logins/\(id)").status == 204)
            server.open()
            let answer = try await page
            #expect(answer.status == 400 && answer.text.contains("cancelled"), "\(answer.text)")
            #expect(server.paths == ["/token", "/revoke", "/revoke"])
            #expect(try fixture.database.tokens.get("work").tokens.accessToken == Secret("access-secret"))
        }
    }
}
