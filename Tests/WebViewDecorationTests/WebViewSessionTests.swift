import CookieModel
import RequestDecoration
import SessionStore
import Testing
import WebViewDecoration

@Suite("A web view and a jar") @MainActor
struct WebViewSessionTests {
    private let stub = WebViewStub()
    private static let page = "https://www.example.com/"

    private func session(
        _ jar: SessionJar, handler: String? = nil, _ policy: NavigationPolicy = NavigationPolicy()
    ) -> WebViewSession {
        WebViewSession(
            jar: jar.jar, store: stub, scripts: stub, host: stub, navigationPolicy: policy,
            captureHandler: handler.flatMap { MessageHandlerName($0) }, clock: { WebViewStub.now })
    }

    @Test("A page is loaded once the store has the session and the scripts are there")
    func load() async throws {
        let session = session(try SessionJar("sid=1; HttpOnly", "theme=2"), handler: "crumb")
        await session.load(try RequestURL(WebViewSessionTests.page))
        #expect(stub.events.sorted().prefix(1) == ["load https://www.example.com/ -"])
        #expect(Set(stub.events.prefix(2)) == ["put sid=1", "put theme=2"])
        #expect(stub.events.suffix(2) == ["scripts 2", "load https://www.example.com/ -"])
        #expect(stub.values == ["sid": "1", "theme": "2"])
        #expect(stub.scripts.map(\.world) == [.isolated, .page])
        #expect(!stub.scripts[0].source.contains("sid"))
    }

    @Test("With a gateway, stores and scripts do not change")
    func gateway() async throws {
        let session = session(try SessionJar("sid=1; HttpOnly", "theme=2"), handler: "crumb")
        session.gateway = WebViewGateway(port: 8080)
        await session.load(try RequestURL(WebViewSessionTests.page))
        #expect(try await session.synchronize().isEmpty)
        #expect(stub.cookies.isEmpty && stub.scripts.isEmpty)
        #expect(stub.events == ["load \(WebViewSessionTests.page) -"])
    }

    @Test("Changes of either side go to the other, and nothing goes round in circles")
    func synchronize() async throws {
        let jar = try SessionJar("a=1", "b=1", "c=1", "d=1")
        let session = session(jar)
        try await session.synchronize()
        #expect(try await session.synchronize().isEmpty)
        stub.set("a", "2")
        stub.set("b", nil)
        stub.set("e", "1", isHTTPOnly: true)
        try jar.set("c=2")
        try jar.set("d=1; Max-Age=0")
        try await session.synchronize()
        let expected = ["a": "2", "c": "2", "e": "1"]
        #expect(try jar.values == expected && stub.values == expected)
        #expect(try await session.synchronize().isEmpty)
        #expect(try jar.jar.cookies().readable.first { $0.name == "e" }?.isHTTPOnly == true)
    }

    @Test("A change in either store during a synchronization is not lost")
    func meanwhile() async throws {
        let jar = try SessionJar("a=1", "b=1")
        let session = session(jar)
        try await session.synchronize()
        try jar.set("a=2")
        var uses = 0
        stub.meanwhile = { [stub] in
            uses += 1
            // The store is looked into, a=2 is put, the store is looked into again.
            if uses == 2 { try? jar.set("b=2") }
            if uses == 3 { stub.set("c", "3") }
        }
        try await session.synchronize()
        stub.meanwhile = nil
        try await session.synchronize()
        #expect(uses == 3)
        let expected = ["a": "2", "b": "2", "c": "3"]
        #expect(try jar.values == expected && stub.values == expected)
    }

    @Test("A store that caps lifetimes does not cap the jar's")
    func capped() async throws {
        stub.latest = WebViewStub.now.advanced(bySeconds: 60)
        let jar = try SessionJar("a=1; Max-Age=6000")
        let session = session(jar)
        try await session.synchronize()
        #expect(try await session.synchronize().isEmpty)
        #expect(try jar.jar.cookies().readable.map(\.expiry) == [WebViewStub.now.advanced(bySeconds: 6000)])
    }

    @Test("A restart brings the session back into an empty store")
    func restart() async throws {
        let jar = try SessionJar("sid=1; HttpOnly", "theme=2")
        try await session(jar).synchronize()
        stub.cookies = [:]
        try await session(jar).synchronize()
        #expect(stub.values == ["sid": "1", "theme": "2"])
        #expect(try jar.values.count == 2)
    }

    @Test("A page that lacks cookies is loaded again with them, once; the store is then complete")
    func decorated() async throws {
        let session = session(try SessionJar("sid=1; HttpOnly"))
        let event = NavigationEvent.action(NavigationAction(url: WebViewSessionTests.page))
        let first = await session.decide(event)
        #expect(first.answer == .cancel && stub.events.isEmpty)
        await session.perform(first)
        #expect(stub.events == ["put sid=1", "scripts 0", "load https://www.example.com/ -"])
        let second = await session.decide(event)
        #expect(second.answer == .allow && second.reason == .ordinary)
    }

    @Test("A navigation for which the jar has nothing new goes on, also where the store knows more than the jar")
    func ordinary() async throws {
        let jar = try SessionJar("sid=1")
        let session = session(jar)
        try await session.synchronize()
        stub.set("sid", "2")
        stub.set("extra", "1")
        let event = NavigationEvent.action(NavigationAction(url: WebViewSessionTests.page))
        #expect(await session.decide(event).answer == .allow)
        try jar.set("other=1; Path=/elsewhere")
        #expect(await session.decide(event).answer == .allow)
        try jar.set("more=1")
        #expect(await session.decide(event).answer == .cancel)
    }

    @Test("Cookies that a page's scripts set are stored at once; a hint makes the session read the store")
    func messages() async throws {
        let jar = try SessionJar()
        let session = session(jar, handler: "crumb")
        let frame = ScriptFrame(url: try RequestURL(WebViewSessionTests.page))
        let url = #""crumb":"capture","url":"https://www.example.com/""#
        let decisions = try await session.receive(
            message: #"{\#(url),"kind":"cookie","line":"a=1"}"#, from: frame)
        #expect(decisions.map(\.outcome) == [.stored])
        #expect(try jar.values == ["a": "1"])
        stub.set("a", "1")
        stub.set("sid", "2", isHTTPOnly: true)
        try await session.receive(
            message:
                #"{\#(url),"kind":"response","through":"fetch","response":null,"method":"GET","status":200,"redirected":false}"#,
            from: frame)
        #expect(try jar.values == ["a": "1", "sid": "2"])
        await #expect(throws: ScriptMessageError.self) { try await session.receive(message: "{}", from: frame) }
    }

    @Test("Each step is done by the app")
    func steps() async throws {
        var policy = NavigationPolicy()
        policy.appSchemes = ["shopapp"]
        policy.reloadLimit = 1
        let session = session(try SessionJar(), policy)
        let events: [NavigationEvent] = [
            .action(NavigationAction(url: "tel:1")), .action(NavigationAction(url: "shopapp:x")),
            .newWindow(NavigationAction(url: WebViewSessionTests.page)),
            .response(NavigationResponse(url: WebViewSessionTests.page, status: 401)),
            .failed(NavigationFailure(phase: .provisional, domain: "NSURLErrorDomain", code: -1009)),
            .processTerminated, .processTerminated, .finished(url: WebViewSessionTests.page),
        ]
        for event in events { await session.perform(await session.decide(event)) }
        #expect(
            stub.events == [
                "system tel:1", "app shopapp:x", "scripts 0", "load https://www.example.com/ -",
                "fallback https://www.example.com/", "failure -1009", "reload", "failure 2",
            ])
    }
}
