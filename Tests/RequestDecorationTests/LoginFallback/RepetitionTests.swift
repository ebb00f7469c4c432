import CookieModel
import HTTPTypes
import OAuth2
import SessionStore
import Synchronization
import Testing

@testable import RequestDecoration

/// The table "Requests that are not repeated" in `docs/login-fallback.md`.
@Suite("Requests that are sent once more, and those that are not")
struct RepetitionTests {
    private static let now = DecorationFixture.now
    private static let denied: Octets = "auth.example; error=http_request_denied; details=\"not signed in, yet\""

    private let jar: CookieJar
    private let endpoint = TokenEndpoint()

    init() throws {
        jar = try DecorationFixture().jar
        try jar.tokens.put(
            TokenSet(
                accessToken: Secret("old"), refreshToken: Secret("refresh-r"), receivedAt: Self.now,
                accessTokenExpiry: Self.now.advanced(bySeconds: 600)),
            for: Profile(id: ProfileID(), name: "p"),
            credentials: ProfileCredentials(
                settings: ProfileSettings(grant: .imported, endpoints: [.token: "https://id.test/token"])),
            now: Self.now)
    }

    /// A token endpoint that answers each refresh with the same token.
    private final class TokenEndpoint: EndpointTransport {
        let token = Mutex("renewed")

        func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
            let token = token.withLock { $0 }
            return EndpointResponse(
                status: .ok, body: Array(#"{"access_token":"\#(token)","expires_in":600}"#.utf8))
        }
    }

    private static func rule(_ delivery: LoginRule.Delivery) throws -> LoginRule {
        try LoginRule(
            scope: "https://app.test/",
            signs: LoginRule.Signs(statuses: [200, 302, 401, 403, 419, 500], redirects: ["/login"]), profile: "p",
            delivery: delivery)
    }

    private func refresher() -> TokenRefresher {
        TokenRefresher(store: jar.tokens, transport: endpoint, process: 1, now: { Self.now })
    }

    private func fallback(_ rule: LoginRule, _ refresher: TokenRefresher? = nil) -> LoginFallback {
        LoginFallback(
            rules: [rule], store: jar.tokens, refresher: refresher ?? self.refresher(), transport: endpoint)
    }

    private static let cookie = "session={access_token}; Path=/; Secure"

    /// Methods, a response that says "not signed in", and whether the request is sent once more.
    private static let rows: [(methods: [String], head: ResponseHead, isRepeated: Bool)] = [
        (["GET", "HEAD", "OPTIONS"], ResponseHead(status: 302, location: "/login"), true),
        (["GET", "HEAD", "OPTIONS"], ResponseHead(status: 419), true),
        (["GET", "HEAD", "OPTIONS"], ResponseHead(status: 200), true),
        (["POST", "PUT", "DELETE", "PATCH"], ResponseHead(status: 401), true),
        (["POST", "PUT", "DELETE", "PATCH"], ResponseHead(status: 403), true),
        (["POST", "PUT"], ResponseHead(status: 302, location: "/login", proxyStatus: [denied]), true),
        (["POST"], ResponseHead(status: 500, proxyStatus: ["a;error=proxy_internal_response, cdn"]), true),
        (["POST", "PUT", "DELETE", "PATCH"], ResponseHead(status: 302, location: "/login"), false),
        (["POST"], ResponseHead(status: 301, location: "/login"), false),
        (["POST"], ResponseHead(status: 303, location: "/login"), false),
        (["POST"], ResponseHead(status: 307, location: "/login"), false),
        (["POST", "PUT", "DELETE", "PATCH", "get"], ResponseHead(status: 419), false),
        (["POST"], ResponseHead(status: 200), false), (["POST"], ResponseHead(status: 500), false),
        (["POST"], ResponseHead(status: 500, proxyStatus: ["a;error=connection_terminated"]), false),
        (["POST"], ResponseHead(status: 500, proxyStatus: ["a;error=http_request_denied;received-status=500"]), false),
        (["POST"], ResponseHead(status: 500, proxyStatus: [denied, "b;error=http_response_timeout"]), false),
        (["POST"], ResponseHead(status: 500, proxyStatus: ["a;details=\"x;error=http_request_denied\""]), false),
        (["POST"], ResponseHead(status: 500, proxyStatus: ["a;error", ""]), false),
    ]

