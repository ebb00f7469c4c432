import CookieModel
import DecorationTestSupport
import Foundation
import HTTPTypes
import OAuth2
import RequestDecoration
import SessionStore
import Synchronization
import TestSupport
import Testing
import URLSessionDecoration

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("URLSession with a jar's cache")
struct CachedSessionTests {
    /// A server with one resource, which counts its versions: it confirms the tag of the current one.
    private func server(
        _ cacheControl: String, setCookie: [String] = [], version: @escaping @Sendable () -> String = { "1" }
    ) throws -> LoopbackServer {
        try .tagged(cacheControl, setCookie: setCookie) {
            let version = version()
            return ("\"\(version)\"", "version \(version)")
        }
    }

    private func request(
        _ server: LoopbackServer, _ path: String = "/data", policy: URLRequest.CachePolicy = .useProtocolCachePolicy
    ) throws -> URLRequest {
        var request = try URLSessionFixture.request("http://127.0.0.1:\(server.port)\(path)")
        request.cachePolicy = policy
        return request
    }

    @Test("A fresh response answers without the server, in another session too, and its status says so")
    func hit() async throws {
        let server = try server("max-age=60")
        let jar = try CachedJar()
        let first = try await jar.session().exchange(for: try request(server)).payload
        #expect(first.cacheStatus?.contains("fwd=uri-miss") == true && first.cacheStatus?.contains("stored") == true)
        let second = try await jar.session().exchange(for: try request(server)).payload
        #expect(second.data == Data("version 1".utf8) && second.response.statusCode == 200)
        #expect(second.cacheStatus?.hasPrefix("crumb; hit; ttl=60") == true)
        #expect(second.response.value(forHTTPHeaderField: "ETag") == "\"1\"")
        #expect(server.requests.count == 1)
    }

    @Test("Without a cache, every request is sent")
    func without() async throws {
        let server = try server("max-age=60")
        let jar = try CachedJar()
        let session = DecoratedURLSession(decorator: RequestDecorator(jar: jar.jar), now: { URLSessionFixture.now })
        for _ in 0..<2 {
            let answer = try await session.exchange(for: try request(server)).payload
            #expect(answer.cacheStatus == nil)
        }
        #expect(server.requests.count == 2)
    }

    @Test("A response that the server confirms answers, and the cookies of the confirmation reach the jar")
    func validation() async throws {
        let server = try server("max-age=0", setCookie: ["seen=1"])
        let jar = try CachedJar()
        let session = jar.session()
        _ = try await session.exchange(for: try request(server))
        try jar.jar.receive(
            ReceivedResponse(
                context: try URLSessionFixture.context("http://127.0.0.1/"), setCookie: ["seen=; Max-Age=0"]),
            now: URLSessionFixture.now)
        let exchange = try await session.exchange(for: try request(server))
        #expect(exchange.payload.data == Data("version 1".utf8) && exchange.head.status == 200)
        #expect(exchange.payload.cacheStatus?.contains("fwd-status=304") == true)
        #expect(server.requests.map { $0.text("if-none-match") } == [[], ["\"1\""]])
        #expect(try jar.jar.cookies().readable.map(\.pair) == ["seen=1"])
    }

    @Test("A stale response answers while the server is asked, and the next one is new")
    func staleWhileRevalidate() async throws {
        let versions = Mutex(0)
        let server = try server("max-age=1, stale-while-revalidate=600") { "\(versions.withLock { $0 })" }
        let jar = try CachedJar()
        let session = jar.session()
        _ = try await session.exchange(for: try request(server))
        versions.withLock { $0 = 1 }
        jar.advance(bySeconds: 10)
        let stale = try await session.exchange(for: try request(server)).payload
        #expect(stale.data == Data("version 0".utf8))
        var last = stale
        for _ in 0..<200 where last.data != Data("version 1".utf8) {
            try await Task.sleep(for: .milliseconds(10))
            last = try await session.exchange(for: try request(server)).payload
        }
        #expect(last.data == Data("version 1".utf8))
    }

