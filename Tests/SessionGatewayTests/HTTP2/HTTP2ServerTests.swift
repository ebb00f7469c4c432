import CookieModel
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import SessionStore
import Synchronization
import Testing

@testable import SessionGateway

@Suite("Servers that speak HTTP/2", .timeLimit(.minutes(10)))
struct HTTP2ServerTests {
    private static let ok: HPACKHeaders = [":status": "200", "content-length": "2"]

    /// Sends a request, which begins with its method and path, to a gateway that offers the server.
    private static func send(
        _ line: String, _ fields: String = "", body: [UInt8] = [], to address: GatewayAddress
    ) async throws -> RawClient {
        let client = try await RawClient.connect(to: address)
        try await client.send(Array("\(line) HTTP/1.1\r\nHost: \(address)\r\n\(fields)\r\n".utf8) + body)
        return client
    }

    @Test("A request has its fields as HTTP/2 has them, and its response those of HTTP/1.1")
    func fields() async throws {
        let server = try await HTTP2Server.start { _, _ in
            [
                .headers([":status": "103", "link": "x"], ends: false),
                .headers([":status": "200", "set-cookie": "a=1", "x-a": "1", "connection": "close"], ends: false),
                .data("hi", ends: false), .headers(["x-end": "1"]),
            ]
        }
        let fixture = try GatewayFixture()
        try fixture.set("sid=31d4; HttpOnly", at: "https://localhost:\(server.port)/")
        try fixture.set("lang=de", at: "https://localhost:\(server.port)/")
        try await fixture.run(server.settings) { address in
            let client = try await Self.send(
                "GET /%zz?a|b", "X-A: Grüße\r\nConnection: X-B\r\nX-B: 1\r\nTE: trailers\r\n", to: address)
            let response = await client.response { $0.hasSuffix("x-end: 1\r\n\r\n") }
            #expect(
                response
                    == "HTTP/1.1 103 \r\nlink: x\r\n\r\nHTTP/1.1 200 \r\nx-a: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "2\r\nhi\r\n0\r\nx-end: 1\r\n\r\n")
        }
        let request = try #require(server.requests.withLock { $0.first })
        #expect(
            request.lines == [
                ":method: GET", ":authority: localhost:\(server.port)", ":scheme: https", ":path: /%zz?a|b",
                "x-a: Grüße", "cookie: sid=31d4", "cookie: lang=de", "te: trailers",
            ])
        #expect(try fixture.jar.cookies().readable.contains { $0.name == "a" })
    }

    /// A server that takes one request at the same time, and answers one whose body is not complete with a head only.
    private static func serverWithLimit() async throws -> HTTP2Server {
        let limit = HTTP2Setting(parameter: .maxConcurrentStreams, value: 1)
        return try await HTTP2Server.start([limit]) { request, _ in
            request.isComplete
                ? [.headers(Self.ok, ends: false), .data("hi")] : [.headers([":status": "200"], ends: false)]
        }
    }

    /// Sends a request to such a server that ends with the client. With the head of its response, the gateway knows the
    /// limit of its connection.
    private static func hold(at address: GatewayAddress) async throws -> RawClient {
        let client = try await Self.send("POST /", "Content-Length: 5\r\n", body: Array("hell".utf8), to: address)
        let response = await client.response { $0.hasSuffix("\r\n\r\n") }
        #expect(response.hasPrefix("HTTP/1.1 200 "), "\(response)")
        return client
    }

    private static func expectAnswer(_ client: RawClient) async {
        let response = await client.response { $0.hasSuffix("hi") }
        #expect(response.hasPrefix("HTTP/1.1 200 "), "\(response)")
    }

    @Test("Requests share one connection, also if they are sent at the same time")
    func shares() async throws {
        let server = try await HTTP2Server.start { request, _ in
            request.isComplete ? [.headers(Self.ok, ends: false), .data("hi")] : nil
        }
        try await GatewayFixture().run(server.settings) { address in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask { await Self.expectAnswer(try await Self.send("GET /\(number)", to: address)) }
                }
                try await group.waitForAll()
            }
        }
        #expect(server.requests.withLock { Set($0.map(\.connection)) } == [1])
        #expect(server.requests.withLock { $0.count } == 20)
    }

    @Test("A request opens another connection while the server takes no more on the first one")
    func opensAnother() async throws {
        let server = try await Self.serverWithLimit()
        try await GatewayFixture().run(server.settings) { address in
            let held = try await Self.hold(at: address)
            for _ in 0..<2 { await Self.expectAnswer(try await Self.send("GET /", to: address)) }
            held.close()
        }
        let connections = server.requests.withLock { $0.map(\.connection) }
        #expect(connections.count == 3 && connections.first == 1 && connections.dropFirst().allSatisfy { $0 > 1 })
    }

    @Test("Many requests at the same time are all answered, whatever the server's limit")
    func beyondLimit() async throws {
        let server = try await Self.serverWithLimit()
        try await GatewayFixture().run(server.settings) { address in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    group.addTask { await Self.expectAnswer(try await Self.send("GET /\(number)", to: address)) }
                }
                try await group.waitForAll()
            }
        }
        #expect(server.requests.withLock { $0.count } == 40)
        #expect(server.requests.withLock { $0.allSatisfy { 1...6 ~= $0.connection } })
    }

    @Test(
        "With six connections, and where no other can be opened, a request waits for the end of another one",
        arguments: [1, 6])
    func waits(count: Int) async throws {
        let server = try await Self.serverWithLimit()
        try await GatewayFixture().run(server.settings) { address in
            var held: [RawClient] = []
            for _ in 0..<count { held.append(try await Self.hold(at: address)) }
            if count == 1 { try await server.stop() }
            let waiting = try await Self.send("GET /", to: address)
            for client in held { client.close() }
            await Self.expectAnswer(waiting)
        }
        #expect(server.requests.withLock { Set($0.map(\.connection)) } == Set(1...count))
    }

    @Test("Bodies pass both ways, longer than the windows of either side", arguments: [true, false])
    func bodies(hasLength: Bool) async throws {
        let server = try await HTTP2Server.start { request, _ in
            request.isComplete ? [.headers([":status": "200"], ends: false), .echo] : nil
        }
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        try await GatewayFixture().run(server.settings) { address in
            let field = hasLength ? "Content-Length: \(body.count)\r\n" : "Transfer-Encoding: chunked\r\n"
            let chunk = Array("\(String(body.count, radix: 16))\r\n".utf8) + body + Array("\r\n".utf8)
            let octets = hasLength ? body : chunk + Array("0\r\nX-End: 1\r\n\r\n".utf8)
            let client = try await Self.send("POST /", field, body: octets, to: address)
            let response = await client.octets { $0.suffix(5).elementsEqual("0\r\n\r\n".utf8) }
            #expect(response.count > body.count)
        }
        let request = try #require(server.requests.withLock { $0.first })
        #expect(request.body == body)
        #expect(request.headers.contains(name: "content-length") == hasLength)
        #expect(request.trailers?.first(name: "x-end") == (hasLength ? nil : "1"))
    }

    @Test(
        "What the server says it has not processed is sent once more, with its body",
        arguments: [
            [HTTP2Server.Step.reset(.refusedStream)], [.goAway(last: 0)], [.reset(.http11Required)],
        ])
    func refused(steps: [HTTP2Server.Step]) async throws {
        let server = try await HTTP2Server.start { request, number in
            if number == 1 { return steps }
            return request.isComplete ? [.headers(Self.ok, ends: false), .data("hi")] : nil
        }
        try await GatewayFixture().run(server.settings) { address in
            let client = try await Self.send(
                "POST /", "Content-Length: 5\r\n", body: Array("hello".utf8), to: address)
            let response = await client.response { $0.hasSuffix("hi") || $0.hasSuffix("over") }
            #expect(response.hasPrefix("HTTP/1.1 200 "))
        }
        let requests = server.requests.withLock { $0 }
        #expect(requests.count == 2)
        #expect(requests.last.map { $0.isHTTP1 || $0.body == Array("hello".utf8) } == true)
    }

    @Test(
        "A request is sent eight times more to a server that says each time that it has not processed it",
        arguments: [("POST", "hello", 8), ("GET", "", 8), ("POST", "hello", 9)])
    func refusedOften(method: String, body: String, count: Int) async throws {
        let server = try await HTTP2Server.start { request, number in
            if number <= count { return [.goAway(last: 0)] }
            return request.isComplete ? [.headers(Self.ok, ends: false), .data("hi")] : nil
        }
        try await GatewayFixture().run(server.settings) { address in
            let client = try await Self.send(
                "\(method) /", body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n", body: Array(body.utf8),
                to: address)
            let response = await client.response { $0.hasSuffix("hi") }
            #expect(response.hasPrefix("HTTP/1.1 \(count == 8 ? 200 : 502) "), "\(response)")
            #expect(count == 8 || response.contains("refuses the request without processing it"), "\(response)")
        }
        #expect(server.requests.withLock { $0.count } == 9)
    }

    @Test("A request that the server has reset for another reason is not sent once more")
    func reset() async throws {
        let server = try await HTTP2Server.start { _, _ in [.reset(.internalError)] }
        try await GatewayFixture().run(server.settings) { address in
            let client = try await Self.send("POST /", "Content-Length: 5\r\n", body: Array("hello".utf8), to: address)
            let response = await client.response()
            #expect(response.hasPrefix("HTTP/1.1 502 "))
            #expect(response.contains("Proxy-Status: crumb; error=connection_terminated"))
        }
        #expect(server.requests.withLock { $0.count } == 1)
    }

    @Test("A connection that the server is about to close gets no further request")
    func goAway() async throws {
        let server = try await HTTP2Server.start { _, number in
            (number == 1 ? [.goAway(last: .maxID)] : []) + [.headers(Self.ok, ends: false), .data("hi")]
        }
        try await GatewayFixture().run(server.settings) { address in
            for _ in 0..<2 {
                let client = try await Self.send("GET /", to: address)
                #expect(await client.response { $0.hasSuffix("hi") }.hasPrefix("HTTP/1.1 200 "))
            }
        }
        #expect(server.requests.withLock { $0.map(\.connection) } == [1, 2])
    }

    @Test(
        "What HTTP/2 cannot carry goes over HTTP/1.1",
        arguments: ["X-A: caf\u{E9}", "Connection: Upgrade\r\nUpgrade: x"])
    func overHTTP1(fields: String) async throws {
        let server = try await HTTP2Server.start { _, _ in [.headers(Self.ok, ends: false), .data("hi")] }
        try await GatewayFixture().run(server.settings) { address in
            let octets = fields.unicodeScalars.map { UInt8($0.value) }
            for _ in 0..<2 {
                let client = try await RawClient.connect(to: address)
                try await client.send(
                    Array("GET / HTTP/1.1\r\nHost: \(address)\r\n".utf8) + octets + Array("\r\n\r\n".utf8))
                #expect(await client.response { $0.hasSuffix("over") }.hasPrefix("HTTP/1.1 200 "))
            }
            let client = try await Self.send("GET /", to: address)
            #expect(await client.response { $0.hasSuffix("hi") }.hasPrefix("HTTP/1.1 200 "))
        }
        let requests = server.requests.withLock { $0 }
        #expect(requests.map(\.isHTTP1) == [true, true, false])
        #expect(requests.first?.lines.contains { $0.hasPrefix("X-A: caf\u{E9}") || $0.hasPrefix("Upgrade: x") } == true)
    }

    @Test("A value that NIOHPACK cannot read is asked for over HTTP/1.1, if nothing happens twice by that")
    func lostOctets() async throws {
        let server = try await HTTP2Server.start { _, _ in
            [.headers([":status": "200", "x-a": "caf\u{FFFD}", "content-length": "2"], ends: false), .data("hi")]
        }
        try await GatewayFixture().run(server.settings) { address in
            for (method, end) in [("GET", "over"), ("DELETE", "hi")] {
                let client = try await Self.send("\(method) /", to: address)
                #expect(await client.response { $0.hasSuffix(end) }.hasPrefix("HTTP/1.1 200 "))
            }
        }
        #expect(server.requests.withLock { $0.map(\.isHTTP1) } == [false, true, false])
    }

    @Test(
        "Responses without a body end, whatever their length",
        arguments: [("HEAD", "200"), ("GET", "304"), ("GET", "204")])
    func withoutBody(method: String, status: String) async throws {
        let server = try await HTTP2Server.start { _, _ in [.headers([":status": status, "content-length": "5"])] }
        try await GatewayFixture().run(server.settings) { address in
            let client = try await Self.send("\(method) /", to: address)
            for _ in 0..<2 {
                #expect(await client.response { $0.hasSuffix("\r\n\r\n") }.hasPrefix("HTTP/1.1 \(status) "))
            }
        }
    }

    @Test("A client that speaks HTTP/2 is told when the gateway stops, and gets the answers under way")
    func stops() async throws {
        let server = try await HTTP2Server.start { request, _ in
            request.isComplete ? [.headers(Self.ok, ends: false), .data("hi")] : nil
        }
        let host = try #require(WebHost("localhost"))
        let authority = try CertificateAuthority(for: [host], now: .now)
        var settings = GatewaySetup.forTools
        settings.intercept(host, by: authority)
        settings.tls = try server.settings.tls
        settings.limits.stop = .minutes(1)
        let (addresses, continuation) = AsyncStream<[GatewayAddress]>.makeStream()
        let fixture = try GatewayFixture()
        defer { withExtendedLifetime(fixture) {} }
        let gateway = try settings.gateway(of: fixture.jar, now: { .now })
        let running = Task { try await gateway.run { continuation.yield($0) } }
        for await listening in addresses {
            let address = try #require(listening.first)
            let client = try await HTTP2ServerConnection.connect(
                to: host, server.port, through: address, trusting: authority)
            let stream = try #require(await client.open().stream)
            let head = "POST / HTTP/1.1\r\nHost: localhost:\(server.port)\r\nContent-Length: 5\r\n\r\n"
            try await stream.write(ByteBuffer(string: head))
            await server.requested()
            running.cancel()
            while await client.isUsable { try await Task.sleep(for: .milliseconds(1)) }
            try await stream.write(ByteBuffer(string: "hello"))
            let response = try #require(try await stream.head(idle: nil, within: nil))
            #expect(String(decoding: response, as: UTF8.self).hasPrefix("HTTP/1.1 200 "))
            break
        }
        try await running.value
        #expect(server.requests.withLock { $0.map(\.body) } == [Array("hello".utf8)])
    }

    @Test("The stream ends with a client that does not wait any more")
    func clientsGoAway() async throws {
        let server = try await HTTP2Server.start { _, _ in nil }
        var settings = try server.settings
        settings.limits.ended = .zero
        try await GatewayFixture().run(settings) { address in
            let client = try await Self.send("GET /", to: address)
            await server.requested()
            client.close()
            await server.hasReset()
        }
    }
}
