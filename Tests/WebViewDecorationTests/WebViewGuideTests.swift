import CookieModel
import Foundation
import HTTPTypes
import OAuth2
import RequestDecoration
import SessionStore
import TestSupport
import Testing
import WebViewDecoration

@Suite("The examples in docs/web-views.md") @MainActor
struct WebViewGuideTests {
    private let now = WebViewStub.now
    private let stub = WebViewStub()

    private func put(_ cookie: NativeCookie) { stub.cookies[cookie.id] = cookie }
    private func setProxy(_ url: String) { stub.events.append("proxy \(url)") }
    private func install(_ source: String) { stub.events.append("install") }
    private func load(_ url: RequestURL, _ cookie: Octets?) { stub.events.append("load \(url)") }
    private func print(_ text: Any) { stub.events.append("\(text)") }

    private func jar() throws -> CookieJar {
        let jar = try SessionJar().jar
        let context = RequestContext(url: try RequestURL("https://www.shop.example/"))
        try jar.receive(ReceivedResponse(context: context, setCookie: ["sid=1; HttpOnly", "theme=2"]), now: now)
        return jar
    }

    private func session(of jar: CookieJar) -> WebViewSession {
        WebViewSession(jar: jar, store: stub, scripts: stub, host: stub, clock: { WebViewStub.now })
    }

    @Test("After a restart")
    func plan() async throws {
        let jar = try jar()
        let native: [NativeCookie] = []
        let request = RequestContext(url: try RequestURL("https://www.shop.example/cart"))
        let plan = try await jar.webViewPlan(for: request, native: native)
        for step in plan.steps {
            switch step {
            case .useGateway(let gateway): setProxy(gateway.proxyURL)
            case .putIntoStore(let cookies): for cookie in cookies { put(cookie) }
            case .installScript(let script): install(script.source)
            case .useSchemes(let script): install(script.source)
            case .load(let url, let cookie): load(url, cookie)
            case .verify(let cookies): print("expected afterwards: \(cookies.map(\.name))")
            }
        }
        #expect(stub.values == ["sid": "1", "theme": "2"])
        #expect(stub.events.prefix(2) == ["install", "load https://www.shop.example/cart"] && stub.events.count == 3)
    }

    @Test("All requests through a gateway")
    func gateway() throws {
        let authority = (certificatePEM: "-----BEGIN CERTIFICATE-----", key: "")
        let gateway = WebViewGateway(port: 8080, authority: authority.certificatePEM)
        let plan = WebViewPlan(for: try RequestURL("https://www.shop.example/cart"), through: gateway)
        #expect(plan.steps.count == 2 && gateway.proxyURL == "http://127.0.0.1:8080")
        guard case .useGateway(gateway) = plan.steps[0], case .load(_, nil) = plan.steps[1] else {
            throw CancellationError()
        }
    }

    @Test("A gateway with users")
    func gatewayUser() throws {
        let secret = Secret("crumb_opensesame")
        var gateway = WebViewGateway(port: 8080)
        gateway.credentials = WebViewGateway.Credentials(user: "ada", secret: secret)
        #expect(gateway.credentials?.secret == secret && gateway.proxyURL == "http://127.0.0.1:8080")
    }

    @Test("Resources through a scheme handler")
    func resources() async throws {
        struct Client: ResourceSource {
            func resource(for request: HTTPRequest, in context: RequestContext) async throws -> ResourceResponse {
                ResourceResponse(HTTPResponse(status: .ok), from: [context.url])
            }
        }
        let (jar, client, native) = (try jar(), Client(), [NativeCookie]())
        let request = RequestContext(url: try RequestURL("https://www.shop.example/cart"))
        let session = session(of: jar)
        let scheme = ResourceScheme()
        let plan = try await jar.webViewPlan(for: request, native: native)
            .usingSchemes(scheme, kinds: .insecure)
        guard let resources = plan.resources else { return }
        let handler = ResourceHandler(resources, from: client)
        session.resources = resources
        #expect(handler.script.scheme.names == scheme.names && resources.isFor(request.url))
        guard case .useSchemes = plan.steps.first else { throw CancellationError() }
    }

