import CookieModel
import HTTPTypes
import OAuth2
import OAuth2Login
import SessionStore
import Synchronization
import Testing

@testable import SessionService

@Suite("Ending tokens")
struct TokenRevokerTests {
    /// Ends tokens; somebody else renews them meanwhile, so many times.
    private final class RenewingServer: EndpointTransport {
        let store: TokenStore
        private let renewals: Mutex<Int>
        private let ended = Mutex<[String]>([])

        var endedTokens: [String] { ended.withLock { $0 } }

        init(_ store: TokenStore, renewals: Int) {
            self.store = store
            self.renewals = Mutex(renewals)
        }

        func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
            let body = String(decoding: request.exposedBody, as: UTF8.self)
            let token = body.split(separator: "&").first { $0.hasPrefix("token=") }.map { String($0.dropFirst(6)) }
            ended.withLock { $0.append(token ?? "") }
            let left = renewals.withLock { left in
                defer { left -= 1 }
                return left
            }
            if left > 0, let stored = try? store.get("work") {
                var tokens = stored.tokens
                tokens.refreshToken = Secret("refresh-\(left)")
                _ = try? store.put(tokens, for: stored.profile, now: ServiceFixture.now)
            }
            return EndpointResponse(status: .ok, fields: [:], body: [])
        }
    }

    @Test("Revoking a login also revokes a token that was renewed meanwhile")
    func renewed() async throws {
        let store = try ServiceFixture().database.tokens
        let server = RenewingServer(store, renewals: 1)
        let revoked = try await TokenRevoker(store, over: server, now: { ServiceFixture.now }).revoke("work")
        #expect(revoked == [.refreshToken, .accessToken])
        #expect(server.endedTokens == ["refresh-secret", "access-secret", "refresh-1", "access-secret"])
        #expect(try store.get("work").tokens.refreshToken == nil)
    }

    /// A server that gives each resource a token of its own, and notes which tokens were ended.
    private final class ResourceServer: EndpointTransport {
        let ended = Mutex<[String]>([])
        /// Whether it ends access tokens by themselves.
        let endsAccessTokens: Bool

        init(endsAccessTokens: Bool) {
            self.endsAccessTokens = endsAccessTokens
        }

        func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
            let form = String(decoding: request.exposedBody, as: UTF8.self).split(separator: "&")
            func item(_ name: String) -> String? {
                form.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
            }
            if request.endpoint.path == "/revoke" {
                let token = item("token") ?? ""
                guard endsAccessTokens || token.hasPrefix("refresh") else {
                    return EndpointResponse(
                        status: .badRequest, body: Array(#"{"error":"unsupported_token_type"}"#.utf8))
                }
                ended.withLock { $0.append(token) }
                return EndpointResponse(status: .ok, body: [])
            }
            let name = item("resource").map { String($0.suffix(1)) } ?? "own"
            let seconds = name == "c" ? 1 : 3600
            return EndpointResponse(
                status: .ok, body: Array(#"{"access_token":"for-\#(name)","expires_in":\#(seconds)}"#.utf8))
        }
    }

    @Test(
        "Revoking a login also revokes the tokens for single resources, unless they have expired",
        arguments: [true, false])
    func resources(endsAccessTokens: Bool) async throws {
        let store = try ServiceFixture().database.tokens
        let server = ResourceServer(endsAccessTokens: endsAccessTokens)
        let refresher = TokenRefresher(store: store, transport: server, process: 1, now: { ServiceFixture.now })
        for name in ["b", "a", "c"] {
            #expect(
                try await refresher.token("work", for: "https://api.test/\(name)").tokens.accessToken
                    == Secret("for-\(name)"))
        }
        let later = ServiceFixture.now.advanced(bySeconds: 60)
        let revoked = try await TokenRevoker(store, over: server, now: { later }).revoke("work")
        #expect(revoked == (endsAccessTokens ? [.refreshToken, .accessToken] : [.refreshToken]))
        let own = endsAccessTokens ? ["access-secret", "for-a", "for-b"] : []
        #expect(server.ended.withLock { $0 } == ["refresh-secret"] + own)
        #expect(try store.resourceAccessTokens(of: "work", now: later).isEmpty)
    }

    @Test("If others keep renewing, revoking a login reports it and keeps the newest token")
    func busy() async throws {
        let store = try ServiceFixture().database.tokens
        let server = RenewingServer(store, renewals: 100)
        let error = await #expect(throws: LoginError.self) {
            try await TokenRevoker(store, over: server, now: { ServiceFixture.now }).revoke("work")
        }
        #expect(error?.code.rawValue == "token-refresh-busy")
        #expect(try store.get("work").tokens.refreshToken != nil)
    }
}

@Suite("A second login under a name")
struct TokenLoginRequestTests {
    @Test("A second login under a name works like the first: issuer in redirects, pushed request, parameters")
    func again() async throws {
        let store = try ServiceFixture().database.tokens
        let server = AuthorizationServer()
        server.answer(
            "/.well-known/oauth-authorization-server", 200,
            #"""
            {"issuer":"https://id.test","authorization_endpoint":"https://id.test/authorize",
            "token_endpoint":"https://id.test/token","pushed_authorization_request_endpoint":"https://id.test/par",
            "authorization_response_iss_parameter_supported":true,"require_pushed_authorization_requests":true}
            """#)
        var first = TokenLoginRequest(name: "first")
        first.issuer = "https://id.test"
        first.clientID = "browser"
        first.parameters = [("access_type", "offline"), ("prompt", "consent")]
        let plan = try await first.plan(store, over: server)
        #expect(plan.metadata.sendsIssuer && plan.pushes)
        _ = try store.put(
            TokenSet(accessToken: Secret("a"), receivedAt: .epoch), for: Profile(id: plan.profile, name: "first"),
            credentials: plan.credentials, now: ServiceFixture.now)

        let again = try await TokenLoginRequest(name: "first").plan(store, over: server)
        #expect(again.metadata.sendsIssuer && again.pushes)
        #expect(again.parameters.map(\.name) == ["access_type", "prompt"])
        #expect(again.parameters.map(\.value) == ["offline", "consent"])
        #expect(server.paths == ["/.well-known/oauth-authorization-server"])

        var other = TokenLoginRequest(name: "first")
        other.endpoints = [.authorization: "https://other.test/a", .token: "https://other.test/t"]
        let elsewhere = try await other.plan(store, over: server)
        #expect(!elsewhere.metadata.sendsIssuer && !elsewhere.pushes && elsewhere.parameters.isEmpty)
    }
}
