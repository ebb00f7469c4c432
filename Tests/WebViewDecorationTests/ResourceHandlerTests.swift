import CookieModel
import HTTPTypes
import RequestDecoration
import Synchronization
import TestSupport
import Testing
import WebViewDecoration

/// A server for a scheme handler, which remembers what it was asked.
private final class SourceStub: ResourceSource {
    private let recorded = Mutex<[(request: HTTPRequest, context: RequestContext)]>([])
    private let fields: HTTPFields
    private let redirects: [String]
    private let waits: Bool

    init(_ fields: HTTPFields = [:], redirects: [String] = [], waits: Bool = false) {
        self.fields = fields
        self.redirects = redirects
        self.waits = waits
    }

    var requests: [(request: HTTPRequest, context: RequestContext)] { recorded.withLock { $0 } }

    func resource(for request: HTTPRequest, in context: RequestContext) async throws -> ResourceResponse {
        recorded.withLock { $0.append((request, context)) }
        if waits { try await Task.sleep(for: .seconds(3600)) }
        return ResourceResponse(
            HTTPResponse(status: .ok, headerFields: fields),
            from: [context.url] + (try redirects.map { try RequestURL($0) }), body: Array("body".utf8))
    }
}

@Suite("Scheme handlers")
struct ResourceHandlerTests {
    private static let page = "https://www.example.com/cart?id=1"
    private let scheme = ResourceScheme()

    private func handler(_ source: SourceStub) throws -> ResourceHandler {
        ResourceHandler(ResourceScript(scheme, for: [try RequestURL(Self.page)]), from: source)
    }

    private func request(
        _ url: String, method: String = "GET", _ fields: HTTPFields = [:], page: String? = page
    ) throws -> ResourceRequest {
        ResourceRequest(
            url: scheme.prefix + url, method: method, fields: fields, page: try page.map { try RequestURL($0) })
    }

    private func refusal(_ request: ResourceRequest) async throws -> ResourceRefusal.Code? {
        let source = SourceStub()
        do {
            _ = try await handler(source).response(to: request)
            return nil
        } catch let refusal as ResourceRefusal {
            #expect(source.requests.isEmpty)
            return refusal.code
        }
    }

    private func field(_ name: String) throws -> HTTPField.Name { try #require(HTTPField.Name(name)) }

    @Test("The server gets the page's request, with the page as its context")
    func forward() async throws {
        let source = SourceStub()
        let response = try await handler(source).response(
            to: try request(
                "https://www.example.com/a.js?x=%20",
                [.origin: "https://www.example.com", .accept: "*/*", .cookie: "a=1"]))
        let (sent, context) = try #require(source.requests.first)
        #expect(sent.scheme == "https" && sent.authority == "www.example.com" && sent.path == "/a.js?x=%20")
        #expect(sent.headerFields[.accept] == "*/*" && sent.headerFields[.referer] == Self.page)
        #expect(sent.headerFields[.origin] == nil && sent.headerFields[.cookie] == nil)
        #expect(context.url.description == "https://www.example.com/a.js?x=%20")
        #expect(context.topLevel?.description == Self.page && !context.isTopLevelNavigation)
        var body: [UInt8] = []
        for try await piece in response.body { body += piece }
        #expect(body == Array("body".utf8))
    }

    @Test("A response of the page's origin is shared with the page, whatever the server's own fields for that are")
    func shared() async throws {
        let policy = try field("Cross-Origin-Resource-Policy")
        let source = SourceStub([
            .accessControlAllowOrigin: "https://other.example", policy: "same-origin", .eTag: "\"1\"",
            .setCookie: "sid=1", .contentType: "text/plain",
        ])
        let fields = try await handler(source).response(to: try request("https://www.example.com/a")).head.headerFields
        #expect(fields[values: .accessControlAllowOrigin] == ["https://www.example.com"])
        #expect(fields[.accessControlAllowCredentials] == "true" && fields[policy] == "cross-origin")
        #expect(fields[.accessControlExposeHeaders]?.contains("etag") == true)
        #expect(fields[.eTag] == "\"1\"" && fields[.setCookie] == nil)
        #expect(fields[.contentSecurityPolicy] == "sandbox")
    }

    @Test("A response of another origin can be shown, and never be read")
    func opaque() async throws {
        let policy = try field("Cross-Origin-Resource-Policy")
        let source = SourceStub([.accessControlAllowOrigin: "*", policy: "same-origin"])
        let response = try await handler(source).response(to: try request("https://cdn.example/a.png"))
        #expect(response.head.headerFields[.accessControlAllowOrigin] == nil)
        #expect(response.head.headerFields[policy] == "same-origin")
        #expect(source.requests.first?.request.headerFields[.referer] == "https://www.example.com/")
    }

    @Test(
        "A response is shared only if each of its redirects is of the page's origin",
        arguments: [
            (["https://www.example.com/b"], true), (["https://victim.example/account"], false),
            (["https://victim.example/a", "https://www.example.com/b"], false),
            (["https://www.example.com:81/"], false),
        ] as [([String], Bool)])
    func redirects(urls: [String], isShared: Bool) async throws {
        let handler = try handler(SourceStub([.accessControlAllowOrigin: "*"], redirects: urls))
        let own = "https://www.example.com/a"
        let fields = try await handler.response(to: try request(own)).head.headerFields
        #expect(fields[.accessControlAllowOrigin] == (isShared ? "https://www.example.com" : nil))
        let code: ResourceRefusal.Code?
        do {
            _ = try await handler.response(to: try request(own, [.origin: "https://www.example.com"]))
            code = nil
        } catch let refusal as ResourceRefusal {
            code = refusal.code
        }
        #expect(code == (isShared ? nil : .crossOrigin))
    }

    @Test("A redirect to http is refused on a page over https")
    func insecureRedirect() async throws {
        let handler = try handler(SourceStub(redirects: ["http://cdn.example/b", "https://cdn.example/b"]))
        let error = await #expect(throws: ResourceRefusal.self) {
            _ = try await handler.response(to: try request("https://cdn.example/a.png"))
        }
        #expect(error?.code == .insecure)
    }

