import CookieModel
import Foundation
import OAuth2
import RequestDecoration
import SessionStore
import TestSupport
import Testing
import URLSessionDecoration

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("URLSession with a jar")
struct DecoratedURLSessionTests {
    private func session(
        _ jar: CookieJar, _ settings: DecorationSettings = DecorationSettings(),
        configuration: URLSessionConfiguration = .ephemeral
    ) -> DecoratedURLSession {
        DecoratedURLSession(
            decorator: RequestDecorator(jar: jar, settings: settings), configuration: configuration,
            now: { URLSessionFixture.now })
    }

    @Test("Five hops over three sites: cookies, method, body and Authorization of each")
    func chain() async throws {
        let chain = try CrossSiteChain()
        let jar = try URLSessionFixture().jar
        let exchange = try await session(jar).exchange(for: try URLSessionFixture.post(chain.url("a", "/1")))
        #expect(exchange.payload.data == Data("arrived".utf8) && exchange.url.description == chain.url("a", "/5"))
        #expect(chain.asked.count == CrossSiteChain.expected.count)
        for ((site, request), expected) in zip(chain.asked, CrossSiteChain.expected) {
            #expect(site == expected.site && "\(request.method) \(request.target)" == expected.line)
            #expect(request.text("cookie") == expected.cookie, "\(expected.line)")
            #expect(request.text("authorization") == expected.authorization, "\(expected.line)")
            #expect(String(decoding: request.body, as: UTF8.self) == expected.body)
            #expect(request.text("content-type") == (expected.body.isEmpty ? [] : ["text/plain"]))
        }
        #expect(exchange.hops.map(\.status) == [307, 307, 302, 303, 200])
        #expect(Set(try jar.cookies().readable.map(\.pair)) == ["a=2", "deep=1", "b=1", "c=1", "end=1"])
    }

