import AsyncHTTPClient
import AsyncHTTPClientDecoration
import CookieModel
import HTTPTypes
import NIOCore
import NIOHTTP1
import OAuth2
import RequestDecoration
import SessionStore
import TestSupport
import Testing

@Suite("AsyncHTTPClient with a jar")
struct AsyncHTTPClientTests {
    private static let now = Timestamp(seconds: 1_800_000_000)

    private func jar(_ lines: [Octets] = [], from url: String = "http://127.0.0.1/") throws -> CookieJar {
        let database = try SessionDatabase(
            path: "", keys: .key(SealingKey()), durability: .memory, now: AsyncHTTPClientTests.now)
        let jar = try database.jar(now: AsyncHTTPClientTests.now)
        try jar.receive(
            ReceivedResponse(context: RequestContext(url: try RequestURL(url)), setCookie: lines),
            now: AsyncHTTPClientTests.now)
        return jar
    }

    @Test("A response's Proxy-Status fields are read")
    func proxyStatus() {
        let response = HTTPClientResponse(status: .found, headers: ["Proxy-Status": "a; error=http_request_denied"])
        #expect(ResponseHead(response).proxyStatus == ["a; error=http_request_denied"])
    }

    private func withClient<Result>(
        redirects: HTTPClient.Configuration.RedirectConfiguration = .disallow, names: [String: String] = [:],
        _ body: (HTTPClient) async throws -> Result
    ) async throws -> Result {
        var configuration = HTTPClient.Configuration(redirectConfiguration: redirects)
        configuration.dnsOverride = names
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let result = try await body(client)
            try await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    private func exchange(
        _ client: HTTPClient, _ request: HTTPClientRequest, _ decorator: RequestDecorator,
        in context: RequestContext? = nil, isBodyRepeatable: Bool = true
    ) async throws -> Exchange<HTTPClientResponse> {
        try await client.exchange(
            request, by: decorator, in: context, timeout: .seconds(600), isBodyRepeatable: isBodyRepeatable
        ) { AsyncHTTPClientTests.now }
    }

    private func post(_ url: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.body = .bytes(ByteBuffer(string: "payload"))
        request.headers.add(name: "Content-Type", value: "text/plain")
        request.headers.add(name: "Authorization", value: "Bearer own")
        return request
    }

    @Test("Five hops over three sites: cookies, method, body and Authorization of each")
    func chain() async throws {
        let chain = try CrossSiteChain()
        let jar = try jar()
        let (exchange, body) = try await withClient { client in
            let answer = try await self.exchange(client, post(chain.url("a", "/1")), RequestDecorator(jar: jar))
            return (answer, String(buffer: try await answer.payload.body.collect(upTo: 100)))
        }
        #expect(body == "arrived" && exchange.url.description == chain.url("a", "/5"))
        #expect(chain.asked.count == CrossSiteChain.expected.count)
        for ((site, request), expected) in zip(chain.asked, CrossSiteChain.expected) {
            #expect(site == expected.site && "\(request.method) \(request.target)" == expected.line)
            #expect(request.text("cookie") == expected.cookie, "\(expected.line)")
            #expect(request.text("authorization") == expected.authorization, "\(expected.line)")
            #expect(String(decoding: request.body, as: UTF8.self) == expected.body)
            #expect(request.text("content-type") == (expected.body.isEmpty ? [] : ["text/plain"]))
            #expect(request.text("content-length") == (expected.body.isEmpty ? [] : ["7"]))
        }
        #expect(exchange.hops.map(\.status) == [307, 307, 302, 303, 200])
        #expect(Set(try jar.cookies().readable.map(\.pair)) == ["a=2", "deep=1", "b=1", "c=1", "end=1"])
    }

    @Test("Cookies of a domain go between its hosts, and to no other site")
    func domains() async throws {
        let server = try LoopbackServer { request in
            let host = request.text("host").first?.split(separator: ":") ?? []
            switch (host.first, request.target) {
            case ("www.shop.example", "/1"):
                return LoopbackServer.Response(
                    302, setCookie: ["all=1; Domain=shop.example; Path=/", "own=1; Path=/"],
                    location: "//id.shop.example:\(host[1])/2")
            case ("id.shop.example", "/2"):
                return LoopbackServer.Response(302, location: "//evil.example:\(host[1])/3")
            default:
                return LoopbackServer.Response()
            }
        }
        let jar = try jar()
        try await withClient(
            names: ["www.shop.example": "127.0.0.1", "id.shop.example": "127.0.0.1", "evil.example": "127.0.0.1"]
        ) { client in
            _ = try await exchange(
                client, HTTPClientRequest(url: "http://www.shop.example:\(server.port)/1"), RequestDecorator(jar: jar))
        }
        #expect(server.requests.map { $0.text("cookie") } == [[], ["all=1"], []])
    }

    @Test("UTF-8 octets are sent unchanged; other cookies are omitted and reported")
    func octets() async throws {
        let server = try LoopbackServer { _ in
            var response = LoopbackServer.Response(200, setCookie: ["utf8=\u{20AC}", "joined=1, b=2"])
            response.fields.append(("Set-Cookie", Array("latin1=".utf8) + [0xE9]))
            return response
        }
        let latin1 = Octets(Array("latin1=".utf8) + [0xE9])
        let jar = try jar(["u=\u{E9}\u{FFFD}\u{1F36A}", latin1, "tab=a\tb", "quoted=\"x y\""])
        let exchange = try await withClient { client in
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(server.port)/")
            request.headers.add(name: "cookie", value: "own=\u{E9}")
            request.headers.add(name: "Cookie", value: "more=1")
            return try await self.exchange(client, request, RequestDecorator(jar: jar))
        }
        #expect(
            server.requests.first?.values("cookie") == [
                Array("own=\u{E9}; more=1; u=\u{E9}\u{FFFD}\u{1F36A}; tab=a\tb; quoted=\"x y\"".utf8)
            ])
        let hop = try #require(exchange.hops.first)
        #expect(hop.decoration.cookieOmissions.map(\.cookie.pair) == [latin1])
        #expect(hop.decoration.cookieOmissions.map(\.reason) == [.octetsNotCarried])
        #expect(hop.receipt.decisions.map(\.name) == ["utf8", "joined"])
        #expect(hop.receipt.decisions[1].cookie?.value == "1, b=2")
        #expect(hop.receipt.doubts == [SetCookieDoubt(.octetsReplaced, line: 2)])
    }