    @Test("A request is sent once more if its method is safe, or the site has certainly not acted on it")
    func rule() throws {
        let fallback = fallback(try Self.rule(.authorization))
        for (index, row) in Self.rows.enumerated() {
            for method in row.methods {
                var context = try DecorationFixture.context("https://app.test/order")
                context.method = method
                let challenge = try #require(fallback.challenge(in: row.head, from: context.url), "row \(index)")
                let refusal = challenge.repetitionRefusal(of: context)
                #expect(refusal == (row.isRepeated ? nil : .mayHaveActed), "\(method), row \(index)")
                // A body that can be sent only once goes with no repetition.
                #expect(challenge.repetitionRefusal(of: context, isBodyRepeatable: false) != nil)
            }
        }
    }

    /// The requests that reach a site until an exchange is over, and its result.
    private func exchange(
        _ method: HTTPRequest.Method, _ delivery: LoginRule.Delivery, isBodyRepeatable: Bool = true,
        refresher: TokenRefresher? = nil, site: (HTTPRequest) -> ResponseHead
    ) async throws -> (requests: [String], exchange: Exchange<Void>) {
        let request = HTTPRequest(method: method, scheme: "https", authority: "app.test", path: "/order")
        var requests: [String] = []
        let exchange = try await RequestDecorator(jar: jar).exchange(
            request, in: RequestContext(url: try request.requestURL()), isBodyRepeatable: isBodyRepeatable,
            fallback: fallback(try Self.rule(delivery), refresher), now: { Self.now }
        ) { request, _ in
            requests.append("\(request.method.rawValue) \(request.path ?? "")")
            return (site(request), ())
        }
        return (requests, exchange)
    }

    @Test("An order that the site answers with its login page is sent once, and the session is renewed all the same")
    func order() async throws {
        let template = try CookieTemplate(Self.cookie)
        let (requests, exchange) = try await exchange(.post, .cookie(template)) { request in
            guard request.method == .post else {
                let isSignedIn = request.headerFields[.cookie]?.contains("session=old") == true
                return ResponseHead(status: isSignedIn ? 204 : 401)
            }
            return ResponseHead(status: 302, location: "/login")
        }
        #expect(requests == ["POST /order", "GET /login"])
        #expect(exchange.head.status == 204 && exchange.repetitionRefusal == .mayHaveActed)
    }

    @Test("An order that the site rejects is sent once more, unless its body can be sent only once")
    func refusedOrder() async throws {
        let template = try CookieTemplate(Self.cookie)
        let site = { (request: HTTPRequest) in
            let isSignedIn = request.headerFields[.cookie]?.contains("session=old") == true
            return ResponseHead(status: isSignedIn ? 204 : 401)
        }
        let once = try await exchange(.post, .cookie(template), isBodyRepeatable: false, site: site)
        #expect(once.requests == ["POST /order"] && once.exchange.head.status == 401)
        #expect(once.exchange.repetitionRefusal == .bodyNotRepeatable)
        let next = try await exchange(.post, .cookie(template), isBodyRepeatable: false, site: site)
        #expect(next.exchange.head.status == 204 && next.exchange.repetitionRefusal == nil)
        _ = try jar.removeCookies(CookieFilter(), now: Self.now)
        let twice = try await exchange(.post, .cookie(template), site: site)
        #expect(twice.requests == ["POST /order", "POST /order"] && twice.exchange.head.status == 204)
    }

    @Test("A token that the site has just rejected is not sent again if a refresh returns it, or is not due yet")
    func rejectedToken() async throws {
        let shown = Mutex<[String]>([])
        let site = { (request: HTTPRequest) in
            shown.withLock { $0.append(request.headerFields[.authorization] ?? "") }
            return ResponseHead(status: 401, authenticate: ["Bearer error=\"invalid_token\""])
        }
        endpoint.token.withLock { $0 = "old" }
        await #expect(throws: LoginFallbackError.self) { try await exchange(.get, .authorization, site: site) }
        #expect(shown.withLock { $0 } == ["Bearer old"])
        endpoint.token.withLock { $0 = "renewed" }
        let refresher = refresher()
        _ = try await refresher.renewed("p", insteadOf: Secret("old"))
        shown.withLock { $0 = [] }
        await #expect(throws: LoginFallbackError.self) {
            try await exchange(.get, .authorization, refresher: refresher, site: site)
        }
        #expect(shown.withLock { $0 } == ["Bearer renewed"])
    }
}