    @Test("Octets that are UTF-8 are sent unchanged")
    func octets() async throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response(200, setCookie: ["utf8=\u{20AC}; Path=/"]) }
        let fixture = try URLSessionFixture(["u=\u{E9}\u{1F36A}", "tab=a\tb", "quoted=\"x y\"", "e="])
        let url = "http://127.0.0.1:\(server.port)/"
        for _ in 0..<2 { _ = try await session(fixture.jar).exchange(for: try URLSessionFixture.request(url)) }
        let cookies = "u=\u{E9}\u{1F36A}; tab=a\tb; quoted=\"x y\"; e="
        #expect(
            server.requests.map { $0.values("cookie") } == [
                [Array(cookies.utf8)], [Array("\(cookies); utf8=\u{20AC}".utf8)],
            ])
    }

    @Test("Cookies of the configuration's own storage neither go nor come")
    func storage() async throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response(200, setCookie: ["new=1"]) }
        let configuration = URLSessionConfiguration.ephemeral
        let cookie = try #require(
            HTTPCookie(properties: [.name: "platform", .value: "1", .domain: "127.0.0.1", .path: "/"]))
        configuration.httpCookieStorage?.setCookie(cookie)
        let fixture = try URLSessionFixture(["a=1"])
        _ = try await session(fixture.jar, configuration: configuration).exchange(
            for: try URLSessionFixture.request("http://127.0.0.1:\(server.port)/"))
        #expect(server.requests.map { $0.text("cookie") } == [["a=1"]])
        #expect(configuration.httpCookieStorage?.cookies?.map(\.name) == ["platform"])
    }

    @Test("A rule's credential goes to its origin, and stays behind at the next")
    func settings() async throws {
        let chain = try CrossSiteChain()
        let tokens = TokenSet(accessToken: Secret("t0ken"), receivedAt: .epoch)
        let settings = DecorationSettings(
            userAgent: "Crumb/1",
            authorization: try ["a", "b"].map { site in
                AuthorizationRule(scope: try URLScope(chain.url(site, "/"))) { _ in tokens }
            })
        var request = try URLSessionFixture.post(chain.url("a", "/1"))
        request.setValue(nil, forHTTPHeaderField: "Authorization")
        _ = try await session(try URLSessionFixture().jar, settings).exchange(for: request)
        #expect(
            chain.asked.map { $0.request.text("authorization") } == [["Bearer t0ken"], ["Bearer t0ken"], [], [], []])
        #expect(chain.asked.allSatisfy { $0.request.text("user-agent") == ["Crumb/1"] })
    }

    @Test("Additional fields of the configuration are those of the request: credentials go only to its origin")
    func additionalFields() async throws {
        let chain = try CrossSiteChain()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["Authorization": "Bearer own", "X-App": "1"]
        var request = try URLSessionFixture.post(chain.url("a", "/1"))
        request.setValue(nil, forHTTPHeaderField: "Authorization")
        _ = try await session(try URLSessionFixture().jar, configuration: configuration).exchange(for: request)
        #expect(chain.asked.map { $0.request.text("authorization") } == CrossSiteChain.expected.map(\.authorization))
        #expect(chain.asked.allSatisfy { $0.request.text("x-app") == ["1"] })
    }

    @Test("A body from a stream fails when it is required again, and cookies set before are stored")
    func stream() async throws {
        let chain = try CrossSiteChain()
        let jar = try URLSessionFixture().jar
        var request = try URLSessionFixture.post(chain.url("a", "/1"))
        request.httpBodyStream = InputStream(data: Data("payload".utf8))
        let streamed = request
        let error = await #expect(throws: RedirectError.self) { try await session(jar).exchange(for: streamed) }
        #expect(error?.code == .bodyNotRepeatable && chain.asked.count == 1)
        #expect(try jar.cookies().readable.map(\.pair).contains("a=1"))
    }

    @Test("Loops end with an error, redirects to an app are the caller's")
    func ends() async throws {
        let chain = try CrossSiteChain()
        let jar = try URLSessionFixture().jar
        let error = await #expect(throws: RedirectError.self) {
            try await session(jar).exchange(for: try URLSessionFixture.request(chain.url("a", "/loop")))
        }
        #expect(error?.code == .loop && chain.asked.count == 21)
        #expect(chain.asked.last?.request.text("cookie") == ["looped=1"])
        let app = try await session(jar).exchange(for: try URLSessionFixture.request(chain.url("b", "/app")))
        #expect(app.head.status == 302 && app.head.location == "com.example.app:/callback?code=1")
        #expect(app.payload.data == Data("body\n".utf8))
        #expect(Set(try jar.cookies().readable.map(\.pair)) == ["looped=1", "app=1"])
    }

    /// A site that knows who has the cookie or the token.
    private static func site(_ request: LoopbackServer.Request, says status: Int) -> LoopbackServer.Response {
        let isSignedIn =
            request.text("cookie").contains { $0.contains("session=fresh") }
            || request.text("authorization") == ["Bearer fresh"]
        if request.target == "/login" { return LoopbackServer.Response(body: "log in") }
        guard !isSignedIn else { return LoopbackServer.Response(201, body: "in") }
        var response = LoopbackServer.Response(
            status, setCookie: ["seen=1"], location: status == 302 ? "/login" : nil, body: "out")
        if status == 401 {
            response.fields.append(("WWW-Authenticate", Array("Custom x=\"a, b\", Bearer".utf8)))
        }
        return response
    }

    @Test(
        "A request comes back signed in after one fallback, method and body included",
        arguments: [(302, false), (401, true), (401, false)])
    func fallback(status: Int, isCookie: Bool) async throws {
        let server = try LoopbackServer { Self.site($0, says: status) }
        let fixture = try URLSessionFixture()
        let url = "http://127.0.0.1:\(server.port)/"
        let template = try CookieTemplate("session={access_token}; Path=/; HttpOnly")
        let fallback = try fixture.fallback(
            isCookie ? .cookie(template) : .authorization, at: url, redirects: ["/login"])
        var request = try URLSessionFixture.post(url + "orders")
        request.setValue(nil, forHTTPHeaderField: "Authorization")
        let exchange = try await session(fixture.jar).exchange(for: request, fallback: fallback)
        #expect(exchange.head.status == 201 && exchange.payload.data == Data("in".utf8))
        // A token that goes into the Authorization field is there from the first request on.
        let count = isCookie ? 2 : 1
        #expect(exchange.hops.map(\.status) == [status, 201].suffix(count))
        let requests = server.requests.map { "\($0.method) \($0.target)" }
        #expect(requests == Array(repeating: "POST /orders", count: count))
        #expect(server.requests.map(\.body) == Array(repeating: Array("payload".utf8), count: count))
        #expect(try fixture.jar.cookies().readable.contains { $0.name == "seen" } == isCookie)
        // With the cookie in the jar, or the token in the field, nothing more is asked for; never in a loop.
        #expect(server.requests.last?.text("authorization") == (isCookie ? [] : ["Bearer fresh"]))
    }

    @Test("A site that rejects every token is asked once before a login is required; a streamed body is sent once")
    func fallbackOnce() async throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response(401) }
        let fixture = try URLSessionFixture()
        let url = "http://127.0.0.1:\(server.port)/"
        let fallback = try fixture.fallback(.authorization, at: url)
        let error = await #expect(throws: LoginFallbackError.self) {
            try await session(fixture.jar).exchange(for: try URLSessionFixture.request(url), fallback: fallback)
        }
        #expect(error?.code == .loginRequired && server.requests.count == 1)
        var request = try URLSessionFixture.post(url)
        request.setValue(nil, forHTTPHeaderField: "Authorization")
        request.httpBodyStream = InputStream(data: Data("payload".utf8))
        let streamed = try await session(fixture.jar).exchange(for: request, fallback: fallback)
        #expect(streamed.head.status == 401 && server.requests.count == 2)
    }

    @Test("A server's nonce is answered with a new proof, body included")
    func nonce() async throws {
        let server = try LoopbackServer { request in
            let isFirst = request.target == "/first"
            var response = LoopbackServer.Response(isFirst ? 401 : 200)
            if isFirst {
                response.fields.append(("WWW-Authenticate", Array("DPoP error=\"use_dpop_nonce\"".utf8)))
                response.fields.append(("DPoP-Nonce", Array("n1".utf8)))
            }
            return response
        }
        let tokens = TokenSet(accessToken: Secret("t0ken"), tokenType: .dpop, receivedAt: .epoch)
        let key = SigningKey()
        let url = "http://127.0.0.1:\(server.port)/"
        let settings = DecorationSettings(
            authorization: [
                AuthorizationRule(within: try URLScope(url)) { _ in AccessCredential(tokens, proofKey: key) }
            ])
        var request = try URLSessionFixture.post(url + "first")
        request.setValue(nil, forHTTPHeaderField: "Authorization")
        let exchange = try await session(try URLSessionFixture().jar, settings).exchange(for: request)
        #expect(exchange.hops.map(\.status) == [401, 401] && server.requests.count == 2)
        #expect(server.requests.allSatisfy { $0.text("authorization") == ["DPoP t0ken"] && $0.body.count == 7 })
        let proofs = server.requests.flatMap { $0.text("dpop") }
        #expect(proofs.count == 2 && proofs[0].utf8.count < proofs[1].utf8.count)
    }
}
