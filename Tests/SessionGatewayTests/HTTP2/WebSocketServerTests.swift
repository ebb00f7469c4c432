import CookieModel
import NIOHPACK
import NIOHTTP2
import SessionStore
import Synchronization
import Testing

@testable import SessionGateway

@Suite("WebSockets of servers that speak HTTP/2")
struct WebSocketServerTests {
    private static let setting = HTTP2Setting(parameter: .enableConnectProtocol, value: 1)
    /// The handshake of RFC 6455, section 1.3.
    private static let handshake = """
        Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: chat\r\n
        """

    /// Has a connection opened, and sends the handshake.
    private static func open(at address: GatewayAddress, _ fields: String = "") async throws -> RawClient {
        let first = try await RawClient.connect(to: address)
        try await first.send("GET / HTTP/1.1\r\nHost: \(address)\r\n\r\n")
        #expect(await first.response { $0.hasSuffix("hi") }.hasPrefix("HTTP/1.1 200 "))
        let client = try await RawClient.connect(to: address)
        try await client.send("GET /chat HTTP/1.1\r\nHost: \(address)\r\n\(handshake)\(fields)\r\n")
        return client
    }

    private static func server(
        _ settings: HTTP2Settings = [setting], answering steps: [HTTP2Server.Step]
    ) async throws -> HTTP2Server {
        try await HTTP2Server.start(settings) { request, number in
            number == 1
                ? [.headers([":status": "200", "content-length": "2"], ends: false), .data("hi")] : steps
        }
    }

    @Test("A handshake is an extended CONNECT, and octets pass both ways to their ends")
    func opens() async throws {
        let accepted: HPACKHeaders = [":status": "200", "sec-websocket-protocol": "chat", "set-cookie": "b=2"]
        let server = try await Self.server(answering: [.headers(accepted, ends: false), .mirror])
        let fixture = try GatewayFixture()
        try fixture.set("sid=31d4; HttpOnly", at: "https://localhost:\(server.port)/")
        try await fixture.run(server.settings) { address in
            let client = try await Self.open(at: address)
            let head = await client.response { $0.hasSuffix("\r\n\r\n") }
            #expect(
                head == "HTTP/1.1 101 \r\nsec-websocket-protocol: chat\r\nUpgrade: websocket\r\n"
                    + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nConnection: Upgrade\r\n\r\n")
            try await client.send("ping")
            #expect(await client.response { $0.hasSuffix("ping") } == head + "ping")
            await client.end()
            #expect(await client.response() == head + "ping")
        }
        let request = try #require(server.requests.withLock { $0.last })
        #expect(
            request.lines == [
                ":method: CONNECT", ":protocol: websocket", ":authority: localhost:\(server.port)", ":scheme: https",
                ":path: /chat", "sec-websocket-version: 13", "sec-websocket-protocol: chat", "cookie: sid=31d4",
            ])
        #expect(request.body == Array("ping".utf8) && request.isComplete && request.connection == 1)
        #expect(try fixture.jar.cookies().readable.contains { $0.name == "b" })
    }

    @Test("A server that refuses answers, and its connection goes on")
    func refuses() async throws {
        let answer: HPACKHeaders = [":status": "403", "content-length": "2"]
        let server = try await Self.server(answering: [.headers(answer, ends: false), .data("no")])
        try await GatewayFixture().run(server.settings) { address in
            let client = try await Self.open(at: address)
            let response = await client.response { $0.hasSuffix("no") }
            #expect(response.hasPrefix("HTTP/1.1 403 "), "\(response)")
            await server.hasReset()
            let other = try await RawClient.connect(to: address)
            try await other.send("GET / HTTP/1.1\r\nHost: \(address)\r\n\r\n")
            #expect(await other.response { $0.hasSuffix("no") }.hasPrefix("HTTP/1.1 403 "))
        }
        #expect(server.requests.withLock { $0.map(\.connection) } == [1, 1, 1])
    }

    @Test(
        "Over HTTP/1.1 goes what a server does not permit in a stream, and what it refuses there",
        arguments: [(false, nil), (true, .http11Required), (true, .refusedStream)] as [(Bool, HTTP2ErrorCode?)])
    func overHTTP1(permits: Bool, refusal: HTTP2ErrorCode?) async throws {
        let steps = refusal.map { [HTTP2Server.Step.reset($0)] } ?? []
        let server = try await Self.server(permits ? [Self.setting] : [], answering: steps)
        try await GatewayFixture().run(server.settings) { address in
            let client = try await Self.open(at: address)
            #expect(await client.response { $0.hasSuffix("over") }.hasPrefix("HTTP/1.1 200 "))
        }
        let requests = server.requests.withLock { $0 }
        #expect(requests.map(\.isHTTP1) == (permits ? [false, false, true] : [false, true]))
        #expect(requests.last?.lines.contains("Upgrade: websocket") == true)
    }

    @Test("A request with a body, or without a key, is no handshake", arguments: ["Content-Length: 0", "Upgrade: h2c"])
    func other(field: String) async throws {
        let server = try await Self.server(answering: [])
        try await GatewayFixture().run(server.settings) { address in
            let client = try await Self.open(at: address, "\(field)\r\n")
            #expect(await client.response { $0.hasSuffix("over") }.hasPrefix("HTTP/1.1 200 "))
        }
        #expect(server.requests.withLock { $0.last?.isHTTP1 } == true)
    }
}