    @Test("A rule's credential goes to its origin; fields go too")
    func settings() async throws {
        let chain = try CrossSiteChain()
        let tokens = TokenSet(accessToken: Secret("t0ken"), receivedAt: .epoch)
        let settings = DecorationSettings(
            userAgent: "Crumb/1",
            authorization: try ["a", "b"].map { site in
                AuthorizationRule(scope: try URLScope(chain.url(site, "/"))) { _ in tokens }
            })
        var request = post(chain.url("a", "/1"))
        request.headers.remove(name: "Authorization")
        let jar = try jar()
        _ = try await withClient { client in
            try await exchange(client, request, RequestDecorator(jar: jar, settings: settings))
        }
        #expect(
            chain.asked.map { $0.request.text("authorization") } == [["Bearer t0ken"], ["Bearer t0ken"], [], [], []])
        #expect(chain.asked.allSatisfy { $0.request.text("user-agent") == ["Crumb/1"] })
    }

    @Test("A body that can be sent only once fails when it is needed again")
    func bodyOnce() async throws {
        let chain = try CrossSiteChain()
        let jar = try jar()
        let error = await #expect(throws: RedirectError.self) {
            try await withClient { client in
                try await exchange(
                    client, post(chain.url("a", "/1")), RequestDecorator(jar: jar), isBodyRepeatable: false)
            }
        }
        #expect(error?.code == .bodyNotRepeatable && chain.asked.count == 1)
        #expect(try jar.cookies().readable.map(\.pair).contains("a=1"))
    }

    @Test("A client that follows redirects itself is refused")
    func clientRedirects() async throws {
        let chain = try CrossSiteChain()
        let jar = try jar()
        await #expect(throws: ClientRedirectsError()) {
            try await withClient(redirects: .follow(max: 5, allowCycles: false)) { client in
                try await exchange(
                    client, HTTPClientRequest(url: chain.url("c", "/4")), RequestDecorator(jar: jar))
            }
        }
        #expect(try jar.cookies().readable.isEmpty)
    }

    @Test("Loops end with an error, redirects to an app are the caller's")
    func ends() async throws {
        let chain = try CrossSiteChain()
        let jar = try jar()
        let error = await #expect(throws: RedirectError.self) {
            try await withClient { client in
                try await exchange(client, HTTPClientRequest(url: chain.url("a", "/loop")), RequestDecorator(jar: jar))
            }
        }
        #expect(error?.code == .loop && chain.asked.count == 21)
        #expect(chain.asked.last?.request.text("cookie") == ["looped=1"])
        let app = try await withClient { client in
            try await exchange(client, HTTPClientRequest(url: chain.url("b", "/app")), RequestDecorator(jar: jar))
        }
        #expect(app.head.status == 302 && app.head.location == "com.example.app:/callback?code=1")
    }

    @Test("A fallback presents a bound token and answers the nonce; a body that goes once is not sent again")
    func boundFallback() async throws {
        let server = try LoopbackServer { request in
            var response = LoopbackServer.Response(request.text("dpop").isEmpty || request.target == "/a" ? 401 : 200)
            let error = request.text("dpop").isEmpty ? "" : " error=\"use_dpop_nonce\""
            response.fields.append(("WWW-Authenticate", Array("DPoP\(error)".utf8)))
            response.fields.append(("DPoP-Nonce", Array("n1".utf8)))
            return response
        }
        let jar = try jar()
        let url = "http://127.0.0.1:\(server.port)/"
        try jar.tokens.put(
            TokenSet(accessToken: Secret("t0ken"), tokenType: .dpop, receivedAt: .epoch),
            for: Profile(id: ProfileID(), name: "p"),
            credentials: ProfileCredentials(
                settings: ProfileSettings(grant: .imported, endpoints: [:]), proofKey: SigningKey().secret),
            now: AsyncHTTPClientTests.now)
        let refresher = TokenRefresher(
            store: jar.tokens, transport: NoServer(), process: 1, now: { AsyncHTTPClientTests.now })
        let fallback = LoginFallback(
            rules: [try LoginRule(scope: url, profile: "p", delivery: .authorization)], store: jar.tokens,
            refresher: refresher, transport: NoServer())
        var request = post(url + "a")
        request.headers.remove(name: "Authorization")
        try await withClient { client in
            func exchange(isBodyRepeatable: Bool) async throws -> Int {
                try await client.exchange(
                    request, by: RequestDecorator(jar: jar), timeout: .seconds(600), isBodyRepeatable: isBodyRepeatable,
                    fallback: fallback
                ) { AsyncHTTPClientTests.now }.head.status
            }
            // The site refuses the token with a proof too, and nothing renews it.
            let error = await #expect(throws: LoginFallbackError.self) { try await exchange(isBodyRepeatable: true) }
            #expect(error?.code == .loginRequired && server.requests.count == 2)
            let status = try await exchange(isBodyRepeatable: false)
            #expect(status == 401 && server.requests.count == 3)
        }
        #expect(server.requests.map { $0.text("dpop").count } == [1, 1, 1])
        #expect(server.requests.allSatisfy { String(decoding: $0.body, as: UTF8.self) == "payload" })
    }

    private struct NoServer: EndpointTransport {
        func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
            EndpointResponse(status: .internalServerError, body: [])
        }
    }
}