    @Test("A validation goes on after its session is gone")
    func validationWithoutSession() async throws {
        let server = try server("max-age=1, stale-while-revalidate=600")
        let jar = try CachedJar()
        let request = try request(server)
        _ = try await jar.session().exchange(for: request)
        for _ in 0..<20 {
            jar.advance(bySeconds: 10)
            let count = server.requests.count
            // No validation begins until the last one has ended.
            for _ in 0..<500 where server.requests.count == count {
                // The session is gone when this returns, often before the validation has begun.
                let stale = try await jar.session().exchange(for: request).payload
                #expect(stale.data == Data("version 1".utf8))
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(server.requests.count > count)
        }
    }

    @Test("If the server cannot be reached, what is stored answers, unless it forbids that")
    func offline() async throws {
        let jar = try CachedJar()
        let session = jar.session()
        var requests: [URLRequest] = []
        do {
            let server = try server("max-age=0")
            requests.append(try request(server))
            _ = try await session.exchange(for: requests[0])
            let strict = try self.server("max-age=0, must-revalidate")
            requests.append(try request(strict))
            _ = try await session.exchange(for: requests[1])
            #expect(server.requests.count == 1 && strict.requests.count == 1)
        }
        let stale = try await session.exchange(for: requests[0]).payload
        #expect(stale.data == Data("version 1".utf8))
        await #expect(throws: URLError.self) { try await session.exchange(for: requests[1]) }
    }

    @Test("A request's cache policy decides, and that of the configuration for requests without one")
    func policies() async throws {
        let server = try server("max-age=60")
        let jar = try CachedJar()
        let session = jar.session()
        await #expect(throws: NotStoredError.self) {
            try await session.exchange(for: try request(server, policy: .returnCacheDataDontLoad))
        }
        #expect(server.requests.isEmpty)
        _ = try await session.exchange(for: try request(server))
        _ = try await session.exchange(for: try request(server, policy: .reloadIgnoringLocalCacheData))
        #expect(server.requests.count == 2 && server.requests[1].text("if-none-match").isEmpty)
        _ = try await session.exchange(for: try request(server, policy: .reloadRevalidatingCacheData))
        #expect(server.requests.count == 3 && server.requests[2].text("if-none-match") == ["\"1\""])
        jar.advance(bySeconds: 3600)
        _ = try await session.exchange(for: try request(server, policy: .returnCacheDataElseLoad))
        #expect(server.requests.count == 3)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .returnCacheDataElseLoad
        _ = try await jar.session(configuration).exchange(for: try request(server))
        #expect(server.requests.count == 3)
    }

    @Test("Requests with other cookies by SameSite, and with credentials of the caller, get responses of their own")
    func audiences() async throws {
        let server = try server("max-age=60")
        let jar = try CachedJar()
        let session = jar.session()
        let url = try RequestURL("http://127.0.0.1:\(server.port)/data")
        let foreign = RequestContext(url: url, topLevel: try RequestURL("http://other.example/"))
        var own = try request(server)
        own.setValue("Bearer own", forHTTPHeaderField: "Authorization")
        for _ in 0..<2 {
            _ = try await session.exchange(for: try request(server))
            _ = try await session.exchange(for: try request(server), in: foreign)
            _ = try await session.exchange(for: own)
        }
        #expect(server.requests.count == 3)
    }

    @Test("A login gets its own responses, after a renewal too, and never those of another login")
    func logins() async throws {
        let server = try LoopbackServer { request in
            var response = LoopbackServer.Response(body: request.text("authorization").first ?? "")
            response.fields.append(("Cache-Control", Array("private, max-age=60".utf8)))
            return response
        }
        let jar = try CachedJar()
        let tokens = jar.jar.tokens
        let scope = try URLScope("http://127.0.0.1:\(server.port)/")
        let request = try request(server)
        func put(_ token: String, _ name: String, account: String) throws {
            let profile = Profile(id: ProfileID(issuer: "i", clientID: "c", account: account), name: name)
            try tokens.put(
                TokenSet(accessToken: Secret(token), receivedAt: URLSessionFixture.now), for: profile,
                now: URLSessionFixture.now)
        }
        func get(_ rule: AuthorizationRule) async throws -> String {
            let session = jar.session(.ephemeral, DecorationSettings(authorization: [rule]))
            return String(decoding: try await session.exchange(for: request).payload.data, as: UTF8.self)
        }
        let (alice, bob) = (
            AuthorizationRule(scope: scope, named: "alice", in: tokens),
            AuthorizationRule(scope: scope, named: "bob", in: tokens)
        )
        try put("a1", "alice", account: "alice")
        try put("b1", "bob", account: "bob")
        #expect(try await get(alice) == "Bearer a1")
        #expect(try await get(bob) == "Bearer b1")
        try put("a2", "alice", account: "alice")
        #expect(try await get(alice) == "Bearer a1")
        try put("e1", "alice", account: "eve")
        #expect(try await get(alice) == "Bearer e1")
        // What the app itself has is compared as it is.
        for token in ["x1", "x2", "x1"] {
            let own = TokenSet(accessToken: Secret(token), receivedAt: URLSessionFixture.now)
            #expect(try await get(AuthorizationRule(scope: scope) { _ in own }) == "Bearer \(token)")
        }
        #expect(server.requests.count == 5)
    }

