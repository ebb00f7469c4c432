import CookieModel
import Foundation
import HTTPTypes
import OAuth2
import SessionStore
import Testing

@testable import SessionService

/// Logins that begin at one service over a database on a server, and are continued at another one.
@Suite(
    "Logins that services share",
    .enabled(if: SharedDatabase.server != nil, "CRUMB_TEST_POSTGRESQL names no server"), .timeLimit(.minutes(10)))
struct SharedLoginTests {
    private static let body = #"{"name":"work","flow":"browser"}"#

    private let shared: SharedDatabase

    init() throws {
        shared = try SharedDatabase()
        try ServiceFixture.fill(try shared.open())
    }

    /// Runs two services, of which `body` gets the clients and the logins of the first one.
    private func run(
        _ server: any EndpointTransport, _ clock: SteppingClock = SteppingClock(),
        _ body: @Sendable @escaping (ServiceClient, ServiceClient, LoginRegistry) async throws -> Void
    ) async throws {
        func service() throws -> ServiceFixture {
            ServiceFixture(over: try shared.open(), transport: server, clock: clock) { clock.time }
        }
        let (first, second) = (try service(), try service())
        try await first.run { one in
            try await second.run { other in try await body(one, other, first.api.logins) }
        }
    }

    /// Begins a login in a browser.
    private func begin(_ client: ServiceClient) async throws -> (id: String, callback: String, state: String) {
        let begun = try await client.send(.post, "/v1/logins", Self.body)
        let url = URLComponents(string: try #require(begun.object["authorizationURL"] as? String, "\(begun.text)"))
        let state = try #require(url?.queryItems?.first { $0.name == "state" }?.value)
        return (try #require(begun.object["id"] as? String), "/v1/logins/callback?code=c&state=\(state)", state)
    }

    private func state(_ client: ServiceClient, _ id: String) async throws -> String? {
        let answer = try await client.send(.get, "/v1/logins/\(id)")
        return answer.object["state"] as? String ?? answer.code
    }

    private func accessToken() throws -> Secret { try shared.open().tokens.get("work").tokens.accessToken }

    @Test(
        "A shared login is completed by another service, to which the browser comes back",
        arguments: ["callback", "redirect"])
    func continued(way: String) async throws {
        let server = SlowServer()
        server.open()
        try await run(server) { one, other, _ in
            let (id, callback, _) = try await begin(one)
            #expect(try await state(other, id) == "pending")
            #expect(try await other.send(.get, "\(callback)x").status == 400)
            func end() async throws -> ServiceAnswer {
                way == "callback"
                    ? try await other.send(.get, callback)
                    : try await other.send(.post, "/v1/logins/\(id)/redirect", #"{"url":"\#(callback)"}"#)
            }
            let ended = try await end()
            #expect(ended.status == 200, "\(ended.text)")
            for client in [one, other] { #expect(try await state(client, id) == "done") }
            #expect(try await end().status >= 400)
            #expect(server.paths == ["/token"])
        }
        #expect(try accessToken() == Secret("access-2"))
    }

    @Test("The code of a shared login is redeemed once, and every service waits for the same result")
    func once() async throws {
        let server = SlowServer()
        let clock = SteppingClock()
        try await run(server, clock) { one, other, _ in
            let (id, callback, _) = try await begin(one)
            async let first = one.send(.get, callback)
            async let second = other.send(.get, callback)
            await server.awaitRequest()
            // One of the two waits for the other one.
            await clock.awaitWait()
            #expect(try await other.send(.get, "\(callback)&more=1").status == 400)
            #expect(try await state(other, id) == "pending")
            server.open()
            #expect(try await (first.status, second.status) == (200, 200))
            #expect(server.paths == ["/token"])
        }
    }

    @Test("A service that stops during the exchange leaves a failed login, and its code is not redeemed again")
    func stopped() async throws {
        let server = SlowServer()
        server.open()
        let clock = SteppingClock(passes: true)
        try await run(server, clock) { one, other, logins in
            let (id, callback, _) = try await begin(one)
            guard case .taken(let attempt) = try logins.take(id, with: callback, now: clock.time) else {
                throw CancellationError()
            }
            #expect(try await state(other, id) == "pending")
            // It waits until the attempt has taken too long.
            let page = try await other.send(.get, callback)
            #expect(page.status == 400 && page.text.contains("may have been used"), "\(page.text)")
            let report = try await one.send(.get, "/v1/logins/\(id)")
            #expect(report.object["state"] as? String == "failed")
            #expect((report.object["problem"] as? [String: Any])?["code"] as? String == "login-failed")
            #expect(throws: ServiceFailure.self) { try logins.confirm(id, attempt, now: clock.time) }
            #expect(server.paths.isEmpty)
        }
    }

    @Test("A login is cancelled by another service, before the browser comes back or during the exchange")
    func cancelled() async throws {
        let server = SlowServer()
        try await run(server) { one, other, _ in
            let before = try await begin(one)
            #expect(try await other.send(.delete, "/v1/logins/\(before.id)").status == 204)
            #expect(try await one.send(.get, before.callback).status == 400 && server.paths.isEmpty)
            let during = try await begin(one)
            async let page = one.send(.get, during.callback)
            await server.awaitRequest()
            #expect(try await other.send(.delete, "/v1/logins/\(during.id)").status == 204)
            server.open()
            let answer = try await page
            #expect(answer.status == 400 && answer.text.contains("cancelled"), "\(answer.text)")
            #expect(server.paths == ["/token", "/revoke", "/revoke"])
            #expect(try await other.send(.delete, "/v1/logins/\(during.id)").code == "login-not-found")
        }
        #expect(try accessToken() == Secret("access-secret"))
    }

    @Test("A login on another device is reported and cancelled by another service")
    func device() async throws {
        let server = SlowServer(answer: (.badRequest, #"{"error":"authorization_pending"}"#))
        try await run(server) { one, other, _ in
            let begun = try await one.send(.post, "/v1/logins", #"{"name":"work","flow":"device"}"#)
            let id = try #require(begun.object["id"] as? String, "\(begun.text)")
            await server.awaitRequest()
            #expect(try await state(other, id) == "pending")
            #expect(try await other.send(.delete, "/v1/logins/\(id)").status == 204)
            server.open()
            // The next question would come long before that.
            for _ in 0..<50 { #expect(try await state(one, id) == "login-not-found") }
            #expect(server.paths == ["/device", "/token"])
        }
    }

    @Test(
        "A login on another device is completed for every service; a cancelled one stores nothing",
        arguments: [false, true])
    func confirmed(isCancelled: Bool) async throws {
        let server = SlowServer()
        try await run(server) { one, other, _ in
            let begun = try await one.send(.post, "/v1/logins", #"{"name":"work","flow":"device"}"#)
            let id = try #require(begun.object["id"] as? String, "\(begun.text)")
            await server.awaitRequest()
            if isCancelled { #expect(try await other.send(.delete, "/v1/logins/\(id)").status == 204) }
            server.open()
            if isCancelled {
                while server.paths.count < 4 { try await Task.sleep(for: .milliseconds(1)) }
                #expect(server.paths == ["/device", "/token", "/revoke", "/revoke"])
            } else {
                while try await state(other, id) == "pending" { try Task.checkCancellation() }
                #expect(try await state(other, id) == "done")
            }
        }
        #expect(try accessToken() == Secret(isCancelled ? "access-secret" : "access-2"))
    }

    @Test("A login expires for every service")
    func expired() async throws {
        let clock = SteppingClock()
        try await run(SlowServer(), clock) { one, other, _ in
            let (id, callback, _) = try await begin(one)
            clock.advance(by: .seconds(LoginRegistry.lifetime + 1))
            #expect(try await state(other, id) == "login-not-found")
            #expect(try await other.send(.get, callback).status == 400)
            #expect(try await other.send(.delete, "/v1/logins/\(id)").status == 404)
        }
    }

    @Test("All services together have a limited number of logins")
    func bounded() async throws {
        let clock = SteppingClock()
        try await run(SlowServer(), clock) { one, other, logins in
            _ = try logins.begin("work", .none, now: clock.time)
            _ = try shared.values(
                """
                INSERT INTO crumb.pending_login (id, content, expires_at) SELECT id || n, content, expires_at
                FROM crumb.pending_login, generate_series(3, \(LoginRegistry.sharedLimit)) AS n RETURNING id
                """)
            #expect(try await other.send(.post, "/v1/logins", Self.body).status == 201)
            for client in [one, other] {
                let answer = try await client.send(.post, "/v1/logins", Self.body)
                #expect(answer.status == 429 && answer.code == "logins-exhausted")
            }
            clock.advance(by: .seconds(LoginRegistry.lifetime + 1))
            #expect(try await other.send(.post, "/v1/logins", Self.body).status == 201)
        }
    }

    @Test("The row of a shared login reveals nothing of it, and no other row can replace it")
    func sealed() async throws {
        let server = SlowServer()
        server.open()
        try await run(server) { one, other, _ in
            let first = try await begin(one)
            let second = try await begin(one)
            let names = try shared.values(
                "SELECT column_name FROM information_schema.columns WHERE table_name = 'pending_login'")
            #expect(names.count == 4)
            for name in names.map({ String(decoding: $0, as: UTF8.self) }) {
                let values = try shared.values("SELECT \(name) FROM crumb.pending_login")
                #expect(values.count == 2)
                for secret in [first.state, second.state, "client-secret", "work", "id.test", "stage"] {
                    #expect(!values.contains { $0.firstRange(of: Array(secret.utf8)) != nil }, "\(name): \(secret)")
                }
            }
            // The second login in the place of the first.
            _ = try shared.values(
                """
                UPDATE crumb.pending_login SET content = (
                    SELECT content FROM crumb.pending_login WHERE id = '\(second.id)') WHERE id = '\(first.id)'
                """)
            #expect(try await other.send(.get, first.callback).status == 400)
            #expect(try await state(other, first.id) == "login-not-found")
            // Another lifetime.
            _ = try shared.values(
                "UPDATE crumb.pending_login SET expires_at = expires_at + 1 WHERE id = '\(second.id)'")
            #expect(try await other.send(.get, second.callback).status == 400)
            #expect(server.paths.isEmpty)
        }
    }
}
