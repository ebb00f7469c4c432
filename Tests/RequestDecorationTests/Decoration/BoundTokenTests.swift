import CookieModel
import Foundation
import HTTPTypes
import OAuth2
import SessionStore
import Synchronization
import Testing

@testable import RequestDecoration

/// Tokens that are bound to a key, at servers that want proofs (RFC 9449, sections 7 and 9).
@Suite("Bound tokens")
struct BoundTokenTests {
    private static let now = DecorationFixture.now
    private static let key = SigningKey()

    /// What a proof says, and which token it came with.
    private struct Seen: Equatable {
        let authorization: String?
        let method: String?
        let url: String?
        let nonce: String?
        let hasTokenHash: Bool

        init(_ request: HTTPRequest) throws {
            authorization = request.headerFields[.authorization]
            let name = try #require(HTTPField.Name("DPoP"))
            guard let proof = request.headerFields[name] else {
                (method, url, nonce, hasTokenHash) = (nil, nil, nil, false)
                return
            }
            var payload = proof.split(separator: ".")[1].replacing("-", with: "+").replacing("_", with: "/")
            payload += String(repeating: "=", count: (4 - payload.count % 4) % 4)
            let bytes = try #require(Data(base64Encoded: String(payload)))
            let claims = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
            method = claims["htm"] as? String
            url = claims["htu"] as? String
            nonce = claims["nonce"] as? String
            hasTokenHash = claims["ath"] != nil
        }
    }

    /// A server that takes a proof only with the nonce that it named last, and names another one each time.
    private final class Server: Sendable {
        let seen = Mutex<[Seen]>([])
        let isNeverContent: Bool

        init(isNeverContent: Bool = false) {
            self.isNeverContent = isNeverContent
        }

        func answer(_ request: HTTPRequest) throws -> ResponseHead {
            let seen = try Seen(request)
            return self.seen.withLock { all in
                all.append(seen)
                guard seen.authorization != nil else {
                    return ResponseHead(status: 401, authenticate: ["DPoP algs=\"ES256\""])
                }
                let isRight = !isNeverContent && seen.nonce == "n\(all.count - 1)"
                return ResponseHead(
                    status: isRight ? 200 : 401,
                    authenticate: isRight ? [] : ["DPoP error=\"use_dpop_nonce\""], proofNonce: "n\(all.count)")
            }
        }
    }

    private func settings() throws -> DecorationSettings {
        DecorationSettings(
            authorization: [
                AuthorizationRule(within: try URLScope("https://api.test/")) { _ in
                    AccessCredential(DecorationFixture.tokens(type: .dpop), proofKey: BoundTokenTests.key)
                }
            ])
    }

