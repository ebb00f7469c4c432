import CookieModel
import Foundation
import NIOCore
import SessionGateway
import SessionStore
import Synchronization
import Testing
import WebPages

@Suite("A gateway as a forward proxy")
struct ForwardProxyTests {
    private let ok = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8)

    /// Answers each head without a body.
    private func answeringHeads(_ answer: [UInt8]) -> @Sendable ([UInt8]) -> [UInt8]? {
        { octets in octets.suffix(4).elementsEqual("\r\n\r\n".utf8) ? answer : nil }
    }

    @Test("A request in the clear gets the jar's cookies behind its own")
    func decorates() async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start(answeringHeads(ok))
        try fixture.set("sid=31d4; HttpOnly", at: "http://127.0.0.1/")
        try fixture.set("lang=de", at: "http://127.0.0.1/")
        try await fixture.run { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "GET http://127.0.0.1:\(server.port)/a?b HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nCookie: lang=en\r\nX: y\r\n\r\n"
            )
            let response = await client.response { $0.hasSuffix("hi") }
            #expect(response == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        }
        #expect(
            server.firstRequest
                == "GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nCookie: lang=en; sid=31d4\r\nX: y\r\n\r\n")
        let record = try #require(fixture.records.withLock { $0.first })
        #expect(record.status == 200)
        #expect(record.cookiesSent == ["sid"])
    }

    @Test(
        "A program that found witnesses in a browser's recording sends none of them to a server",
        arguments: ["", "Sec-Fetch-Site: same-origin\r\n"])
    func witnesses(fields: String) async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start(answeringHeads(ok))
        try await fixture.run { address in
            for cookie in ["crumb-witness-1=2; a=1;__Host-crumb-witness-3=4; b=2", "crumb-witness-1=2", "a;b=2"] {
                let client = try await RawClient.connect(to: address)
                try await client.send(
                    "GET http://127.0.0.1:\(server.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\(fields)Cookie: \(cookie)\r\n\r\n"
                )
                _ = await client.response { $0.hasSuffix("hi") }
            }
        }
        let sent = server.requests.withLock { $0 }.map { request in
            String(decoding: request, as: UTF8.self).split(separator: "\r\n").first { $0.hasPrefix("Cookie: ") }.map {
                String($0)
            }
        }
        #expect(sent == ["Cookie: a=1; b=2", nil, "Cookie: a;b=2"])
    }

    @Test(
        "The jar has the cookies of a response before the client gets it, which gets the deletion of what an HttpOnly one replaces"
    )
    func stores() async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start(
            answeringHeads(
                Array(
                    "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; HttpOnly\r\nset-cookie: b=2\r\nContent-Length: 0\r\n\r\n".utf8)
            ))
        try await fixture.run { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "GET http://127.0.0.1:\(server.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            let response = await client.response { $0.hasSuffix("\r\n\r\n") }
            let names = try fixture.jar.cookies().readable.map(\.name)
            #expect(Set(names) == ["a", "b"])
            #expect(
                response
                    == "HTTP/1.1 200 OK\r\nSet-Cookie: a=; HttpOnly; Max-Age=0\r\nset-cookie: b=2\r\nContent-Length: 0\r\n\r\n"
            )
        }
    }

    @Test(
        "A site that has its cookies cleared has none in the jar, and none of the same response",
        arguments: [
            ("\"cookies\"", 1), ("\"storage\", \"cookies\"", 1), ("\"Cookies\"", 3), ("\"*\"", 1), ("cookies", 3),
            ("\"storage\"", 3),
        ])
    func clears(value: String, left: Int) async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start(
            answeringHeads(
                Array("HTTP/1.1 204 No Content\r\nSet-Cookie: b=2\r\nClear-Site-Data: \(value)\r\n\r\n".utf8)))
        try fixture.set("sid=31d4; HttpOnly", at: "http://127.0.0.1/")
        try fixture.set("other=1", at: "https://shop.example/")
        try await fixture.run { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "GET http://127.0.0.1:\(server.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            _ = await client.response { $0.hasSuffix("\r\n\r\n") }
            #expect(try fixture.jar.cookies().readable.count == left)
        }
    }

    @Test("A request that a browser has sent passes unchanged", arguments: ["Origin: null", "Sec-Fetch-Site: none"])
    func browsers(field: String) async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start(answeringHeads(ok))
        try fixture.set("sid=31d4", at: "http://127.0.0.1/")
        try await fixture.run { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "GET http://127.0.0.1:\(server.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\(field)\r\n\r\n")
            _ = await client.response { $0.hasSuffix("hi") }
        }
        #expect(server.firstRequest == "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\(field)\r\n\r\n")
    }

    @Test("Targets and values pass octet for octet", arguments: ["/%zz", "/a|b[c]^", "/\"x\"", "/%7e\u{E9}?a=%"])
    func octets(target: String) async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start(answeringHeads(ok))
        let host = "127.0.0.1:\(server.port)"
        let fields = Array("X-A: 1\r\nx-b:\t".utf8) + [0xE9, 0xFF] + Array("\r\nX-A: 2  \r\nx-c:\r\n\r\n".utf8)
        try await fixture.run { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(Array("GET http://\(host)\(target) HTTP/1.1\r\nHost: \(host)\r\n".utf8) + fields)
            _ = await client.response { $0.hasSuffix("hi") }
        }
        #expect(
            server.requests.withLock { $0.first } == Array("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n".utf8) + fields)
    }

    @Test("Several requests use one connection to the server, and bodies of either kind pass")
    func keepsConnections() async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start { octets in
            let text = String(decoding: octets, as: UTF8.self)
            guard let end = text.range(of: "\r\n\r\n") else { return nil }
            let body = text[end.upperBound...]
            let isComplete =
                text.contains("chunked")
                ? body.hasSuffix("0\r\n\r\n") : text.contains("Content-Length") ? body == "data" : true
            return isComplete
                ? Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhi\r\n0\r\nT: 1\r\n\r\n".utf8)
                : nil
        }
        let host = "127.0.0.1:\(server.port)"
        try await fixture.run { address in
            let client = try await RawClient.connect(to: address)
            for request in [
                "GET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\n\r\n",
                "POST http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 4\r\n\r\ndata",
                "POST http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ndata\r\n0\r\n\r\n",
            ] {
                try await client.send(request)
            }
            let response = await client.response { $0.components(separatedBy: "0\r\nT: 1\r\n\r\n").count == 4 }
            #expect(response.components(separatedBy: "2\r\nhi\r\n0\r\nT: 1\r\n\r\n").count == 4)
        }
        #expect(server.requests.withLock { $0.count } == 3)
    }

    @Test("A tunnel passes what comes through it unread, whoever speaks first", arguments: [true, false])
    func tunnels(clientFirst: Bool) async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start { octets in octets == [0x16, 3, 1] ? [1, 2, 3] : nil }
        try await fixture.run { address in
            let client = try await RawClient.connect(to: address)
            try await client.send("CONNECT 127.0.0.1:\(server.port) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            let established = "HTTP/1.1 200 Connection established\r\n\r\n"
            #expect(await client.response { $0 == established } == established)
            try await client.send([0x16, 3, 1])
            #expect(await client.response { $0.utf8.count > established.utf8.count } == established + "\u{1}\u{2}\u{3}")
        }
    }

    @Test("A request in the clear that comes through a tunnel is decorated")
    func tunnelledRequests() async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start(answeringHeads(ok))
        try fixture.set("sid=31d4", at: "http://127.0.0.1/")
        try await fixture.run { address in
            let client = try await RawClient.connect(to: address)
            try await client.send([5, 1, 0])
            _ = await client.response { $0.utf8.count == 2 }
            try await client.send([5, 1, 0, 1, 127, 0, 0, 1, UInt8(server.port >> 8), UInt8(server.port & 255)])
            _ = await client.response { $0.utf8.count == 12 }
            try await client.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            _ = await client.response { $0.hasSuffix("hi") }
        }
        #expect(server.firstRequest.contains("\r\nCookie: sid=31d4\r\n"))
    }

    @Test(
        "An ambiguous request is refused, and no octet of it reaches the server",
        arguments: [
            "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "Content-Length: +1\r\n\r\n", "Transfer-Encoding: chunked, identity\r\n\r\n", "X : y\r\n\r\n",
            "A: b\r\n folded\r\n\r\n", "A: b\nC: d\r\n\r\n", "A: b\rc\r\n\r\n", "Host: other.example\r\n\r\n",
            "A: \u{0}\r\n\r\n", "no field\r\n\r\n", ": empty\r\n\r\n",
            "Sec-WebSocket-Key: a\r\nSec-WebSocket-Key: b\r\n\r\n",
        ])
    func smuggling(fields: String) async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start { octets in octets }
        let host = "127.0.0.1:\(server.port)"
        try await fixture.run { address in
            let client = try await RawClient.connect(to: address)
            try await client.send("GET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\n\(fields)")
            await client.end()
            let response = await client.response()
            #expect(response.hasPrefix("HTTP/1.1 400 "), "\(response)")
            #expect(response.contains("Proxy-Status: crumb; error=http_request_error"))
        }
        #expect(server.requests.withLock { $0.isEmpty })
    }

    @Test("The gateway does not connect to itself, nor to the metadata services of clouds")
    func prohibited() async throws {
        let fixture = try GatewayFixture()
        try await fixture.run { address in
            for host in [
                "127.0.0.1:\(address.port)", "localhost:\(address.port)", "[::ffff:127.0.0.1]:\(address.port)",
                "169.254.169.254", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "168.63.129.16",
                "[fd00:ec2::254]", "[fd00:ec2::23]", "[fd00:42::42]", "[fd00:0042:0:0::0.0.0.66]",
                "0.0.0.0:\(address.port)", "0:\(address.port)", "[::]:\(address.port)",
                "[::ffff:0.0.0.0]:\(address.port)", "[fd00:c1::a9fe:a9fe]", "[64:ff9b:1:a9fe:a9:fe00::]",
            ] {
                let client = try await RawClient.connect(to: address)
                try await client.send("GET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                let response = await client.response()
                #expect(response.hasPrefix("HTTP/1.1 403 "), "\(host): \(response)")
            }
        }
    }

    @Test(
        "No tunnel leads to the gateway itself",
        arguments: ["127.0.0.1", "0.0.0.0", "0", "0x0.0", "[::1]", "[::]", "[::ffff:0.0.0.0]", "[::ffff:127.0.0.1]"])
    func noTunnelToItself(host: String) async throws {
        try await GatewayFixture().run { address in
            let client = try await RawClient.connect(to: address)
            try await client.send("CONNECT \(host):\(address.port) HTTP/1.1\r\nHost: \(host):\(address.port)\r\n\r\n")
            let response = await client.response()
            #expect(response.hasPrefix("HTTP/1.1 403 "), "\(response)")
            #expect(response.contains("error=destination_ip_prohibited"))
        }
    }

    @Test(
        "No tunnel of SOCKS leads to the gateway itself",
        arguments: [
            [1, 0, 0, 0, 0], [1, 127, 0, 0, 1], [3, 7] + Array("0.0.0.0".utf8), [3, 1] + Array("0".utf8),
            [4] + [UInt8](repeating: 0, count: 16), [4] + [UInt8](repeating: 0, count: 10) + [255, 255, 0, 0, 0, 0],
        ] as [[UInt8]])
    func noSOCKSToItself(target: [UInt8]) async throws {
        try await GatewayFixture().run { address in
            let client = try await RawClient.connect(to: address)
            try await client.send([5, 1, 0])
            _ = await client.octets { $0.count == 2 }
            try await client.send([5, 1, 0] + target + [UInt8(address.port >> 8), UInt8(address.port & 255)])
            let reply = await client.octets { $0.count == 12 }
            // "Connection not allowed by ruleset" (RFC 1928, section 6).
            #expect(reply.dropFirst(2).starts(with: [5, 2]), "\(reply)")
        }
    }

    @Test("The address of all zeros leads to other servers of this machine")
    func zeros() async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start(answeringHeads(ok))
        try await fixture.run { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "GET http://0.0.0.0:\(server.port)/ HTTP/1.1\r\nHost: 0.0.0.0:\(server.port)\r\n\r\n")
            #expect(await client.response { $0.hasSuffix("hi") }.hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("The record of a request has neither its query nor a session in its path")
    func recordedURL() async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start(answeringHeads(ok))
        let origin = "http://127.0.0.1:\(server.port)"
        try await fixture.run { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "GET \(origin)/a;x=1;jsessionid=S/b?token=S HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            _ = await client.response { $0.hasSuffix("hi") }
        }
        #expect(
            fixture.records.withLock { $0.map(\.url) } == ["\(origin)/a;x=1;jsessionid=redacted/b"])
        #expect(server.firstRequest.hasPrefix("GET /a;x=1;jsessionid=S/b?token=S HTTP/1.1\r\n"))
    }

    @Test("A server that cannot be reached is reported with what to do")
    func unreachable() async throws {
        let fixture = try GatewayFixture()
        // A port that no system gives to a server that asks for any.
        let port = 1
        try await fixture.run { address in
            let client = try await RawClient.connect(to: address)
            try await client.send("GET http://127.0.0.1:\(port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
            let response = await client.response()
            #expect(response.hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
            #expect(response.contains("Proxy-Status: crumb; error=connection_refused"))
            #expect(response.contains("Content-Security-Policy: \(MessagePage.securityPolicy)\r\n"))
            #expect(response.contains(MessagePage.style))
        }
    }

    @Test("The server's connection ends with a client that does not wait any more", arguments: ["", "body"])
    func clientsGoAway(body: String) async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start { octets in
            octets.count > 4 && String(decoding: octets, as: UTF8.self).contains("\r\n\r\n\(body)") ? [] : nil
        }
        var settings = GatewaySetup.forTools
        settings.limits.ended = .zero
        try await fixture.run(settings) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "POST http://127.0.0.1:\(server.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
                    + (body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n") + "\r\n\(body)")
            await server.requested()
            client.close()
            await server.ended()
        }
        #expect(fixture.records.withLock { $0.first?.status } == nil)
    }
}
