import CookieModel
import Foundation
import NIOCore
import SessionStore
import Synchronization
import Testing

@testable import SessionGateway

/// How clients sign in, and what they get otherwise.
extension ClientUsersTests {
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

    @Test(
        "A client that has not signed in does not hold a connection for long", .timeLimit(.minutes(10)),
        arguments: ["silent", "line", "407"])
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

    @Test(
        "A SOCKS client that sends one octet after the other has one time limit for all of them",
        .timeLimit(.minutes(10)))
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
}

extension String {
    /// A field line with its name in lower case.
    fileprivate var lowercasedName: String { replacing("Proxy-Authorization", with: "proxy-authorization") }
}
