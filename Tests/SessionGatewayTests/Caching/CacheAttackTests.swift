import Synchronization
import Testing

@testable import SessionGateway

@Suite("Attacks on the cache of a gateway")
struct CacheAttackTests {
    private let home: CachingGateway

    init() throws {
        home = try CachingGateway()
    }

    /// A server whose responses are numbered and fresh.
    private static func server(_ fields: String = "X: 1") async throws -> RecordingServer {
        let count = Mutex(0)
        return try await RecordingServer.start { octets in
            let text = String(decoding: octets, as: UTF8.self)
            let end = text.contains("Content-Length: 3") ? "abc" : text.contains("chunked") ? "0\r\n\r\n" : "\r\n\r\n"
            guard text.hasSuffix(end) else { return nil }
            let number = count.withLock { count in
                count += 1
                return count
            }
            return Array(
                ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: max-age=60\r\n\(fields)\r\n\r\n"
                    + (text.hasPrefix("HEAD") ? "" : "n\(number)")).utf8)
        }
    }

    @Test(
        "The response to a request that a server may understand in another way does not answer the plain request",
        arguments: [
            ("GET / X-Other: 1", true), ("GET / Range: bytes=0-0", true),
            // Other targets.
            ("GET /#x", false), ("GET /%2e", false), ("GET /x/..", false), ("GET //", false), ("GET /?", false),
            ("GET /\\", false),
            // Other targets or methods by a field.
            ("GET / X-Forwarded-Host: evil.example", false), ("GET / x-forwarded-proto: http", false),
            ("GET / Forwarded: host=evil.example", false), ("GET / X-Original-URL: /admin", false),
            ("GET / X-Rewrite-URL: /admin", false), ("GET / X-HTTP-Method-Override: DELETE", false),
            // Bodies.
            ("GET / Content-Length: 3\r\n\r\nabc", false),
            ("GET / Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", false),
            // Other methods.
            ("HEAD /", false), ("OPTIONS /", false), ("POST /", false), ("get /", false),
            // Requests that are rejected.
            ("GET / Host: evil.example", false), ("GET / X-A\n: 1", false),
            // Other users.
            ("GET / Authorization: Basic eDp5", false), ("GET / Cookie: a=1", false),
        ])
    func requests(first: String, isHit: Bool) async throws {
        let server = try await Self.server()
        let texts = try await home.responses(to: [first, "GET /"], from: server)
        #expect(texts[1].contains("; hit;") == isHit, "\(texts)")
        #expect(texts[1].hasPrefix("HTTP/1.1 200"), "\(texts)")
        let requests = server.requests.withLock { $0 }
        #expect(isHit ? texts[1].hasSuffix("n1") : texts[1].hasSuffix("n\(requests.count)"), "\(texts)")
        #expect(requests.allSatisfy { !String(decoding: $0, as: UTF8.self).contains("\r\nHost: evil.example") })
    }

    @Test("The server gets the host of the target, for which the response is stored, and not that of the Host field")
    func host() async throws {
        let server = try await Self.server()
        let port = server.port
        try await home.fixture.run(home.setup) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "GET http://127.0.0.1:\(port)/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
            #expect(await client.response().hasSuffix("n1"))
        }
        #expect(server.firstRequest.contains("\r\nHost: 127.0.0.1:\(port)\r\n"), "\(server.firstRequest)")
        #expect(!server.firstRequest.contains("evil"), "\(server.firstRequest)")
        let text = try await home.responses(to: ["GET /"], from: server)[0]
        #expect(text.contains("; hit;") && text.hasSuffix("n1"), "\(text)")
    }

    @Test(
        "A response with fields that no cache can keep is passed on each time",
        arguments: [
            ("X: " + String(repeating: "a", count: 100_000), true),
            ("X: " + String(repeating: "a", count: 131_000), false),
            ("Vary: *", false), ("Vary: X\r\nVary: X, *", false), ("Vary: x, X, X", true),
            ("Vary: " + (0...1000).map { "x\($0)" }.joined(separator: ","), false),
            ("X-A\nX-B: 2", true),
        ])
    func responses(fields: String, isHit: Bool) async throws {
        let server = try await Self.server(fields)
        let texts = try await home.responses(to: ["GET /", "GET /"], from: server)
        #expect(texts[0].hasSuffix("n1") && texts[1].hasSuffix(isHit ? "n1" : "n2"), "\(texts[1].suffix(200))")
        #expect(texts[1].contains("; hit;") == isHit)
    }

    @Test("A part that nobody has asked for, and a 304 to a request without a condition, are no responses to reuse")
    func statuses() async throws {
        for status in ["206 Partial Content\r\nContent-Range: bytes 0-1/5\r\nContent-Length: 2", "304 Not Modified"] {
            let server = try await RecordingServer.start { _ in
                Array(
                    ("HTTP/1.1 \(status)\r\nCache-Control: max-age=60\r\nETag: W/\"v\"\r\n\r\n"
                        + (status.hasPrefix("304") ? "" : "he")).utf8)
            }
            let texts = try await home.responses(to: ["GET /", "GET /"], from: server)
            #expect(!texts[1].contains("; hit;"), "\(texts)")
            #expect(server.requests.withLock { $0.count } == 2)
        }
    }
}