    @Test("Capturing changes of pages")
    func capture() async throws {
        let jar = try jar()
        let body = #"{"crumb":"capture","kind":"cookie","url":"https://www.shop.example/a/b","line":"x=1"}"#
        let (origin, page): (RequestURL, RequestURL?) = (try RequestURL("https://www.shop.example/"), nil)
        let message = try CaptureMessage(body)
        let frame = ScriptFrame(url: origin, topLevel: page)
        if let response = message.received(in: frame) { try await jar.receive(response) }
        if message.asksForStore { print("look into the native store") }
        #expect(try jar.cookies().readable.contains { $0.name == "x" && $0.path == "/a" } && stub.events.isEmpty)
    }

    @Test("Both stores brought together")
    func diff() async throws {
        let jar = try jar()
        put(NativeCookie(name: "new", value: "3", domain: "www.shop.example"))
        let session = session(of: jar)
        for action in try await session.synchronize() {
            switch action.change {
            case .putIntoNative(let cookie), .removeFromNative(let cookie): print("\(cookie.name) in the native store")
            case .takeIntoJar, .removeFromJar: print("\(action.winner): \(action.reason.rawValue)")
            }
        }
        #expect(stub.values == ["sid": "1", "theme": "2", "new": "3"])
        #expect(stub.events.filter { !$0.hasPrefix("put ") && !$0.hasSuffix("store") } == ["native: only-in-native"])
        #expect(try jar.cookies().readable.count == 3)
    }

    @Test("Navigations")
    func navigation() async throws {
        let session = session(of: try jar())
        session.navigationPolicy.appSchemes = ["shopapp"]
        let decision = await session.decide(.action(NavigationAction(url: "tel:112")))
        print(decision.steps.map(\.kind.rawValue))
        #expect(stub.events == [#"["cancel", "hand-to-system"]"#])
    }

    @Test("WKWebView")
    func session() async throws {
        let jar = try jar()
        let (store, scripts, app) = (stub, stub, stub)
        let session = WebViewSession(
            jar: jar, store: store, scripts: scripts, host: app, captureHandler: MessageHandlerName("crumb"))
        await session.load(try RequestURL("https://www.shop.example/cart"))
        #expect(stub.events.last == "load https://www.shop.example/cart -" && stub.scripts.count == 2)
    }

    @Test("They are the code above, and so are the tables")
    func areCompiled() throws {
        let file = URL(filePath: #filePath).resolvingSymlinksInPath()
        let source = try String(contentsOf: file, encoding: .utf8)
        let guide = try String(
            contentsOf: Repository.root.appending(path: "docs/web-views.md"), encoding: .utf8)
        let blocks = guide.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(blocks.count == 8)
        let type = try String(
            contentsOf: Repository.root.appending(path: "Sources/WebViewDecoration/WebViewSession.swift"),
            encoding: .utf8)
        let comment = (blocks.last ?? "").split(separator: "\n").map { "/// \($0)\n" }.joined()
        #expect(type.contains("/// ```swift\n\(comment)/// ```\n"))
        for block in blocks {
            let indented = block.split(separator: "\n").map { "        \($0)\n" }.joined()
            #expect(source.contains(indented), "not in the test: \(block)")
        }
        for state in InjectionReport.State.allCases { #expect(guide.contains("\n| \(state.rawValue) | "), "\(state)") }
        for writing in InjectionScript.Writing.allCases { #expect(guide.contains("\n| `\(writing.rawValue)` | ")) }
        for obstacle in NativeCookie.Obstacle.allCases { #expect(guide.contains("\n| \(obstacle.rawValue) | ")) }
        let reasons = guide.components(separatedBy: "\n| ").flatMap { row in
            (row.components(separatedBy: " | ").first ?? "").components(separatedBy: ", ")
        }
        for reason in StoreDiff.Reason.allCases { #expect(reasons.contains(reason.rawValue), "\(reason)") }
    }
}
