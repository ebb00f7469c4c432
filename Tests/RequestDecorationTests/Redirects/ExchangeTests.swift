import CookieModel
import Dispatch
import Foundation
import HTTPTypes
import OAuth2
import RequestDecoration
import SessionStore
import Synchronization
import Testing

@Suite("Exchanges through redirects")
struct ExchangeTests {
    /// A web of pages: what each URL answers, and what it was asked.
    private final class Web {
        typealias Page = (status: Int, location: String?, setCookie: [Octets])

        let pages: [String: Page]
        private(set) var requests: [(url: String, request: HTTPRequest, keepsBody: Bool)] = []

        init(_ pages: [String: Page]) {
            self.pages = pages
        }

        func answer(_ request: HTTPRequest, _ chain: RedirectChain) throws -> (head: ResponseHead, payload: Int) {
            let url = try request.requestURL().description
            requests.append((url, request, chain.keepsBody))
            let page = pages[url] ?? (404, nil, [])
            return (
                ResponseHead(
                    status: page.status, location: page.location.map { Octets($0) }, setCookie: page.setCookie),
                requests.count
            )
        }

        func values(_ name: HTTPField.Name) -> [String?] { requests.map { $0.request.headerFields[name] } }
    }

    private func exchange(
        _ web: Web, _ request: HTTPRequest, _ decorator: RequestDecorator, in context: RequestContext? = nil
    ) async throws -> Exchange<Int> {
        try await decorator.exchange(
            request, in: try context ?? RequestContext(url: request.requestURL()), now: { DecorationFixture.now },
            transport: web.answer)
    }

    private func request(_ method: HTTPRequest.Method = .get, _ host: String = "a.test") -> HTTPRequest {
        HTTPRequest(method: method, scheme: "https", authority: host, path: "/1")
    }

    @Test("Each response is stored before the next request is decorated, and each request has its own cookies")
    func cookies() async throws {
        let web = Web([
            "https://a.test/1": (302, "/2", ["a=1; Path=/", "deep=1; Path=/deep"]),
            "https://a.test/2": (302, "https://b.test/3", ["a=2; Path=/", "s=1; Secure", "x=1; Domain=b.test"]),
            "https://b.test/3": (307, "http://a.test/deep/4", ["b=1"]),
            "http://a.test/deep/4": (303, "https://a.test/5", ["a=; Max-Age=0; Path=/"]),
            "https://a.test/5": (200, nil, ["end=1"]),
        ])
        let fixture = try DecorationFixture(["b=0; Path=/"], from: "https://b.test/")
        let exchange = try await exchange(web, request(), fixture.decorator())
        #expect(web.values(.cookie) == [nil, "a=1", "b=0", "deep=1; a=2", "s=1"])
        #expect(exchange.payload == 5 && exchange.head.status == 200 && exchange.url.description == "https://a.test/5")
        #expect(exchange.hops.map(\.status) == [302, 302, 307, 303, 200])
        #expect(exchange.hops.map(\.url.description) == web.requests.map(\.url))
        #expect(exchange.hops[1].receipt.decisions.map(\.outcome) == [.replaced, .stored, .rejected])
        #expect(exchange.hops[3].decoration.retrieval.excluded.map(\.reasons) == [[.secureOnly]])
        #expect(exchange.hops[4].receipt.decisions.map(\.outcome) == [.stored])
    }

