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
    private static func server() async throws -> RecordingServer {
        try await RecordingServer.start { octets in
            guard octets.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return nil }
            let text = String(decoding: octets, as: UTF8.self)
            let users = ["ada", "ben"].filter { text.contains("user=\($0)") || text.contains("only-\($0)") }
            let name = users.count == 1 ? users[0] : users.isEmpty ? "nil" : "mix"
            return Array("HTTP/1.1 200 OK\r\nSet-Cookie: only-\(name)=1\r\nContent-Length: 3\r\n\r\n\(name)".utf8)
        }
    }

    private static func setup(_ users: TestUser...) -> GatewaySetup {
        var setup = GatewaySetup.forTools
        setup.users = users.map(\.user)
        return setup
    }

    private static func request(_ server: RecordingServer, _ fields: String = "") -> String {
        "GET http://127.0.0.1:\(server.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\(fields)\r\n"
    }

    private static func url(_ server: RecordingServer) -> String { "http://127.0.0.1:\(server.port)/" }

    @Test("A request with the credentials of no user gets 407, and nothing of it reaches a server")
    func credentials() async throws {
        let fixture = try GatewayFixture()
        let server = try await Self.server()
        let ada = try fixture.user("ada", at: Self.url(server))
        let ben = try fixture.user("ben", at: Self.url(server))
        func field(_ text: String, _ scheme: String = "Basic") -> String {
            "Proxy-Authorization: \(scheme) \(Data(text.utf8).base64EncodedString())\r\n"
        }
        let right = "ada:\(ada.secret)"
        let refused = [
            "", "Proxy-Authorization: \r\n", "Proxy-Authorization: Basic\r\n", "Proxy-Authorization: Basic !!!\r\n",
            field(right).replacing("\r\n", with: "=\r\n"), field(right).replacing("Basic ", with: ""),
            field(right, "Bearer"), field(right, "Basicx"), field("ada"), field("ada:"), field(":"),
            field(":\(ada.secret)"), field("eve:\(ada.secret)"), field("Ada:\(ada.secret)"),
            field("ada:\(ben.secret)"), field("ada:\(ada.secret.dropLast())"), field("ada:\(ada.secret)x"),
            field("ada: \(ada.secret)"), field("ada:\(ada.user.secret.text)"), field(right) + field(right),
            field(right) + ben.field, field(right).replacing("Proxy-", with: ""),
        ]
        let accepted = [field(right), field(right, "basic"), field(right, "BASIC "), ada.field.lowercasedName]
        try await fixture.run(Self.setup(ada, ben)) { address in
            for (fields, isAccepted) in refused.map({ ($0, false) }) + accepted.map({ ($0, true) }) {
                for text in [
                    Self.request(server, fields),
                    "CONNECT 127.0.0.1:\(server.port) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\(fields)\r\n",
                ] {
                    let client = try await RawClient.connect(to: address)
                    try await client.send(text)
                    let response = await client.response { $0.contains("\r\n\r\n") }
                    #expect(response.hasPrefix("HTTP/1.1 \(isAccepted ? 200 : 407) "), "\(fields): \(response)")
                    let hasChallenge = response.contains("\r\nProxy-Authenticate: Basic realm=\"Crumb gateway\"\r\n")
                    #expect(hasChallenge != isAccepted)
                    #expect(!response.contains(ada.secret) && !response.contains("ada:"))
                    client.close()
                }
            }
        }
        let requests = server.requests.withLock { $0.map { String(decoding: $0, as: UTF8.self) } }
        #expect(requests.count == accepted.count)
        #expect(!requests.joined().lowercased().contains("proxy-authorization"))
        // Tunnels that end without a request may be reported, too.
        let records = fixture.records.withLock { $0.filter { $0.method == "GET" || $0.status == 407 } }
        #expect(records.count == 2 * refused.count + accepted.count)
        for record in records {
            #expect(record.user == (record.status == 407 ? nil : "ada"))
            #expect(record.status != 407 || record.failure == "http_request_denied" && !record.isDecorated)
            #expect(!"\(record)".contains(ada.secret))
        }
    }

    @Test(
        "A malformed request gets its own status, also without credentials", arguments: ["", "Proxy-Authorization: x"])
    func malformed(field: String) async throws {
        let fixture = try GatewayFixture()
        let ada = try fixture.user("ada", at: "http://127.0.0.1/")
        try await fixture.run(Self.setup(ada)) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "GET http://127.0.0.1/ HTTP/1.1\r\nX : y\r\n\(field.isEmpty ? "" : "\(field)\r\n")\r\n")
            #expect(await client.response().hasPrefix("HTTP/1.1 400 "))
        }
        #expect(fixture.records.withLock { $0.map(\.user) } == [nil])
    }

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

    @Test("A SOCKS client signs in with a name and a password", arguments: ["right", "wrong", "none", "cut"])
    func socks(kind: String) async throws {
        let fixture = try GatewayFixture()
        let server = try await Self.server()
        let ada = try fixture.user("ada", at: Self.url(server))
        try await fixture.run(Self.setup(ada)) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(kind == "none" ? [5, 1, 0] : [5, 2, 0, 2])
            guard kind != "none" else {
                #expect(await client.octets { _ in false } == [5, 0xFF])
                return
            }
            #expect(await client.octets { $0.count == 2 } == [5, 2])
            let secret = Array((kind == "right" ? ada.secret : "crumb_x").utf8)
            let message = [1, 3] + Array("ada".utf8) + [UInt8(secret.count)] + secret
            guard kind != "cut" else {
                try await client.send(Array(message.prefix(4)))
                return await client.end()
            }
            try await client.send(message)
            guard kind == "right" else {
                #expect(await client.octets { _ in false } == [5, 2, 1, 1])
                return
            }
            #expect(await client.octets { $0.count == 4 } == [5, 2, 1, 0])
            try await client.send([5, 1, 0, 1, 127, 0, 0, 1, UInt8(server.port >> 8), UInt8(server.port & 255)])
            _ = await client.octets { $0.count == 14 }
            try await client.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n")
            #expect(await client.response { $0.hasSuffix("ada") }.hasSuffix("\r\n\r\nada"))
        }
        let isRight = kind == "right"
        #expect(server.requests.withLock { $0.count } == (isRight ? 1 : 0))
        let records = fixture.records.withLock { $0 }
        #expect(records.map(\.user) == (kind == "cut" ? [] : [isRight ? "ada" : nil]))
        #expect(isRight || records.allSatisfy { $0.failure == "http_request_denied" })
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

    @Test("A recording has no credentials of users, with and without secrets", arguments: [true, false])
    func recordings(hasSecrets: Bool) async throws {
        let folder = RecordingFolder()
        let fixture = try GatewayFixture()
        let server = try await Self.server()
        let ada = try fixture.user("ada", at: Self.url(server))
        var settings = Self.setup(ada)
        settings.recording = try folder.recording("a.har", withSecrets: hasSecrets)
        try await fixture.run(settings) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(Self.request(server, ada.field))
            _ = await client.response { $0.hasSuffix("ada") }
            try await client.send(Self.request(server, TestUser.field("ada", "crumb_other")))
            #expect(await client.response().contains("HTTP/1.1 407 "))
        }
        let text = try String(contentsOfFile: folder.path("a.har"), encoding: .utf8)
        #expect(!text.contains(ada.secret) && !text.contains(ada.field.dropFirst(28).prefix(40)))
        #expect(!text.lowercased().contains("proxy-authorization"))
        #expect(try HARFile(folder.path("a.har")).entries.count == 1)
    }

    @Test("The 407 of a proxy in front of the servers does not look like the gateway's own")
    func proxy() async throws {
        let fixture = try GatewayFixture()
        let server = try await RecordingServer.start { octets in
            guard octets.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return nil }
            return Array(
                "HTTP/1.1 407 x\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n".utf8)
        }
        let ada = try fixture.user("ada", at: "http://shop.example/")
        var settings = Self.setup(ada)
        settings.proxy = { _ in GatewayEnvironment.UpstreamProxy(host: "127.0.0.1", port: server.port) }
        try await fixture.run(settings) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send("GET http://shop.example/ HTTP/1.1\r\nHost: shop.example\r\n\(ada.field)\r\n")
            let response = await client.response()
            #expect(response.hasPrefix("HTTP/1.1 502 ") && !response.contains("Proxy-Authenticate"), "\(response)")
            #expect(response.contains("Check the credentials for the proxy."))
        }
        #expect(fixture.records.withLock { $0.map(\.status) } == [502])
    }

    @Test("A client that has not signed in does not hold a connection for long", arguments: ["silent", "line", "407"])
    func unsigned(kind: String) async throws {
        let fixture = try GatewayFixture()
        let clock = ManualClock()
        var settings = Self.setup(try fixture.user("ada", at: "http://127.0.0.1/"))
        settings.clock = clock
        let limits = settings.limits
        try await fixture.run(settings) { address in
            // The connection of a client that goes on reading and sends no end is the gateway's to close.
            let client = try await RawClient.connect(to: address, reading: false)
            try await client.read()
            switch kind {
            case "407":
                try await client.send("GET http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                #expect(await client.response { $0.contains("\r\n\r\n") }.hasPrefix("HTTP/1.1 407 "))
                await clock.advance(when: .seconds(2))
            case "line":
                try await client.send("\r\n")
                await clock.advance(when: limits.head)
            default:
                await clock.advance(when: limits.head)
            }
            let response = await client.response()
            #expect(kind == "407" || response.isEmpty)
        }
    }

    @Test("A SOCKS client that sends one octet after the other has one time limit for all of them")
    func slowSOCKS() async throws {
        let clock = ManualClock()
        var settings = GatewaySetup.forTools
        settings.clock = clock
        settings.limits.head = .seconds(30)
        try await GatewayFixture().run(settings) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send([5, 1, 0])
            #expect(await client.octets { $0.count == 2 } == [5, 0])
            clock.advance(by: .seconds(20))
            try await client.send([5, 1])
            await clock.advance(when: .seconds(10))
            #expect(await client.octets { _ in false } == [5, 0])
        }
    }

    @Test("A gateway for users needs different users with jars of one database, and offers no sites")
    func refusals() throws {
        let fixture = try GatewayFixture()
        let ada = try fixture.user("ada", at: "http://127.0.0.1/").user
        let same = try GatewayUser(name: "ada", jar: fixture.jar, secret: ada.secret)
        let other = try GatewayFixture().user("ben", at: "http://127.0.0.1/").user
        var offering = GatewaySettings()
        offering.cookies = .strip
        offering.origins = [GatewaySettings.Origin(try RequestURL("https://shop.example/"))]
        let cases: [(users: [GatewayUser], settings: GatewaySettings, reason: String)] = [
            ([], GatewaySettings(), "there is none"), ([ada, same], GatewaySettings(), "the same name"),
            ([ada, other], GatewaySettings(), "several databases"), ([ada], offering, "cannot sign in"),
        ]
        for (users, settings, reason) in cases {
            do {
                _ = try Gateway(users: users, settings: settings) { .now }
                Issue.record("\(reason)")
            } catch {
                #expect(error.code == .usersInvalid && error.description.contains(reason), "\(error)")
            }
        }
        let replayed = RecordingFolder()
        var replaying = GatewayEnvironment()
        replaying.replay = try replayed.replay()
        let error = #expect(throws: GatewayError.self) {
            try Gateway(users: [ada], settings: GatewaySettings(), environment: replaying) { .now }
        }
        #expect(error?.code == .usersInvalid && error?.description.contains("one recording") == true)
        // Two users of one jar have the same session.
        let twin = try GatewayUser(name: "twin", jar: ada.jar, secret: ada.secret)
        _ = try Gateway(users: [ada, twin], settings: GatewaySettings()) { .now }
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

extension String {
    /// A field line with its name in lower case.
    fileprivate var lowercasedName: String { replacing("Proxy-Authorization", with: "proxy-authorization") }
}