    @Test("A part is completed, and the whole response is stored")
    func completed() async throws {
        let server = try LoopbackServer.inParts()
        let jar = try CachedJar()
        let session = jar.session()
        var part = try request(server)
        part.setValue("bytes=0-3", forHTTPHeaderField: "Range")
        #expect(try await session.exchange(for: part).payload.data == Data("0123".utf8))
        for _ in 0..<2 {
            let whole = try await session.exchange(for: try request(server)).payload
            #expect(whole.data == Data("01234567".utf8) && whole.response.statusCode == 200)
        }
        #expect(server.requests.map { $0.text("range") } == [["bytes=0-3"], ["bytes=4-"]])
    }

    @Test("A request that changes something has the stored response validated")
    func invalidation() async throws {
        let server = try server("max-age=60")
        let jar = try CachedJar()
        let session = jar.session()
        _ = try await session.exchange(for: try request(server))
        _ = try await session.exchange(for: try URLSessionFixture.post("http://127.0.0.1:\(server.port)/data"))
        _ = try await session.exchange(for: try request(server))
        #expect(server.requests.map(\.method) == ["GET", "POST", "GET"])
    }

    @Test("So has one whose response is read as it comes, or downloaded")
    func invalidationByStreams() async throws {
        let server = try server("max-age=60")
        let jar = try CachedJar()
        let session = jar.session()
        let post = try URLSessionFixture.post("http://127.0.0.1:\(server.port)/data")
        _ = try await session.exchange(for: try request(server))
        jar.advance(bySeconds: 1)
        for try await _ in try await session.bytes(for: post).0 {}
        jar.advance(bySeconds: 1)
        _ = try await session.exchange(for: try request(server))
        jar.advance(bySeconds: 1)
        let (file, _) = try await session.download(for: post)
        try FileManager.default.removeItem(at: file)
        jar.advance(bySeconds: 1)
        _ = try await session.exchange(for: try request(server))
        #expect(server.requests.map(\.method) == ["GET", "POST", "GET", "POST", "GET"])
        #expect(server.requests.map { $0.text("if-none-match").count } == [0, 0, 1, 0, 1])
    }

    @Test("Redirects are stored, too")
    func redirects() async throws {
        let server = try LoopbackServer { request in
            var response =
                request.target == "/old"
                ? LoopbackServer.Response(301, location: "/new") : LoopbackServer.Response(body: "new")
            response.fields.append(("Cache-Control", Array("max-age=60".utf8)))
            return response
        }
        let jar = try CachedJar()
        for _ in 0..<2 {
            let exchange = try await jar.session().exchange(for: try request(server, "/old"))
            #expect(exchange.payload.data == Data("new".utf8) && exchange.hops.map(\.status) == [301, 200])
        }
        #expect(server.requests.map(\.target) == ["/old", "/new"])
    }

    @Test("A scheme handler gets resources from the cache")
    func resources() async throws {
        let server = try server("max-age=60")
        let jar = try CachedJar()
        let session = jar.session()
        let context = RequestContext(url: try RequestURL("http://127.0.0.1:\(server.port)/data"))
        for _ in 0..<2 {
            let response = try await session.resource(
                for: HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(server.port)", path: "/data"),
                in: context)
            var body: [UInt8] = []
            for try await piece in response.body { body += piece }
            #expect(body == Array("version 1".utf8) && response.head.status == .ok)
            #expect(response.head.headerFields[.eTag] == "\"1\"")
            #expect(response.urls == [context.url])
        }
        #expect(server.requests.count == 1)
    }

    @Test("A scheme handler gets the URLs of a resource's redirects")
    func redirectedResource() async throws {
        let server = try LoopbackServer { request in
            request.target == "/old" ? LoopbackServer.Response(302, location: "/new") : LoopbackServer.Response()
        }
        let origin = "http://127.0.0.1:\(server.port)"
        let response = try await CachedJar().session().resource(
            for: HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(server.port)", path: "/old"),
            in: RequestContext(url: try RequestURL("\(origin)/old")))
        #expect(response.urls.map(\.description) == ["\(origin)/old", "\(origin)/new"])
    }
}