    @Test("Whoever is not a page of the script, or asks for more, is refused")
    func refusals() async throws {
        let own = "https://www.example.com/a"
        #expect(try await refusal(try request(own)) == nil)
        #expect(try await refusal(ResourceRequest(url: own, page: try RequestURL(Self.page))) == .url)
        #expect(try await refusal(try request("https://user@www.example.com/a")) == .url)
        #expect(try await refusal(try request(own, page: nil)) == .page)
        for page in ["http://www.example.com/", "https://www.example.com:8443/", "https://evil.example/"] {
            #expect(try await refusal(try request(own, page: page)) == .page)
        }
        // A frame of another origin, or a sandboxed one.
        #expect(try await refusal(try request(own, [.origin: "https://evil.example"])) == .page)
        #expect(try await refusal(try request(own, [.origin: "null"])) == .page)
        let cross = try request("https://api.example.com/a", [.origin: "https://www.example.com"])
        #expect(try await refusal(cross) == .crossOrigin)
        let document = HTTPFields([HTTPField(name: try field("Upgrade-Insecure-Requests"), value: "1")])
        #expect(try await refusal(try request(own, document)) == .document)
        #expect(try await refusal(try request("http://www.example.com/a")) == .insecure)
        #expect(try await refusal(try request(own, method: "POST")) == .method)
        #expect(try await refusal(try request("https://cdn.example/", method: "OPTIONS")) == .method)
    }

    @Test("The script's question whether requests are allowed is answered without the server")
    func options() async throws {
        let source = SourceStub()
        let response = try await handler(source).response(
            to: try request(
                "https://www.example.com/", method: "OPTIONS", [.accessControlRequestHeaders: "x-custom"]))
        #expect(response.head.status == .noContent && source.requests.isEmpty)
        #expect(response.head.headerFields[.accessControlAllowOrigin] == "https://www.example.com")
        #expect(response.head.headerFields[.accessControlAllowMethods] == "GET, HEAD")
        #expect(response.head.headerFields[.accessControlAllowHeaders] == "x-custom")
    }

    @Test("A request that the engine cancels is cancelled")
    func cancel() async throws {
        let source = SourceStub(waits: true)
        let handler = try handler(source)
        let request = try request("https://www.example.com/a")
        let task = Task { try await handler.response(to: request) }
        try await task.wait { !source.requests.isEmpty }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }
}

@Suite("A web view with resources from a scheme handler") @MainActor
struct ResourceSessionTests {
    @Test("The session installs the script in the page's own world, and none with a gateway")
    func install() async throws {
        let stub = WebViewStub()
        let session = WebViewSession(
            jar: try SessionJar().jar, store: stub, scripts: stub, host: stub, clock: { WebViewStub.now })
        let page = try RequestURL("https://www.example.com/")
        let resources = ResourceScript(ResourceScheme(), for: [page])
        session.resources = resources
        await session.load(page)
        #expect(stub.scripts == [DocumentStartScript(source: resources.source, world: .page)])
        session.gateway = WebViewGateway(port: 8080)
        stub.scripts = []
        await session.load(page)
        #expect(stub.scripts.isEmpty)
    }
}
