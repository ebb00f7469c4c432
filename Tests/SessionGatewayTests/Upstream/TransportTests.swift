import CookieModel
import NIOCore
import NIOPosix
import Platform
import Synchronization
import Testing

@testable import SessionGateway

@Suite("Connections of a gateway, and how long they wait")
struct TransportTests {
    private static let ok = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8)

    private static func settings(_ addresses: String...) -> GatewaySetup {
        var settings = GatewaySetup.forTools
        settings.resolver = { FixedResolver(loop: $0, addresses: addresses) }
        return settings
    }

    private static func server(_ answer: [UInt8] = ok) async throws -> RecordingServer {
        try await RecordingServer.start { octets in
            octets.suffix(4).elementsEqual("\r\n\r\n".utf8) ? answer : nil
        }
    }

    private static func get(_ authority: String, through address: GatewayAddress) async throws -> RawClient {
        let client = try await RawClient.connect(to: address)
        try await client.send("GET http://\(authority)/ HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
        return client
    }

    #if os(Linux)
        @Test("An address that does not answer does not hold a request whose server has another one")
        func deadAddress() async throws {
            let server = try await Self.server()
            // The queue of this listener is full, so the kernel drops what would connect to it.
            let dead = try FullListener(port: server.port)
            defer { dead.close() }
            try await GatewayFixture().run(Self.settings("::1", "127.0.0.1")) { address in
                let client = try await Self.get("shop.example:\(server.port)", through: address)
                #expect(await client.response { $0.hasSuffix("hi") }.hasPrefix("HTTP/1.1 200 "))
            }
        }
    #endif

    @Test("A name that leads to an address that may not be reached is refused", arguments: ["169.254.169.254", "::1"])
    func prohibited(target: String) async throws {
        try await GatewayFixture().run(Self.settings(target == "::1" ? "127.0.0.1" : target)) { address in
            let port = target == "::1" ? address.port : 80
            let client = try await Self.get("shop.example:\(port)", through: address)
            let response = await client.response()
            #expect(response.hasPrefix("HTTP/1.1 403 "))
            #expect(response.contains("Proxy-Status: crumb; error=destination_ip_prohibited"))
        }
    }

    @Test("Of several addresses, one that may not be reached is left out")
    func oneProhibited() async throws {
        let server = try await Self.server()
        try await GatewayFixture().run(Self.settings("fd00:ec2::254", "127.0.0.1")) { address in
            let client = try await Self.get("shop.example:\(server.port)", through: address)
            #expect(await client.response { $0.hasSuffix("hi") }.hasPrefix("HTTP/1.1 200 "))
        }
    }

    struct Handshake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The server's answer to a ClientHello; empty for none.
        let answer: [UInt8]
        let status: Int
        let failure: String
        let sentence: String
    }

    @Test(
        "A TLS handshake that fails is reported by its reason",
        arguments: [
            Handshake(
                testDescription: "no answer", answer: [], status: 504, failure: "connection_timeout",
                sentence: "does not finish the TLS handshake in time"),
            Handshake(
                testDescription: "an alert", answer: [0x15, 3, 3, 0, 2, 2, 40], status: 502,
                failure: "tls_alert_received", sentence: "refuses the TLS handshake"),
            Handshake(
                testDescription: "no TLS", answer: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), status: 502,
                failure: "tls_protocol_error", sentence: "does not speak TLS"),
        ])
    func handshakes(handshake: Handshake) async throws {
        let server = try await RecordingServer.start { _ in handshake.answer.isEmpty ? nil : handshake.answer }
        let fixture = try GatewayFixture()
        var settings = GatewaySetup.forTools
        settings.origins = [GatewaySettings.Origin(try RequestURL("https://localhost:\(server.port)/"))]
        settings.cookies = .strip
        if handshake.answer.isEmpty { settings.limits.connect = .milliseconds(500) }
        try await fixture.run(settings) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send("GET / HTTP/1.1\r\nHost: \(address)\r\n\r\n")
            let response = await client.response()
            #expect(response.hasPrefix("HTTP/1.1 \(handshake.status) "), "\(response)")
            #expect(response.contains("localhost:\(server.port) \(handshake.sentence)"), "\(response)")
        }
        #expect(fixture.records.withLock { $0.map(\.failure) } == [handshake.failure])
    }

    @Test("An address that cannot be listened on is reported with the reason and the next step")
    func notListening() async throws {
        let server = try await Self.server()
        for (host, port, message) in [
            (
                "127.0.0.1", server.port,
                "cannot listen on 127.0.0.1:\(server.port): another program listens there. "
                    + "Choose another port, or 0 for a free one."
            ),
            (
                "192.0.2.1", 0,
                "cannot listen on 192.0.2.1:0: this machine does not have that address. Use 127.0.0.1 or [::1]."
            ),
        ] {
            var settings = GatewaySetup.forTools
            (settings.host, settings.port) = (host, port)
            do {
                try await GatewayFixture().run(settings) { _ in }
                Issue.record("it listens on \(host)")
            } catch let error as GatewayError {
                #expect(error.description == message)
            }
        }
    }

    @Test("A client that sends no request is let go without a word")
    func idle() async throws {
        var settings = GatewaySetup.forTools
        settings.limits.idle = .milliseconds(50)
        try await GatewayFixture().run(settings) { address in
            let client = try await RawClient.connect(to: address)
            #expect(await client.response().isEmpty)
        }
    }

    @Test(
        "A client that sends only part of its request gets an error",
        arguments: [
            ("GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\n", "head"),
            ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: 5\r\n\r\nhe", "body"),
        ])
    func slowRequest(octets: String, part: String) async throws {
        let server = try await RecordingServer.start { _ in nil }
        var settings = GatewaySetup.forTools
        settings.limits.head = .milliseconds(50)
        settings.limits.body = .milliseconds(50)
        try await GatewayFixture().run(settings) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(octets.replacing("HOST", with: "127.0.0.1:\(server.port)"))
            let response = await client.response()
            #expect(response.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
            #expect(response.contains("Proxy-Status: crumb; error=http_request_error"))
            #expect(response.contains("does not send the \(part) of its request in time"))
        }
    }

    @Test("A server that does not answer is reported; one that stops in its body ends the client's connection")
    func slowResponse() async throws {
        let part = Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi".utf8)
        for (answer, start) in [([], "HTTP/1.1 504 "), (part, "HTTP/1.1 200 ")] {
            let server = try await Self.server(answer)
            let fixture = try GatewayFixture()
            var settings = GatewaySetup.forTools
            if answer.isEmpty { settings.limits.response = .milliseconds(50) }
            settings.limits.body = .milliseconds(50)
            try await fixture.run(settings) { address in
                let client = try await Self.get("127.0.0.1:\(server.port)", through: address)
                let response = await client.response()
                #expect(response.hasPrefix(start))
                #expect(answer.isEmpty ? response.contains("error=connection_read_timeout") : response.hasSuffix("hi"))
            }
            #expect(fixture.records.withLock { $0.first?.failure } == "connection_read_timeout")
        }
    }

    #if os(Linux)
        @Test("The server's connection ends at once with a client that has closed its own, however long others wait")
        func closed() async throws {
            let server = try await Self.server([])
            var settings = GatewaySetup.forTools
            settings.limits.ended = .hours(1)
            try await GatewayFixture().run(settings) { address in
                let client = try await Self.get("127.0.0.1:\(server.port)", through: address)
                await server.requested()
                client.close()
                await server.ended()
            }
        }
    #endif

    @Test("A client that has finished sending still gets its response")
    func halfClosed() async throws {
        let server = try await Self.server()
        try await GatewayFixture().run(.forTools) { address in
            let client = try await Self.get("127.0.0.1:\(server.port)", through: address)
            await client.end()
            #expect(await client.response { $0.hasSuffix("hi") }.hasPrefix("HTTP/1.1 200 "))
        }
    }
}

