import HTTPTypes
import OAuth2
import RequestDecoration
import SessionStore
import Testing
import WebPrimitives

@testable import SessionGateway

@Suite("Responses to requests with the token of a login")
struct LoginResponseTests {
    private let home: CachingGateway

    init() throws {
        home = try CachingGateway()
    }

    /// An endpoint that no one should ask, since the token is valid.
    private struct NoEndpoint: EndpointTransport {
        func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
            Issue.record("a token was requested")
            return EndpointResponse(status: .serviceUnavailable, body: [])
        }
    }

    /// Adds a token to the requests to a server.
    private func addLogin(at scope: String) throws {
        let jar = home.fixture.jar
        try jar.tokens.put(
            TokenSet(
                accessToken: Secret("valid"), refreshToken: Secret("refresh-r"), receivedAt: .now,
                accessTokenExpiry: Timestamp.now.advanced(bySeconds: 6000)),
            for: Profile(id: ProfileID(), name: "p"),
            credentials: ProfileCredentials(
                settings: ProfileSettings(grant: .imported, endpoints: [.token: "https://id.test/token"])),
            now: .now)
        try jar.setLoginRule(
            LoginRule(scope: scope, signs: LoginRule.Signs(), profile: "p", delivery: .authorization), named: "site")
        let fixture = home.fixture
        let refresher = TokenRefresher(
            store: jar.tokens, transport: NoEndpoint(), process: 1, now: { fixture.now })
        home.change = { setup in
            setup.fallback = { rules in
                LoginFallback(rules: rules, store: jar.tokens, refresher: refresher, transport: NoEndpoint())
            }
        }
    }

    @Test(
        "A response with Vary: Authorization is not stored, since the cache does not see the token",
        arguments: [
            ("X: 1", true), ("Vary: Accept", true), ("Vary: Authorization", false),
            ("Vary: Accept, authorization", false),
            ("Vary: X\r\nVary: AUTHORIZATION", false),
        ])
    func vary(fields: String, isStored: Bool) async throws {
        let server = try await RecordingServer.start { _ in
            Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nCache-Control: max-age=60\r\n\(fields)\r\n\r\nhello".utf8)
        }
        try addLogin(at: "http://127.0.0.1:\(server.port)/")
        let texts = try await home.responses(to: ["GET /", "GET /"], from: server)
        #expect(texts.allSatisfy { $0.hasSuffix("hello") }, "\(texts)")
        #expect(server.firstRequest.contains("\r\nAuthorization: Bearer valid\r\n"), "\(server.firstRequest)")
        #expect(texts[1].contains("; hit;") == isStored, "\(texts)")
        #expect(!texts.contains { $0.contains("Bearer") })
        // Without the login, no one gets what was stored for it.
        home.change = { _ in }
        let text = try await home.responses(to: ["GET /"], from: server)[0]
        #expect(text.contains("; fwd="), "\(text)")
    }
}
