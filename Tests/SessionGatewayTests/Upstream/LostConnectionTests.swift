import CookieModel
import NIOHPACK
import NIOHTTP2
import SessionStore
import Synchronization
import Testing

@testable import SessionGateway

@Suite("Connections that end while requests are under way")
struct LostConnectionTests {
    /// Sends a request at the address of a gateway that offers a server.
    private static func send(_ text: String, to address: GatewayAddress) async throws -> RawClient {
        let client = try await RawClient.connect(to: address)
        try await client.send(text)
        return client
    }

    @Test(
        "Uploads to a server whose connection ends are answered", arguments: [false, true], [200, 20_000, 400_000])
    func uploads(isReset: Bool, length: Int) async throws {
        for _ in 0..<3 {
            let server = try await HTTP2Server.start { _, number in number > 5 ? [isReset ? .abort : .close] : nil }
            try await GatewayFixture().run(server.settings) { address in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<10 {
                        group.addTask {
                            let body = String(repeating: "x", count: length)
                            let client = try await Self.send(
                                "POST /\(index) HTTP/1.1\r\nHost: \(address)\r\nContent-Length: \(length)\r\n\r\n\(body)",
                                to: address)
                            let response = await client.response { $0.contains("\r\n\r\n") }
                            #expect(response.hasPrefix("HTTP/1.1 502 "), "\(response)")
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test("A server that takes no more requests answers those that it has")
    func goAway() async throws {
        let ok: HPACKHeaders = [":status": "200", "content-length": "2"]
        let server = try await HTTP2Server.start { request, number in
            // The second one is not accepted any more.
            if number == 2 { return [.goAway(last: 1)] }
            return request.isComplete ? [.headers(ok, ends: false), .data("hi")] : nil
        }
        try await GatewayFixture().run(server.settings) { address in
            let head = "POST / HTTP/1.1\r\nHost: \(address)\r\nContent-Length: "
            let first = try await Self.send(head + "5\r\n\r\nhell", to: address)
            await server.requested()
            var others: [RawClient] = []
            for _ in 0..<20 { others.append(try await Self.send(head + "0\r\n\r\n", to: address)) }
            for other in others {
                #expect(await other.response { $0.hasSuffix("hi") }.hasPrefix("HTTP/1.1 200 "))
            }
            try await first.send("o")
            #expect(await first.response { $0.hasSuffix("hi") }.hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test(
        "A request that a server may have acted on is not sent again",
        arguments: [
            ("GET", [HTTP2Server.Step.reset(.internalError)], true), ("DELETE", [.reset(.internalError)], false),
            ("PUT", [.reset(.cancel)], false), ("POST", [.reset(.refusedStream)], true),
            ("POST", [.headers([":status": "103"], ends: false), .reset(.refusedStream)], false),
            ("POST", [.headers([":status": "103"], ends: false), .reset(.http11Required)], false),
        ])
    func mayHaveActed(method: String, steps: [HTTP2Server.Step], isRepeated: Bool) async throws {
        let server = try await HTTP2Server.start { request, number in
            guard request.isComplete else { return nil }
            return number == 2
                ? steps : [.headers([":status": "200", "content-length": "2"], ends: false), .data("hi")]
        }
        try await GatewayFixture().run(server.settings) { address in
            let client = try await Self.send("GET / HTTP/1.1\r\nHost: \(address)\r\n\r\n", to: address)
            _ = await client.response { $0.hasSuffix("hi") }
            let other = try await Self.send("\(method) / HTTP/1.1\r\nHost: \(address)\r\n\r\n", to: address)
            let response = await other.response { $0.hasSuffix("hi") || $0.contains("HTTP/1.1 502 ") }
            #expect(response.contains("HTTP/1.1 \(isRepeated ? 200 : 502) "), "\(response)")
        }
        #expect(server.requests.withLock { $0.count } == (isRepeated ? 3 : 2))
    }

    #if os(Linux)
        @Test("A client that leaves during a response ends the server's connection")
        func leaves() async throws {
            let server = try await RecordingServer.start { octets in
                guard octets.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return nil }
                return Array("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n".utf8)
            }
            try await GatewayFixture().run { address in
                let client = try await Self.send(
                    "GET http://127.0.0.1:\(server.port)/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", to: address)
                _ = await client.response { $0.contains("data: 1") }
                client.close()
                await server.ended()
            }
        }
    #endif

    @Test("What a proxy sets beside its own refusal is no cookie of the site")
    func proxy() async throws {
        let server = try await RecordingServer.start { octets in
            guard octets.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return nil }
            let head = "HTTP/1.1 407 Proxy Authentication Required\r\nSet-Cookie: a=1\r\nContent-Length: 0\r\n\r\n"
            return Array(head.utf8)
        }
        var settings = GatewaySetup.forTools
        settings.proxy = { _ in GatewayEnvironment.UpstreamProxy(host: "127.0.0.1", port: server.port) }
        let fixture = try GatewayFixture()
        try await fixture.run(settings) { address in
            let client = try await Self.send(
                "GET http://shop.example/ HTTP/1.1\r\nHost: shop.example\r\n\r\n", to: address)
            let response = await client.response { $0.hasSuffix("\r\n\r\n") }
            #expect(response.hasPrefix("HTTP/1.1 407 ") && !response.contains("a=1"), "\(response)")
        }
        #expect(try fixture.jar.cookies().readable.isEmpty)
    }
}