/// Has one name stand for given addresses.
struct FixedResolver: Resolver, Sendable {
    let loop: any EventLoop
    let addresses: [String]

    private func addresses(_ port: Int, where isWanted: (String) -> Bool) -> EventLoopFuture<[SocketAddress]> {
        loop.makeCompletedFuture {
            try addresses.filter(isWanted).map { try SocketAddress(ipAddress: $0, port: port) }
        }
    }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        addresses(port) { !$0.contains(":") }
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        addresses(port) { $0.contains(":") }
    }

    func cancelQueries() {}
}

#if os(Linux)
    /// A listener at `::1` that accepts nothing, and whose queue is full.
    struct FullListener {
        private let descriptors: [Int32]

        init(port: Int) throws {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = in_port_t(UInt16(port).bigEndian)
            address.sin6_addr.__in6_u.__u6_addr8.15 = 1
            func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
                withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                    }
                }
            }
            let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            let listener = socket(AF_INET6, type, 0)
            try #require(listener >= 0)
            var one: Int32 = 1
            setsockopt(listener, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one, socklen_t(MemoryLayout<Int32>.size))
            var descriptors = [listener]
            let isBound = withAddress { bind(listener, $0, $1) } == 0 && listen(listener, 0) == 0
            if isBound {
                // The first ones fill the queue. One that is not connected at once finds it full.
                var isFull = false
                while !isFull && descriptors.count < 8 {
                    let client = socket(AF_INET6, type, 0)
                    _ = withAddress { connect(client, $0, $1) }
                    var peer = sockaddr_storage()
                    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
                    isFull = withUnsafeMutableBytes(of: &peer) { bytes in
                        bytes.withMemoryRebound(to: sockaddr.self) { getpeername(client, $0.baseAddress, &size) } != 0
                    }
                    if isFull { Platform.close(client) } else { descriptors.append(client) }
                }
            }
            self.descriptors = descriptors
            try #require(isBound)
        }

        func close() { for descriptor in descriptors { Platform.close(descriptor) } }
    }
#endif