    @Test("The cookies of a head whose body is missing are stored, and the client's error is thrown")
    func brokenResponse() async throws {
        let fixture = try DecorationFixture([])
        await #expect(throws: CocoaError.self) {
            try await fixture.decorator().exchange(
                request(), in: RequestContext(url: try request().requestURL()), now: { DecorationFixture.now }
            ) { _, _ -> (head: ResponseHead, payload: Int) in
                let head = ResponseHead(status: 200, setCookie: ["seen=1"])
                throw BrokenResponse(head, reason: CocoaError(.fileReadUnknown))
            }
        }
        #expect(try fixture.jar.cookies().readable.map(\.pair) == ["seen=1"])
    }

    @Test("Authorization never crosses an origin, the caller's nor a rule's")
    func authorization() async throws {
        let web = Web([
            "https://a.test/1": (307, "/2", []), "https://a.test/2": (307, "https://b.test/3", []),
            "https://b.test/3": (307, "https://a.test/4", []),
        ])
        var own = request()
        own.headerFields[.authorization] = "Bearer own"
        _ = try await exchange(web, own, try DecorationFixture().decorator())
        #expect(web.values(.authorization) == ["Bearer own", "Bearer own", nil, nil])

        let ruled = Web(web.pages)
        let rules = try ["https://a.test", "https://b.test"].map { origin in
            AuthorizationRule(scope: try URLScope(origin)) { _ in DecorationFixture.tokens(origin) }
        }
        let decorator = try DecorationFixture().decorator(DecorationSettings(authorization: rules))
        let exchange = try await exchange(ruled, request(), decorator)
        #expect(ruled.values(.authorization) == ["Bearer https://a.test", "Bearer https://a.test", nil, nil])
        #expect(
            exchange.hops.map { $0.decoration.fieldOmissions.map(\.reason) } == [
                [], [], [.crossOriginRedirect], [.crossOriginRedirect],
            ])
    }

    @Test("In a redirect chain, the caller's cookies are for the first origin, the jar's for each")
    func ownCookies() async throws {
        let web = Web([
            "https://a.test/1": (302, "/2", ["a=1"]), "https://a.test/2": (302, "https://b.test/3", []),
            "https://b.test/3": (302, "https://a.test/4", []),
        ])
        var own = request()
        own.headerFields[fields: .cookie] = [HTTPField(name: .cookie, value: "own=1; a=0")]
        _ = try await exchange(web, own, try DecorationFixture().decorator())
        #expect(web.values(.cookie) == ["own=1; a=0", "own=1; a=0", nil, "a=1"])
    }

    @Test("The transport learns whether to send the body again")
    func body() async throws {
        let web = Web([
            "https://a.test/1": (307, "/2", []), "https://a.test/2": (302, "/3", []),
            "https://a.test/3": (308, "/4", []),
        ])
        var post = request(.post)
        post.headerFields[.contentType] = "text/plain"
        _ = try await exchange(web, post, try DecorationFixture().decorator())
        #expect(web.requests.map(\.keepsBody) == [true, true, false, false])
        #expect(web.requests.map(\.request.method) == [.post, .post, .get, .get])
        #expect(web.values(.contentType) == ["text/plain", "text/plain", nil, nil])
    }

    @Test(
        "A request is same-site only if its whole redirect chain is, if the policy requires it",
        arguments: [false, true])
    func sameSite(considersChain: Bool) async throws {
        let web = Web([
            "https://a.test/1": (302, "https://b.test/2", []), "https://b.test/2": (302, "https://a.test/3", []),
        ])
        let fixture = try DecorationFixture(["strict=1; SameSite=Strict; Path=/"], from: "https://a.test/")
        var policy = CookiePolicy()
        policy.considersRedirectChain = considersChain
        let jar = try fixture.database.jar(named: "default", policy: policy, now: DecorationFixture.now)
        _ = try await exchange(web, request(), RequestDecorator(jar: jar))
        #expect(web.values(.cookie) == ["strict=1", nil, considersChain ? nil : "strict=1"])
    }

    @Test("A response that redirects to an app is returned to the caller, and its cookies are stored")
    func app() async throws {
        let web = Web(["https://a.test/1": (302, "com.example.app:/callback?code=1", ["a=1"])])
        let fixture = try DecorationFixture()
        let exchange = try await exchange(web, request(), fixture.decorator())
        #expect(exchange.head.status == 302 && exchange.head.location == "com.example.app:/callback?code=1")
        #expect(try fixture.jar.cookies().readable.count == 1)
    }

    @Test("A cancelled task stores the cookies of a response that has arrived, and makes no further request")
    func cancelled() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "exchange-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let keys = KeySource.key(SealingKey())
        func jar() throws -> CookieJar {
            try SessionDatabase(
                path: "\(folder)/crumb.sqlite", keys: keys, busyTimeout: 3600, now: DecorationFixture.now
            ).jar(now: DecorationFixture.now)
        }
        let (jar, other) = (try jar(), try jar())
        // Another connection holds the write lock.
        let mayEnd = DispatchSemaphore(value: 0)
        let context = try DecorationFixture.context("https://held.test/")
        await withCheckedContinuation { isHeld in
            Thread {
                _ = try? other.withBatch(now: DecorationFixture.now) { batch throws(SessionStoreError) in
                    _ = try batch.receive(
                        ReceivedResponse(context: context, setCookie: ["h=1"]), at: DecorationFixture.now)
                    isHeld.resume()
                    mayEnd.wait()
                }
            }.start()
        }
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let count = Mutex(0)
        let request = request()
        let task = Task {
            try await RequestDecorator(jar: jar).exchange(
                request, in: RequestContext(url: request.requestURL()), now: { DecorationFixture.now },
                transport: { _, _ in
                    count.withLock { $0 += 1 }
                    withUnsafeCurrentTask { $0?.cancel() }
                    arrival.yield()
                    return (ResponseHead(status: 302, location: "/2", setCookie: ["a=1; Path=/"]), 0)
                }
            ).payload
        }
        for await _ in arrivals { break }
        mayEnd.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(count.withLock { $0 } == 1)
        #expect(try jar.cookies().readable.map(\.name.description).sorted() == ["a", "h"])
    }

    @Test("Loops and endless redirects end with an error, and all responses are stored")
    func endless() async throws {
        let web = Web(["https://a.test/1": (302, "/1", ["a=1; Path=/"])])
        let fixture = try DecorationFixture()
        let error = await #expect(throws: RedirectError.self) {
            try await exchange(web, request(), fixture.decorator())
        }
        #expect(error?.code == .loop && web.requests.count == 21)
        #expect(try fixture.jar.cookies().readable.count == 1)
    }

    @Test("A redirect loop that waits for its cookie is followed to the end")
    func cookieCheck() async throws {
        let decorator = try DecorationFixture().decorator()
        let exchange = try await decorator.exchange(
            request(), in: try DecorationFixture.context("https://a.test/1"), now: { DecorationFixture.now }
        ) { request, _ in
            request.headerFields[.cookie] == "seen=1"
                ? (ResponseHead(status: 200), ())
                : (ResponseHead(status: 302, location: "/1", setCookie: ["seen=1"]), ())
        }
        #expect(exchange.hops.map(\.status) == [302, 200])
    }

    @Test("Redirect rules use the upper-case method, and the request is sent with its own")
    func methodCase() async throws {
        let web = Web(["https://a.test/1": (302, "/2", [])])
        let exchange = try await exchange(
            web, request(try #require(HTTPRequest.Method("post"))), try DecorationFixture().decorator())
        #expect(web.requests.map(\.request.method.rawValue) == ["post", "GET"])
        #expect(exchange.hops.map(\.method) == ["POST", "GET"])
    }
}
