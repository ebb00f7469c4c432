import CookieModel
import Foundation
import HTTPTypes
import OAuth2
import RequestDecoration
import SessionClient
import SessionStore
import Testing

@Suite("Exchanges with a jar of the service")
struct ClientExchangeTests {
    private static func request(
        _ method: HTTPRequest.Method = .get, _ host: String = "a.test", _ path: String = "/1"
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "https", authority: host, path: path)
    }

    @Test("A request gets the cookies that a response has set, and the request's own take precedence")
    func calls() async throws {
        try await ServiceFixture().runClient { client in
            var response = HTTPResponse(status: .found)
            response.headerFields.append(HTTPField(name: .setCookie, value: "a=1; Path=/"))
            response.headerFields.append(HTTPField(name: .setCookie, value: "b=1; Path=/; Domain=b.test"))
            let receipt = try await client.receive(response, to: "https://a.test/login", in: "default")
            #expect(receipt.decisions.map(\.outcome) == ["stored", "rejected"])
            #expect(try await client.cookieString(for: "https://a.test/", in: "default") == "a=1")
            #expect(try await client.cookieString(for: "https://b.test/", in: "default") == [])
            let plain = try await client.decorate(Self.request(.post), in: "default")
            #expect(plain.method == .post && plain.headerFields[.cookie] == "a=1")
            var own = Self.request()
            own.headerFields[.cookie] = "a=own"
            #expect(try await client.decorate(own, in: "default").headerFields[.cookie] == "a=own")
            let frame = RequestDetails(topLevel: "https://b.test/", initiator: "https://b.test/")
            #expect(try await client.decorate(Self.request(), in: "default", frame).headerFields[.cookie] == nil)
        }
    }

    @Test("The cookies of a response are stored although the task is cancelled, and no further request is made")
    func cancelled() async throws {
        try await ServiceFixture().runClient { client in
            let response = HTTPResponse(status: .ok, headerFields: [.setCookie: "a=1; Path=/"])
            try await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await client.receive(response, to: "https://a.test/", in: "default")
            }.value
            let exchange = Task {
                let web = VisitedWeb(["https://a.test/1": (302, "/2", ["b=1; Path=/"])])
                await #expect(throws: CancellationError.self) {
                    try await client.exchange(Self.request(), in: "default") { request, chain in
                        withUnsafeCurrentTask { $0?.cancel() }
                        return try web.answer(request, chain)
                    }
                }
                return web.requests.count
            }
            #expect(await exchange.value == 1)
            #expect(try await client.cookieString(for: "https://a.test/", in: "default") == "a=1; b=1")
        }
    }

    @Test("A jar's header field is set, and one of the request's own takes precedence")
    func fields() async throws {
        try await ServiceFixture().runClient { client in
            let name = try #require(HTTPField.Name("X-Key"))
            var request = Self.request(.get, "api.test", "/v2/x")
            #expect(try await client.decorate(request, in: "default").headerFields[name] == "field-secret")
            request.headerFields[name] = "own"
            #expect(try await client.decorate(request, in: "default").headerFields[name] == "own")
        }
    }

    @Test(
        "A response that the service does not store is in the error, and its redirect is not followed",
        arguments: [(AccessGrant(verbs: [.read, .secrets]), nil), (.everything, "/responses")]
            as [(AccessGrant, String?)])
    func unstored(grant: AccessGrant, unreachable: String?) async throws {
        try await ServiceFixture().runClient(grant, unreachable: unreachable) { client in
            let web = VisitedWeb(["https://a.test/1": (303, "/2", ["a=1; Path=/"])])
            let error = await #expect(throws: UnstoredResponseError<Int>.self) {
                try await client.exchange(Self.request(.post), in: "default", transport: web.answer)
            }
            let exchange = try #require(error?.exchange)
            #expect(exchange.payload == 1 && exchange.head.status == 303 && exchange.head.location == "/2")
            #expect(exchange.url.description == "https://a.test/1" && exchange.hops.map(\.status) == [303])
            #expect(exchange.hops.allSatisfy { $0.receipt.decisions.isEmpty } && web.requests.count == 1)
            #expect(error?.cause.code == (unreachable == nil ? .refused : .unreachable))
            #expect(error?.cause.problem?.code == (unreachable == nil ? "forbidden" : nil))
            let description = error?.description ?? ""
            #expect(
                description.hasPrefix("https://a.test: the service did not store the cookies of the response: ")
                    && !description.contains("a=1"))
            #expect(try await client.cookieString(for: "https://a.test/", in: "default") == [])
        }
    }

    @Test("Each response is stored before the next request is decorated")
    func cookies() async throws {
        try await ServiceFixture().runClient { client in
            let web = VisitedWeb([
                "https://a.test/1": (302, "/2", ["a=1; Path=/", "deep=1; Path=/deep"]),
                "https://a.test/2": (302, "https://b.test/3", ["a=2; Path=/", "s=1; Secure", "x=1; Domain=b.test"]),
                "https://b.test/3": (307, "http://a.test/deep/4", ["b=1"]),
                "http://a.test/deep/4": (303, "https://a.test/5", ["a=; Max-Age=0; Path=/"]),
                "https://a.test/5": (200, nil, ["end=1"]),
            ])
            let exchange = try await client.exchange(Self.request(), in: "default", transport: web.answer)
            #expect(web.values(.cookie) == [nil, "a=1", nil, "deep=1; a=2", "s=1"])
            #expect(exchange.payload == 5 && exchange.head.status == 200)
            #expect(exchange.url.description == "https://a.test/5" && exchange.repetitionRefusal == nil)
            #expect(exchange.hops.map(\.status) == [302, 302, 307, 303, 200])
            #expect(exchange.hops.map(\.url.description) == web.requests.map(\.url))
            #expect(exchange.hops.map(\.cookies) == [[], ["a"], [], ["deep", "a"], ["s"]])
            #expect(exchange.hops[1].receipt.decisions.map(\.outcome) == ["replaced", "stored", "rejected"])
            #expect(exchange.hops[3].excluded.map(\.reasons) == [["secure-only"]])
            #expect(try await client.cookieString(for: "https://a.test/", in: "default") == "s=1; end=1")
        }
    }

    @Test(
        "A redirect keeps or drops method, body and the body's fields by its status",
        arguments: [
            (301, .post, .get, false), (301, .get, .get, true), (301, .put, .put, true), (302, .post, .get, false),
            (302, .put, .put, true), (303, .post, .get, false), (303, .put, .get, false), (303, .head, .head, true),
            (307, .post, .post, true), (308, .post, .post, true), (308, .put, .put, true),
        ] as [(Int, HTTPRequest.Method, HTTPRequest.Method, Bool)])
    func methods(status: Int, method: HTTPRequest.Method, next: HTTPRequest.Method, keepsBody: Bool) async throws {
        try await ServiceFixture().runClient { client in
            let web = VisitedWeb(["https://a.test/1": (status, "/2", [])])
            var request = Self.request(method)
            request.headerFields[.contentType] = "text/plain"
            let exchange = try await client.exchange(request, in: "default", transport: web.answer)
            #expect(web.requests.map(\.request.method) == [method, next])
            #expect(web.requests.map(\.keepsBody) == [true, keepsBody])
            #expect(web.values(.contentType) == ["text/plain", keepsBody ? "text/plain" : nil])
            #expect(exchange.hops.map(\.method) == [method.rawValue, next.rawValue])
        }
    }

    @Test("The caller's credentials and cookies never go to another origin, even if the chain returns")
    func origins() async throws {
        try await ServiceFixture().runClient { client in
            let web = VisitedWeb([
                "https://a.test/1": (307, "/2", ["a=1"]), "https://a.test/2": (307, "https://b.test/3", []),
                "https://b.test/3": (307, "https://a.test/4", []),
            ])
            var request = Self.request()
            request.headerFields[.authorization] = "Bearer own"
            request.headerFields[.proxyAuthorization] = "Basic own"
            request.headerFields[.cookie] = "own=1"
            _ = try await client.exchange(request, in: "default", transport: web.answer)
            #expect(web.values(.authorization) == ["Bearer own", "Bearer own", nil, nil])
            #expect(web.values(.proxyAuthorization) == ["Basic own", "Basic own", nil, nil])
            #expect(web.values(.cookie) == ["own=1", "own=1; a=1", nil, "a=1"])
        }
    }

    @Test("The token of a login rule goes to the first origin only")
    func tokens() async throws {
        let fixture = try ServiceFixture()
        try fixture.database.jar(named: "default", now: ServiceFixture.now).setLoginRule(
            LoginRule(scope: "https://api.test/", profile: "work", delivery: .authorization), named: "api")
        try await fixture.runClient { client in
            let web = VisitedWeb([
                "https://api.test/1": (302, "https://b.test/2", []),
                "https://b.test/2": (302, "https://api.test/3", []),
            ])
            _ = try await client.exchange(Self.request(.get, "api.test"), in: "default", transport: web.answer)
            #expect(web.values(.authorization) == ["Bearer access-secret", nil, nil])
        }
    }

    @Test("A server that wants its nonce in each proof gets it after redirects, too, and no token is renewed")
    func nonces() async throws {
        let fixture = try ServiceFixture()
        try fixture.database.tokens.put(
            TokenSet(accessToken: Secret("bound-secret"), tokenType: .dpop, receivedAt: .epoch),
            for: Profile(id: ProfileID(), name: "bound"),
            credentials: ProfileCredentials(
                settings: ProfileSettings(grant: .imported, endpoints: [:]), proofKey: SigningKey().secret),
            now: ServiceFixture.now)
        try fixture.database.jar(named: "default", now: ServiceFixture.now).setLoginRule(
            LoginRule(scope: "https://api.test/", profile: "bound", delivery: .authorization), named: "api")
        try await fixture.runClient { client in
            let exchange = try await client.exchange(Self.request(.get, "api.test"), in: "default") { request, _ in
                let field = try #require(HTTPField.Name("DPoP"))
                let proof = request.headerFields[field]?.split(separator: ".")[1] ?? ""
                var text = String(proof).replacing("-", with: "+").replacing("_", with: "/")
                text += String(repeating: "=", count: (4 - text.count % 4) % 4)
                let claims = String(decoding: Data(base64Encoded: text) ?? Data(), as: UTF8.self)
                guard claims.contains(#""n1""#) else {
                    let challenge: Octets = #"DPoP error="use_dpop_nonce""#
                    return (ResponseHead(status: 401, authenticate: [challenge], proofNonce: "n1"), ())
                }
                let next: Octets? = request.path == "/1" ? "/2" : request.path == "/2" ? "/3" : nil
                return (ResponseHead(status: next == nil ? 200 : 302, location: next), ())
            }
            #expect(exchange.hops.map(\.status) == [401, 302, 401, 302, 401, 200])
        }
        #expect(fixture.server.paths.isEmpty)
    }

    @Test("Loops end with an error, as does a redirect that requires a body again that can be sent only once")
    func endless() async throws {
        try await ServiceFixture().runClient { client in
            let web = VisitedWeb(["https://a.test/1": (307, "/1", ["a=1; Path=/"])])
            let loop = await #expect(throws: RedirectError.self) {
                try await client.exchange(Self.request(), in: "default", transport: web.answer)
            }
            #expect(loop?.code == .loop && web.requests.count == 21)
            let body = await #expect(throws: RedirectError.self) {
                try await client.exchange(
                    Self.request(.post), in: "default", isBodyRepeatable: false, transport: web.answer)
            }
            #expect(body?.code == .bodyNotRepeatable && web.requests.count == 22)
        }
    }

    @Test(
        "A cookie that is not UTF-8 is sent octet for octet; a client of text leaves out only that cookie and reports it"
    )
    func octets() async throws {
        let line = Octets(Array("a=".utf8) + [0xFF] + Array("; Path=/".utf8))
        let field = HeaderFieldDocument(name: "set-cookie", value: line)
        #expect(field.value == nil && field.octets == line)
        try await ServiceFixture().runClient { client in
            let web = VisitedWeb(["https://a.test/1": (302, "/2", [line, "b=1; Path=/"])])
            _ = try await client.exchange(Self.request(), in: "default", transport: web.answer)
            let sent = web.requests.map { $0.request.fieldValues(.cookie) }
            #expect(sent == [[], [Octets(Array("a=".utf8) + [0xFF] + Array("; b=1".utf8))]])
            #expect(try await client.cookieString(for: "https://a.test/", in: "default") == sent.last?.last)
            let exchange = try await client.exchange(TextRequest(message: Self.request()), in: "default") {
                request, _ in
                (ResponseHead(status: 200), request.message.headerFields[.cookie])
            }
            #expect(exchange.payload == "b=1" && exchange.hops.map(\.cookies) == [["b"]])
            #expect(exchange.hops.map { $0.excluded.map(\.reasons) } == [[["octets-not-carried"]]])
        }
    }

    @Test("A header field of the jar that is not sent is reported with the reason")
    func omittedFields() async throws {
        let fixture = try ServiceFixture()
        let jar = try fixture.database.jar(named: "default", now: ServiceFixture.now)
        let value = Array("caf".utf8) + [0xE9]
        try jar.setFieldRule(
            FieldRule(name: "X-Team", value: Secret(value), scope: try URLScope("https://api.test/v2")))
        try await fixture.runClient { client in
            let team = try #require(HTTPField.Name("X-Team"))
            var request = Self.request(.get, "api.test", "/v2/x")
            request.headerFields[try #require(HTTPField.Name("X-Key"))] = "own"
            let octets = try await client.exchange(request, in: "default") { request, _ in
                (ResponseHead(status: 200), request.fieldValues(team))
            }
            #expect(octets.payload == [Octets(value)])
            #expect(octets.hops.flatMap(\.omittedFields).map(\.reason) == ["set-by-caller"])
            let text = try await client.exchange(TextRequest(message: request), in: "default") { request, _ in
                (ResponseHead(status: 200), request.hasField(team))
            }
            #expect(!text.payload && text.hops.count == 1)
            let omitted = text.hops.flatMap(\.omittedFields)
            #expect(
                Set(omitted.map { [$0.name, $0.reason] }) == [
                    ["X-Key", "set-by-caller"], ["X-Team", "octets-not-carried"],
                ])
            #expect(omitted.allSatisfy { $0.scope == "https://api.test/v2" })
        }
    }

    @Test("A cookie without a name that a client of text cannot carry is reported without its value")
    func nameless() async throws {
        let line = Octets(Array("secret".utf8) + [0xFF] + Array("; Path=/".utf8))
        try await ServiceFixture().runClient { client in
            var response = HTTPResponse(status: .ok)
            response.headerFields.append(HTTPField(name: .setCookie, lenientValue: line))
            try await client.receive(response, to: "https://a.test/", in: "default")
            let exchange = try await client.exchange(TextRequest(message: Self.request()), in: "default") {
                request, _ in
                (ResponseHead(status: 200), request.message.headerFields[.cookie])
            }
            #expect(exchange.payload == nil && exchange.hops.map(\.cookies) == [[]])
            #expect(exchange.hops.flatMap(\.excluded).map(\.name) == [""])
        }
    }

    @Test("If a site says 'not signed in', the service delivers the stored token, then a renewed one")
    func login() async throws {
        let fixture = try ServiceFixture()
        try await fixture.runClient { client in
            let web = VisitedWeb { _, request in
                let cookies = request.headerFields[.cookie] ?? ""
                return (cookies.contains("session=access-secret-2") ? 200 : 401, nil, [])
            }
            let exchange = try await client.exchange(
                Self.request(.post, "www.example.com", "/account"), in: "default", transport: web.answer)
            #expect(exchange.hops.map(\.status) == [401, 401, 200] && exchange.repetitionRefusal == nil)
            #expect(web.values(.cookie).map { $0?.contains("session=access-secret") } == [false, true, true])
        }
        #expect(fixture.server.paths == ["/token"])
    }

    @Test("A site that rejects every token gets its request three times at most, and its response is the result")
    func rejected() async throws {
        let fixture = try ServiceFixture()
        try await fixture.runClient { client in
            let web = VisitedWeb { _, _ in (401, nil, []) }
            let exchange = try await client.exchange(
                Self.request(.get, "www.example.com", "/account"), in: "default", transport: web.answer)
            #expect(exchange.head.status == 401 && exchange.hops.map(\.status) == [401, 401, 401])
        }
        #expect(fixture.server.paths == ["/token"])
    }

    @Test("A request that the site may have acted on is not repeated, and the session is renewed")
    func refused() async throws {
        try await ServiceFixture().runClient { client in
            let web = VisitedWeb { _, _ in (419, nil, []) }
            let exchange = try await client.exchange(
                Self.request(.post, "www.example.com", "/account"), in: "default", transport: web.answer)
            #expect(exchange.head.status == 419 && exchange.repetitionRefusal == .mayHaveActed)
            #expect(web.requests.count == 1)
            let cookies = try await client.cookieString(for: "https://www.example.com/", in: "default")
            #expect(cookies.description.contains("session=access-secret"))
        }
    }

    @Test("A request with a credential of the caller's own is not signed in")
    func ownCredential() async throws {
        try await ServiceFixture().runClient { client in
            let web = VisitedWeb { _, _ in (401, nil, []) }
            var request = Self.request(.get, "www.example.com", "/account")
            request.headerFields[.authorization] = "Bearer own"
            let exchange = try await client.exchange(request, in: "default", transport: web.answer)
            #expect(exchange.hops.map(\.status) == [401] && exchange.hops.first?.receipt.login != nil)
            #expect(web.values(.authorization) == ["Bearer own"])
        }
    }
}

/// A request of a client that takes header fields only as text.
private struct TextRequest: DecoratableRequest {
    var message: HTTPRequest

    static var carriesAnyOctets: Bool { false }
    static func carries(_ octets: Octets) -> Bool { octets.utf8String != nil }

    func requestURL() throws(RequestURLError) -> RequestURL { try message.requestURL() }
    var requestMethod: String { message.requestMethod }
    var isBodyRepeatable: Bool { true }
    func hasField(_ name: HTTPField.Name) -> Bool { message.hasField(name) }
    func fieldValues(_ name: HTTPField.Name) -> [Octets] { message.fieldValues(name) }
    mutating func setField(_ name: HTTPField.Name, _ octets: Octets) { message.setField(name, octets) }
    mutating func removeField(_ name: HTTPField.Name) { message.removeField(name) }
    mutating func retarget(to url: RequestURL) throws(RequestURLError) { try message.retarget(to: url) }
    mutating func becomeGET() { message.becomeGET() }
}
