import CookieModel
import Foundation
import NIOCore
import NIOHPACK
import SessionStore
import Synchronization
import TestSupport
import Testing

@testable import SessionGateway

@Suite("Users of a gateway")
struct ClientUsersTests {
    /// A server whose response has the name of the user whose cookie it gets, and sets a cookie of that name.
    static func server() async throws -> RecordingServer {
        try await RecordingServer.start { octets in
            guard octets.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return nil }
            let text = String(decoding: octets, as: UTF8.self)
            let users = ["ada", "ben"].filter { text.contains("user=\($0)") || text.contains("only-\($0)") }
            let name = users.count == 1 ? users[0] : users.isEmpty ? "nil" : "mix"
            return Array("HTTP/1.1 200 OK\r\nSet-Cookie: only-\(name)=1\r\nContent-Length: 3\r\n\r\n\(name)".utf8)
        }
    }

    static func setup(_ users: TestUser...) -> GatewaySetup {
        var setup = GatewaySetup.forTools
        setup.users = users.map(\.user)
        return setup
    }

    static func request(_ server: RecordingServer, _ fields: String = "") -> String {
        "GET http://127.0.0.1:\(server.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\(fields)\r\n"
    }

    static func url(_ server: RecordingServer) -> String { "http://127.0.0.1:\(server.port)/" }

    @Test("Requests of two users at the same time never meet, also those of one connection")
    func isolation() async throws {
        let count = (Int(ProcessInfo.processInfo.environment["CRUMB_GATEWAY_MESSAGES"] ?? "") ?? 400) / 4
        let fixture = try GatewayFixture()
        let server = try await Self.server()
        let users = [
            try fixture.user("ada", at: Self.url(server)), try fixture.user("ben", at: Self.url(server)),
        ]
        try await fixture.run(Self.setup(users[0], users[1])) { address in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for seed in 1...4 as ClosedRange<UInt64> {
                    group.addTask {
                        var generator = SeededGenerator(seed: seed)
                        let client = try await RawClient.connect(to: address)
                        var expected: [UInt8] = []
                        for _ in 0..<count {
                            let user = users[Bool.random(using: &generator) ? 0 : 1]
                            let name = user.user.name
                            expected += Array(
                                "HTTP/1.1 200 OK\r\nSet-Cookie: only-\(name)=1\r\nContent-Length: 3\r\n\r\n\(name)".utf8
                            )
                            try await client.send(Self.request(server, user.field))
                            let octets = await client.octets { [count = expected.count] in $0.count >= count }
                            guard octets == expected else {
                                Issue.record("seed \(seed): \(String(decoding: octets.suffix(300), as: UTF8.self))")
                                return
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        for user in users {
            let name = user.user.name
            let cookies = try user.user.jar.cookies().readable.map(\.name.description)
            #expect(Set(cookies) == ["user", "only-\(name)"])
        }
        for record in fixture.records.withLock({ $0 }) {
            let user = try #require(record.user)
            #expect(record.cookiesStored == [Octets("only-\(user)")])
            #expect(record.cookiesSent.first == "user" && record.cookiesSent.count < 3)
        }
    }

    @Test("A connection whose user changes uses one connection to the server for each, and ends with a wrong secret")
    func changes() async throws {
        let fixture = try GatewayFixture()
        let server = try await Self.server()
        let ada = try fixture.user("ada", at: Self.url(server))
        let ben = try fixture.user("ben", at: Self.url(server))
        try await fixture.run(Self.setup(ada, ben)) { address in
            let client = try await RawClient.connect(to: address)
            var count = 0
            for user in [ada, ada, ben, ben, ada, ben] {
                count += 1
                try await client.send(Self.request(server, user.field))
                let response = await client.response {
                    $0.components(separatedBy: "Content-Length: 3\r\n\r\n").count > count
                        && $0.hasSuffix(user.user.name)
                }
                #expect(response.hasSuffix(user.user.name), "\(response)")
            }
            // No credentials: those of the request before do not hold.
            try await client.send(Self.request(server))
            #expect(await client.response().contains("HTTP/1.1 407 "))
        }
        #expect(server.connections.withLock { $0 } == 2)
        #expect(server.requests.withLock { $0.count } == 6)
        #expect(
            fixture.records.withLock { $0.map(\.user) } == ["ada", "ada", "ben", "ben", "ada", "ben", nil])
    }

    @Test("The credentials of a CONNECT request hold for all requests in its tunnel, and those in it are dropped")
    func tunnels() async throws {
        let fixture = try GatewayFixture()
        let server = try await Self.server()
        let ada = try fixture.user("ada", at: Self.url(server))
        let ben = try fixture.user("ben", at: Self.url(server))
        try await fixture.run(Self.setup(ada, ben)) { address in
            let client = try await RawClient.connect(to: address)
            let host = "127.0.0.1:\(server.port)"
            try await client.send("CONNECT \(host) HTTP/1.1\r\nHost: \(host)\r\n\(ada.field)\r\n")
            _ = await client.response { $0.hasSuffix("established\r\n\r\n") }
            for (number, fields) in ["", ben.field, "Proxy-Authorization: x\r\n"].enumerated() {
                try await client.send("GET /\(number) HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n")
                let response = await client.response {
                    $0.components(separatedBy: "Content-Length: 3\r\n\r\nada").count > number + 1
                }
                #expect(response.hasSuffix("\r\n\r\nada"), "\(response)")
            }
        }
        let requests = server.requests.withLock { $0.map { String(decoding: $0, as: UTF8.self) } }
        #expect(requests.count == 3)
        #expect(!requests.joined().lowercased().contains("proxy-authorization"))
        #expect(fixture.records.withLock { $0.map(\.user) } == ["ada", "ada", "ada"])
    }

    @Test("Two users have connections of HTTP/2 to a server of their own, and those of one tunnel share one")
    func decrypted() async throws {
        let server = try await HTTP2Server.start { request, _ in
            request.isComplete
                ? [.headers([":status": "200", "content-length": "2"], ends: false), .data("hi")] : nil
        }
        let host = try #require(WebHost("localhost"))
        let authority = try CertificateAuthority(for: [host], now: .now)
        let fixture = try GatewayFixture()
        let url = "https://localhost:\(server.port)/"
        let (ada, ben) = (try fixture.user("ada", at: url), try fixture.user("ben", at: url))
        var settings = Self.setup(ada, ben)
        settings.intercept(host, by: authority)
        settings.tls = try server.settings.tls
        try await fixture.run(settings) { [port = server.port] address in
            for user in [ada, ben, ada] {
                let client = try await HTTP2ServerConnection.connect(
                    to: host, port, through: address, trusting: authority, user.field)
                for _ in 0..<2 {
                    let request = try #require(await client.open().stream)
                    try await request.write(
                        ByteBuffer(string: "GET / HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n"))
                    let response = String(decoding: try await request.head(idle: nil, within: nil) ?? [], as: UTF8.self)
                    #expect(response.hasPrefix("HTTP/1.1 200 "), "\(response)")
                }
                client.close()
            }
        }
        let requests = server.requests.withLock { $0 }
        let cookies = requests.map { $0.headers.first(name: "cookie") }
        #expect(cookies == ["user=ada", "user=ada", "user=ben", "user=ben", "user=ada", "user=ada"])
        for name in ["ada", "ben"] {
            let connections = requests.filter { $0.headers.first(name: "cookie") == "user=\(name)" }.map(\.connection)
            #expect(Set(connections).count == 1)
        }
        #expect(Set(requests.map(\.connection)).count == 2)
    }

    @Test("The handshake of a WebSocket is that of its user, and octets pass")
    func webSocket() async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start { octets in
            guard octets.suffix(4).elementsEqual("\r\n\r\n".utf8) else {
                return octets == Array("ping".utf8) ? octets : nil
            }
            return Array(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n".utf8)
        }
        let ada = try fixture.user("ada", at: Self.url(server))
        let ben = try fixture.user("ben", at: Self.url(server))
        try await fixture.run(Self.setup(ada, ben)) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                Self.request(
                    server,
                    "\(ben.field)Connection: Upgrade, Proxy-Authorization\r\nUpgrade: websocket\r\n"
                        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"))
            let head = await client.response { $0.hasSuffix("\r\n\r\n") }
            #expect(head.hasPrefix("HTTP/1.1 101 "), "\(head)")
            try await client.send("ping")
            #expect(await client.response { $0.hasSuffix("ping") } == head + "ping")
        }
        let request = server.firstRequest
        #expect(request.contains("\r\nCookie: user=ben\r\n"), "\(request)")
        #expect(!request.lowercased().contains("proxy-authorization") && !request.contains(ben.secret))
    }

    @Test("All users have one path for events, and knowledge of their browsers of their own")
    func browsers() throws {
        let fixture = try GatewayFixture()
        let (ada, ben) = (
            try fixture.user("ada", at: "https://shop.example/"), try fixture.user("ben", at: "https://shop.example/")
        )
        var environment = GatewayEnvironment()
        let events = Mutex<[String?]>([])
        environment.pageEvents = { event in events.withLock { $0.append(event.user) } }
        environment.authority = try CertificateAuthority(for: [try #require(WebHost("shop.example"))], now: .now)
        let entrance = GatewayFrame(
            jar: ada.user.jar, settings: GatewaySettings(), environment: environment, now: { .now },
            observing: { _ in })
        let frames = [GatewayFrame(of: ada.user, in: entrance), GatewayFrame(of: ben.user, in: entrance)]
        #expect(frames.map { $0.gate.events?.path } == [entrance.gate.events?.path, entrance.gate.events?.path])
        #expect(entrance.gate.events?.path != nil)
        #expect(frames[0].gate.profile !== frames[1].gate.profile && frames[0].gate.profile !== entrance.gate.profile)
        #expect(frames.map(\.gate.jar.name) == ["ada", "ben"])
        for frame in frames { frame.environment.pageEvents?(PageEvent(time: .now, origin: "", query: [], body: [])) }
        #expect(events.withLock { $0 } == ["ada", "ben"])
    }
}
