import HTTPMessages
import Synchronization
import Testing
import WebPrimitives

@testable import SessionGateway

@Suite("Requests that come back to a gateway")
struct LoopTests {
    private static func settings(through proxy: @escaping @Sendable () -> GatewayAddress?) -> GatewaySetup {
        var settings = GatewaySetup.forTools
        settings.proxy = { _ in proxy().map { GatewayEnvironment.UpstreamProxy(host: $0.host, port: $0.port) } }
        return settings
    }

    @Test(
        "Gateways that are each other's proxies answer with 508 after one round",
        arguments: ["GET http://shop.example/ HTTP/1.1", "CONNECT shop.example:443 HTTP/1.1"])
    func circle(line: String) async throws {
        let (one, other) = (try GatewayFixture(), try GatewayFixture())
        let second = Mutex<GatewayAddress?>(nil)
        try await one.run(Self.settings { second.withLock { $0 } }) { first in
            try await other.run(Self.settings { first }) { address in
                second.withLock { $0 = address }
                let client = try await RawClient.connect(to: first)
                try await client.send("\(line)\r\nHost: shop.example\r\n\r\n")
                let response = await client.response { $0.contains("</html>") }
                #expect(response.hasPrefix("HTTP/1.1 508 "), "\(response)")
                #expect(response.contains("error=proxy_loop_detected"))
            }
        }
        // There, back, and the answer.
        #expect(one.records.withLock { $0.count } == 2)
        #expect(other.records.withLock { $0.count } == 1)
    }

    @Test("A server sees no gateway that a request has passed, and what others have written in Via")
    func server() async throws {
        let server = try await RecordingServer.start { octets in
            octets.suffix(4).elementsEqual("\r\n\r\n".utf8)
                ? Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8) : nil
        }
        try await GatewayFixture().run { last in
            try await GatewayFixture().run(Self.settings { last }) { address in
                for (sent, _) in Self.fields {
                    let client = try await RawClient.connect(to: address)
                    let host = "127.0.0.1:\(server.port)"
                    try await client.send("GET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\n\(sent)\r\n")
                    _ = await client.response { $0.hasSuffix("hi") }
                }
            }
        }
        let requests = server.requests.withLock { $0.map { String(decoding: $0, as: UTF8.self) } }
        #expect(requests.count == Self.fields.count)
        for (request, fields) in zip(requests, Self.fields) {
            #expect(request == "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\(fields.received)\r\n")
        }
    }

    private static let fields: [(sent: String, received: String)] = [
        ("", ""), ("Via: 1.1 squid (x)\r\n", "Via: 1.1 squid (x)\r\n"),
        ("via:  1.0 a,1.1 b\r\n", "via:  1.0 a,1.1 b\r\n"),
        ("Via: 1.1 crumb-0123456789abcdef\r\n", ""),
        ("Via: 1.0 a, 1.1 crumb-0123456789abcdef, 1.1 b\r\n", "Via: 1.0 a, 1.1 b\r\n"),
        ("Via: 1.1 crumb-0123, 1.1 crumb-0123456789abcdeg\r\n", "Via: 1.1 crumb-0123, 1.1 crumb-0123456789abcdeg\r\n"),
    ]

    @Test("A proxy gets the names of the gateways, for a request and for a tunnel")
    func proxy() async throws {
        let proxy = try await RecordingServer.start { octets in
            octets.suffix(4).elementsEqual("\r\n\r\n".utf8)
                ? Array("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".utf8) : nil
        }
        let address = GatewayAddress(host: "127.0.0.1", port: proxy.port)
        try await GatewayFixture().run(Self.settings { address }) { address in
            for line in ["GET http://shop.example/", "CONNECT shop.example:443"] {
                let client = try await RawClient.connect(to: address)
                try await client.send(
                    "\(line) HTTP/1.1\r\nHost: shop.example\r\nVia: 1.1 crumb-0123456789abcdef\r\n\r\n")
                _ = await client.response { $0.contains("\r\n\r\n") }
            }
        }
        let heads = try proxy.requests.withLock { try $0.map { try MessageHead($0, from: .client) } }
        #expect(heads.count == 2)
        let names = heads.map { PassedGateways($0).names }
        #expect(names[0] == names[1] && names[0].count == 2 && names[0].first == "crumb-0123456789abcdef")
    }

    @Test(
        "An OPTIONS request says how often it may be forwarded",
        arguments: [
            ("OPTIONS", "3", "2"), ("OPTIONS", "1", "0"), ("OPTIONS", "0", nil), ("OPTIONS", "x", "x"),
            ("OPTIONS", "9999999999", "9999999999"), ("GET", "0", "0"),
        ] as [(String, String, String?)])
    func maxForwards(method: String, sent: String, received: String?) async throws {
        let server = try await RecordingServer.start { octets in
            octets.suffix(4).elementsEqual("\r\n\r\n".utf8)
                ? Array("HTTP/1.1 204 No Content\r\nX: server\r\n\r\n".utf8) : nil
        }
        try await GatewayFixture().run { address in
            let client = try await RawClient.connect(to: address)
            let host = "127.0.0.1:\(server.port)"
            try await client.send(
                "\(method) http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\nMax-Forwards: \(sent)\r\n\r\n")
            let response = await client.response { $0.hasSuffix("\r\n\r\n") }
            #expect(
                response.hasPrefix(received == nil ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" : "HTTP/1.1 204 "))
        }
        let requests = server.requests.withLock { $0 }
        #expect(requests.count == (received == nil ? 0 : 1))
        if let received { #expect(server.firstRequest.contains("\r\nMax-Forwards: \(received)\r\n")) }
    }
}