    private func request(_ path: String = "/a?b=c", _ method: HTTPRequest.Method = .get) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "https", authority: "api.test", path: path)
    }

    private func exchange(
        _ server: Server, _ request: HTTPRequest, _ decorator: RequestDecorator, isBodyRepeatable: Bool = true,
        fallback: LoginFallback? = nil
    ) async throws -> Exchange<Void> {
        try await decorator.exchange(
            request, in: RequestContext(url: try request.requestURL()), isBodyRepeatable: isBodyRepeatable,
            fallback: fallback, now: { BoundTokenTests.now }
        ) { request, _ in (try server.answer(request), ()) }
    }

    @Test("A decorated request has the token with a proof for that very request")
    func decorated() throws {
        let decorator = try DecorationFixture().decorator(try settings())
        let (request, report) = try decorator.decorate(
            request("/a?b=c", .delete), in: try DecorationFixture.context("https://api.test/a?b=c"),
            now: BoundTokenTests.now)
        let seen = try Seen(request)
        #expect(seen.authorization == "DPoP t0ken" && seen.method == "DELETE" && seen.url == "https://api.test/a")
        #expect(seen.hasTokenHash && seen.nonce == nil)
        #expect(report.fields.map(\.rawName) == ["Authorization", "DPoP"])
    }

    @Test("A server's nonce is answered once, with a new proof, and remembered for the next request")
    func nonce() async throws {
        let server = Server()
        let decorator = try DecorationFixture().decorator(try settings())
        let first = try await exchange(server, request("/a", .post), decorator)
        #expect(first.head.status == 200 && first.hops.map(\.status) == [401, 200])
        let second = try await exchange(server, request("/b"), decorator)
        #expect(second.head.status == 200 && second.hops.map(\.status) == [200])
        let seen = server.seen.withLock { $0 }
        #expect(seen.map(\.nonce) == [nil, "n1", "n2"] && seen.map(\.method) == ["POST", "POST", "GET"])
    }

    @Test("A server that always requests a nonce is asked twice")
    func noLoop() async throws {
        let server = Server(isNeverContent: true)
        let exchange = try await exchange(server, request(), try DecorationFixture().decorator(try settings()))
        #expect(exchange.head.status == 401 && server.seen.withLock { $0.count } == 2)
    }

    @Test("A body that can be sent only once is not sent again for a nonce")
    func bodyOnce() async throws {
        let server = Server()
        let decorator = try DecorationFixture().decorator(try settings())
        let refused = try await exchange(server, request("/", .post), decorator, isBodyRepeatable: false)
        #expect(refused.head.status == 401 && server.seen.withLock { $0.count } == 1)
        // The nonce is known all the same.
        let next = try await exchange(server, request("/", .post), decorator, isBodyRepeatable: false)
        #expect(next.head.status == 200)
    }

    @Test("The caller's own proof is not changed")
    func ownProof() async throws {
        let server = Server()
        var own = request()
        own.headerFields[.authorization] = "DPoP own"
        let exchange = try await exchange(server, own, try DecorationFixture().decorator(try settings()))
        #expect(exchange.head.status == 401 && server.seen.withLock { $0.map(\.authorization) } == ["DPoP own"])
    }

    // MARK: - Login fallback

    private struct Endpoint: EndpointTransport {
        let seen = RequestLog()

        func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
            seen.requests.withLock { $0.append(request.exposedHead) }
            var fields = HTTPFields()
            fields[.setCookie] = "session=1; Path=/; Secure"
            return EndpointResponse(status: .noContent, fields: fields, body: [])
        }
    }

    private final class RequestLog: Sendable {
        let requests = Mutex<[HTTPRequest]>([])
    }

    private func fallback(
        _ jar: CookieJar, _ delivery: LoginRule.Delivery, hasKey: Bool = true, over endpoint: Endpoint = Endpoint()
    ) throws -> LoginFallback {
        let settings = ProfileSettings(grant: .imported, endpoints: [:])
        try jar.tokens.put(
            DecorationFixture.tokens(type: .dpop), for: Profile(id: ProfileID(), name: "p"),
            credentials: ProfileCredentials(settings: settings, proofKey: hasKey ? BoundTokenTests.key.secret : nil),
            now: BoundTokenTests.now)
        let refresher = TokenRefresher(
            store: jar.tokens, transport: endpoint, process: 1, now: { BoundTokenTests.now })
        let rule = try LoginRule(scope: "https://api.test/", profile: "p", delivery: delivery)
        return LoginFallback(rules: [rule], store: jar.tokens, refresher: refresher, transport: endpoint)
    }

    @Test("A fallback presents a bound token with its proof, and answers the nonce")
    func fallback() async throws {
        let fixture = try DecorationFixture()
        let server = Server()
        let exchange = try await exchange(
            server, request("/a", .post), fixture.decorator(), fallback: try fallback(fixture.jar, .authorization))
        #expect(exchange.head.status == 200 && exchange.hops.map(\.status) == [401, 200])
        #expect(server.seen.withLock { $0.map(\.authorization) } == ["DPoP t0ken", "DPoP t0ken"])
        #expect(server.seen.withLock { $0.map(\.nonce) } == [nil, "n1"])
    }

    @Test("An endpoint that returns a cookie gets a proof, too")
    func exchanged() async throws {
        let fixture = try DecorationFixture()
        let endpoint = Endpoint()
        let fallback = try fallback(fixture.jar, .exchange("https://api.test/cookie"), over: endpoint)
        // A site that takes no cookie wants more than there is.
        let error = await #expect(throws: LoginFallbackError.self) {
            _ = try await exchange(Server(), request(), fixture.decorator(), fallback: fallback)
        }
        #expect(error?.code == .loginRequired)
        let asked = try #require(endpoint.seen.requests.withLock { $0.first })
        let seen = try Seen(asked)
        #expect(seen.authorization == "DPoP t0ken" && seen.hasTokenHash && seen.url == "https://api.test/cookie")
        #expect(try fixture.jar.cookies().readable.map(\.name) == ["session"])
    }

    @Test("A bound token without its key is not presented, and the report has the reason")
    func noKey() async throws {
        let fixture = try DecorationFixture()
        for delivery in [LoginRule.Delivery.authorization, .exchange("https://api.test/cookie")] {
            let fallback = try fallback(fixture.jar, delivery, hasKey: false)
            let error = await #expect(throws: LoginFallbackError.self) {
                _ = try await exchange(Server(), request(), fixture.decorator(), fallback: fallback)
            }
            #expect(error?.code == .tokenNotPresentable)
        }
    }
}
