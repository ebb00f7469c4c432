import CookieModel
import Crypto
import Foundation
import HTTPTypes
import NIOCore
import NIOHPACK
import OAuth2
import RequestDecoration
import SessionStore
import Synchronization
import Testing
import WebPrimitives

@testable import SessionGateway

@Suite("Login fallback of a gateway")
struct GatewayLoginTests {
    private let fixture: GatewayFixture
    private let tokens = TokenEndpoint()

    init() throws {
        fixture = try GatewayFixture()
    }

    /// A token endpoint that renews tokens, or refuses to.
    private final class TokenEndpoint: EndpointTransport {
        let calls = Mutex(0)
        let isRefusing = Mutex(false)
        let isDown = Mutex(false)

        func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
            calls.withLock { $0 += 1 }
            guard !isDown.withLock({ $0 }) else { return EndpointResponse(status: .serviceUnavailable, body: []) }
            let body =
                isRefusing.withLock { $0 }
                ? #"{"error":"invalid_grant"}"# : #"{"access_token":"renewed","expires_in":600}"#
            return EndpointResponse(status: isRefusing.withLock { $0 } ? .badRequest : .ok, body: Array(body.utf8))
        }
    }

    /// A site that takes the renewed token only.
    private static func site(early isEarly: Bool = false) async throws -> RecordingServer {
        try await RecordingServer.start { octets in
            guard let end = octets.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
            let head = String(decoding: octets[..<end.upperBound], as: UTF8.self)
            let isSignedIn = head.contains("session=renewed") || head.contains("Authorization: Bearer renewed")
            if !isSignedIn, isEarly || isComplete(octets, head, from: end.upperBound) {
                return Array(
                    ("HTTP/1.1 401 Unauthorized\r\nSet-Cookie: hint=again\r\nClear-Site-Data: \"cache\"\r\n"
                        + "Set-Cookie: session=; Path=/; Max-Age=0\r\nContent-Length: 6\r\n\r\nno way").utf8)
            }
            guard isSignedIn, isComplete(octets, head, from: end.upperBound) else { return nil }
            return Array("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nwelcome".utf8)
        }
    }

    private static func isComplete(_ octets: [UInt8], _ head: String, from start: Int) -> Bool {
        if head.contains("Transfer-Encoding: chunked") {
            return octets.suffix(15).elementsEqual("0\r\nX-End: 1\r\n\r\n".utf8)
        }
        let length = head.components(separatedBy: "Content-Length: ").dropFirst().first
        return octets.count - start >= Int(length?.prefix { $0.isNumber } ?? "0") ?? 0
    }

    private func settings(
        _ delivery: LoginRule.Delivery, for server: RecordingServer, client: GatewaySettings.Client = .tool
    ) throws -> GatewaySetup {
        var settings = GatewaySetup()
        settings.client = client
        try addLogin(delivery, at: "http://127.0.0.1:\(server.port)/", to: &settings)
        return settings
    }

    /// Has the gateway log in to a site again.
    private func addLogin(
        _ delivery: LoginRule.Delivery, at scope: String, signs: LoginRule.Signs = LoginRule.Signs(),
        to settings: inout GatewaySetup
    ) throws {
        let jar = fixture.jar
        try jar.tokens.put(
            TokenSet(
                accessToken: Secret("old"), refreshToken: Secret("refresh-r"), receivedAt: Timestamp.now,
                accessTokenExpiry: Timestamp.now.advanced(bySeconds: -600)),
            for: Profile(id: ProfileID(), name: "p"),
            credentials: ProfileCredentials(
                settings: ProfileSettings(grant: .imported, endpoints: [.token: "https://id.test/token"])),
            now: .now)
        try jar.setLoginRule(
            LoginRule(scope: scope, signs: signs, profile: "p", delivery: delivery), named: "site")
        let refresher = TokenRefresher(
            store: jar.tokens, transport: tokens, process: 1, now: { [fixture] in fixture.now })
        settings.fallback = { [tokens] rules in
            LoginFallback(rules: rules, store: jar.tokens, refresher: refresher, transport: tokens)
        }
    }

    private static func cookie() throws -> LoginRule.Delivery {
        .cookie(try CookieTemplate("session={access_token}; Path=/; HttpOnly"))
    }

    private static func post(
        _ server: RecordingServer, _ address: GatewayAddress, _ rest: [UInt8], method: String = "POST"
    ) async throws -> String {
        let client = try await RawClient.connect(to: address)
        defer { client.close() }
        let text = "\(method) http://127.0.0.1:\(server.port)/order HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"
        try await client.send(Array(text.utf8) + rest)
        return await client.response { $0.hasSuffix("welcome") || $0.hasSuffix("no way") }
    }

    private static func message(length: Int) -> [UInt8] {
        let body = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        return Array("Content-Length: \(length)\r\n\r\n".utf8) + body
    }

    private static func chunked(length: Int) -> [UInt8] {
        let piece = [UInt8](repeating: 0x61, count: 1000)
        let chunks = (0..<(length / 1000)).flatMap { _ in Array("3e8\r\n".utf8) + piece + Array("\r\n".utf8) }
        return Array("Transfer-Encoding: chunked\r\n\r\n".utf8) + chunks + Array("0\r\nX-End: 1\r\n\r\n".utf8)
    }

    @Test(
        "A request is sent once more with the same body, however long, and however early the site answers",
        arguments: [0, 1, 200_000, 3_000_000], [false, true])
    func repeated(length: Int, isEarly: Bool) async throws {
        let server = try await Self.site(early: isEarly)
        let (delivery, message) = (try Self.cookie(), Self.message(length: length))
        try await fixture.run(try settings(delivery, for: server)) { address in
            let response = try await Self.post(server, address, message)
            #expect(response.hasSuffix("welcome") && !response.contains("401"))
            // The jar has it, and the client gets what the first response has set.
            #expect(response.contains("Set-Cookie: hint=again") && response.contains("Clear-Site-Data: \"cache\""))
        }
        let sent = try #require(server.requests.withLock { $0.last })
        let start = try #require(sent.firstRange(of: Array("\r\n\r\n".utf8))).upperBound
        #expect(SHA256.hash(data: Array(sent[start...])) == SHA256.hash(data: Array(message.suffix(length))))
        #expect(tokens.calls.withLock { $0 } == 1)
        let record = try #require(fixture.records.withLock { $0.first })
        #expect(record.isSignedInAgain && record.status == 200 && record.loginFailure == nil)
        #expect(record.cookiesSent == ["hint", "session"])
    }

    /// A site that leads requests to its login page unless they have the renewed token.
    private static func redirectingSite(_ fields: String) async throws -> RecordingServer {
        try await RecordingServer.start { octets in
            guard let end = octets.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
            let head = String(decoding: octets[..<end.upperBound], as: UTF8.self)
            guard isComplete(octets, head, from: end.upperBound) else { return nil }
            let response =
                head.contains("session=renewed")
                ? "200 OK\r\nContent-Length: 7\r\n\r\nwelcome"
                : "302 Found\r\nLocation: /login\r\n\(fields)Content-Length: 6\r\n\r\nno way"
            return Array("HTTP/1.1 \(response)".utf8)
        }
    }

    @Test(
        "An order that the site may have acted on is not sent again, the session is renewed, and the log has the reason",
        arguments: ["", "Proxy-Status: a; error=http_request_denied\r\n"])
    func notRepeated(fields: String) async throws {
        let server = try await Self.redirectingSite(fields)
        var settings = GatewaySetup()
        settings.client = .tool
        try addLogin(
            Self.cookie(), at: "http://127.0.0.1:\(server.port)/",
            signs: LoginRule.Signs(statuses: [], redirects: ["/login"]), to: &settings)
        try await fixture.run(settings) { address in
            let first = try await Self.post(server, address, Self.message(length: 10))
            if fields.isEmpty {
                #expect(first.hasPrefix("HTTP/1.1 302") && first.contains("Location: /login"))
                #expect(server.requests.withLock { $0.count } == 1)
            } else {
                #expect(first.hasSuffix("welcome"))
            }
            let next = try await Self.post(server, address, Self.message(length: 10))
            #expect(next.hasSuffix("welcome"))
            let read = try await Self.post(server, address, Array("\r\n".utf8), method: "GET")
            #expect(read.hasSuffix("welcome"))
        }
        #expect(tokens.calls.withLock { $0 } == 1)
        let record = try #require(fixture.records.withLock { $0.first })
        #expect(record.isSignedInAgain && record.status == (fields.isEmpty ? 302 : 200))
        #expect(record.loginFailure?.code == (fields.isEmpty ? "request-not-repeated" : nil))
        let reason = record.loginFailure?.description ?? "/order: POST acted on it"
        #expect(reason.contains("/order: ") && reason.contains("POST") && reason.contains("acted on it"))
    }

    @Test("A body that is too long to be kept is not sent again, and the session is renewed")
    func bodyTooLong() async throws {
        let server = try await Self.site()
        var settings = try settings(try Self.cookie(), for: server)
        settings.limits.keptBodies = 1000
        try await fixture.run(settings) { address in
            let first = try await Self.post(server, address, Self.message(length: 5000))
            #expect(first.hasPrefix("HTTP/1.1 401") && first.hasSuffix("no way"))
            let next = try await Self.post(server, address, Self.message(length: 10))
            #expect(next.hasSuffix("welcome"))
        }
        let record = try #require(fixture.records.withLock { $0.first })
        #expect(record.isSignedInAgain && record.loginFailure?.code == "body-too-long")
    }

    @Test("A damaged login rule concerns the URLs that it is for, and no others")
    func damagedRule() async throws {
        let server = try await Self.site()
        let settings = try settings(try Self.cookie(), for: server)
        let message = Self.message(length: 10)
        let jar = fixture.jar
        try jar.setLoginRuleDefinition("{\"scope\":\"https://other.test/\"}", named: "another")
        try jar.setLoginRuleDefinition("{", named: "nameless")
        try await fixture.run(settings) { address in
            #expect(try await Self.post(server, address, message).hasSuffix("welcome"))
            try jar.setLoginRuleDefinition(
                "{\"scope\":\"http://127.0.0.1:\(server.port)/order\"}", named: "another")
            let client = try await RawClient.connect(to: address)
            defer { client.close() }
            let target = "http://127.0.0.1:\(server.port)/order"
            try await client.send(Array("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n".utf8))
            let refusal = await client.response { $0.contains("'crumb token fallback list'") }
            #expect(refusal.hasPrefix("HTTP/1.1 500 ") && refusal.contains("another"))
        }
    }

    @Test("A body in chunks is sent once more with its trailer")
    func chunks() async throws {
        let server = try await Self.site()
        try await fixture.run(try settings(try Self.cookie(), for: server)) { address in
            let response = try await Self.post(server, address, Self.chunked(length: 2_000_000))
            #expect(response.hasSuffix("welcome"))
        }
        let sent = try #require(server.requests.withLock { $0.last })
        #expect(sent.suffix(15).elementsEqual("0\r\nX-End: 1\r\n\r\n".utf8))
        #expect(sent.count { $0 == 0x61 } >= 2_000_000)
    }

    @Test("Many requests at once share one login")
    func shared() async throws {
        let server = try await Self.site()
        try await fixture.run(try settings(try Self.cookie(), for: server)) { address in
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<50 { group.addTask { try await Self.post(server, address, Self.message(length: 10)) } }
                while let response = try await group.next() { #expect(response.hasSuffix("welcome")) }
            }
        }
        #expect(tokens.calls.withLock { $0 } == 1)
        #expect(fixture.records.withLock { $0.allSatisfy { $0.status == 200 } })
    }

    @Test("A token for the Authorization field is there from the first request on, but not beside the client's own")
    func authorization() async throws {
        let server = try await Self.site()
        try await fixture.run(try settings(.authorization, for: server)) { address in
            let response = try await Self.post(server, address, Self.message(length: 3))
            #expect(response.hasSuffix("welcome"))
            #expect(server.requests.withLock { $0.count } == 1)
            let own = Array("Authorization: Basic eDp5\r\n".utf8) + Self.message(length: 3)
            let other = try await Self.post(server, address, own)
            #expect(other.hasSuffix("no way"))
            let last = server.requests.withLock { String(decoding: $0.last ?? [], as: UTF8.self) }
            #expect(last.contains("Basic eDp5"))
        }
        #expect(tokens.calls.withLock { $0 } == 1)
    }

    @Test("Where no login helps, the site's own answer passes, and the reason is reported")
    func refused() async throws {
        let server = try await Self.site()
        tokens.isRefusing.withLock { $0 = true }
        try await fixture.run(try settings(try Self.cookie(), for: server)) { address in
            let response = try await Self.post(server, address, Self.message(length: 3))
            #expect(response.hasPrefix("HTTP/1.1 401") && response.hasSuffix("no way"))
        }
        #expect(server.requests.withLock { $0.count } == 1)
        let record = try #require(fixture.records.withLock { $0.first })
        #expect(record.loginFailure?.code == "login-required" && record.status == 401 && !record.isSignedInAgain)
        #expect(record.loginFailure?.description.contains("crumb token login p") == true)
    }

    @Test("A login that has failed is tried again after a while, or if somebody has logged in")
    func pause() async throws {
        let server = try await Self.site()
        tokens.isDown.withLock { $0 = true }
        let settings = try settings(try Self.cookie(), for: server)
        try await fixture.run(settings) { [fixture, tokens] address in
            let post = { try await Self.post(server, address, Self.message(length: 3)) }
            let first = try await post()
            let calls = tokens.calls.withLock { $0 }
            let second = try await post()
            #expect(first.hasSuffix("no way") && second == first)
            #expect(calls > 0 && tokens.calls.withLock { $0 } == calls)
            #expect(fixture.records.withLock { $0.allSatisfy { $0.loginFailure?.code == "server-unavailable" } })
            fixture.clockOffset.withLock { $0 += 31 }
            let third = try await post()
            #expect(third.hasSuffix("no way"))
            #expect(tokens.calls.withLock { $0 } > calls)
            tokens.isDown.withLock { $0 = false }
            let stored = try fixture.jar.tokens.get("p")
            let credentials = try #require(try fixture.jar.tokens.credentials("p"))
            try fixture.jar.tokens.put(stored.tokens, for: stored.profile, credentials: credentials, now: .now)
            let fourth = try await post()
            #expect(fourth.hasSuffix("welcome"))
        }
    }

    @Test("A request over HTTP/2 is sent once more with the same body", arguments: [false, true])
    func overHTTP2(isEarly: Bool) async throws {
        let server = try await HTTP2Server.start { request, _ in
            let isSignedIn = request.lines.contains("cookie: session=renewed")
            guard request.isComplete || isEarly && !isSignedIn else { return nil }
            return isSignedIn
                ? [.headers([":status": "200", "content-length": "7"], ends: false), .data("welcome")]
                : [.headers([":status": "401", "content-length": "6"], ends: false), .data("no way")]
        }
        var settings = try server.settings
        try addLogin(Self.cookie(), at: "https://localhost:\(server.port)/", to: &settings)
        let message = Self.message(length: 300_000)
        try await fixture.run(settings) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(Array("POST /order HTTP/1.1\r\nHost: \(address)\r\n".utf8) + message)
            let response = await client.response { $0.hasSuffix("welcome") || $0.hasSuffix("no way") }
            #expect(response.hasSuffix("welcome"))
        }
        let requests = server.requests.withLock { $0 }
        #expect(requests.map(\.connection) == [1, 1])
        #expect(requests.last?.body == Array(message.suffix(300_000)))
    }

    @Test("A request that a browser sends without cookies starts no login")
    func withoutCredentials() async throws {
        let server = try await Self.site()
        let settings = try settings(.authorization, for: server, client: .browser)
        try await fixture.run(settings) { address in
            let response = try await Self.post(server, address, Self.message(length: 3))
            #expect(response.hasSuffix("no way"))
        }
        #expect(tokens.calls.withLock { $0 } == 0)
    }
}

@Suite("Body spool")
struct BodySpoolTests {
    private func octets(_ spool: BodySpool) async throws -> [UInt8] {
        var octets: [UInt8] = []
        while case .data(let piece)? = try await spool.piece(at: octets.count) { octets += Array(buffer: piece) }
        return octets
    }

    @Test("A body is read back from memory and from the file", arguments: [0, 1, 65_536, 1_048_577, 5_000_001])
    func roundTrip(length: Int) async throws {
        let spool = BodySpool(BodySpool.Budget())
        let body = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 9) }
        var start = 0
        while start < length {
            let piece = body[start..<min(start + 70_001, length)]
            await spool.append(.data(ByteBuffer(bytes: piece)))
            start += piece.count
        }
        let octets = try await octets(spool)
        #expect(octets == body)
        #expect(try await spool.piece(at: length) == nil)
        await spool.append(.end(trailers: []))
        guard case .end? = try await spool.piece(at: length) else { throw CancellationError() }
    }

    @Test("Beyond the limit nothing is kept, and the room is given back")
    func limit() async throws {
        let budget = BodySpool.Budget(limit: 100)
        let first = BodySpool(budget)
        await first.append(.data(ByteBuffer(repeating: 1, count: 60)))
        await first.append(.data(ByteBuffer(repeating: 1, count: 60)))
        #expect(await first.isIncomplete)
        await first.append(.end(trailers: []))
        await #expect(throws: (any Error).self) { try await first.piece(at: 0) }
        let second = BodySpool(budget)
        await second.append(.data(ByteBuffer(repeating: 1, count: 100)))
        #expect(await !second.isIncomplete)
    }

    #if os(Linux)
        @Test("A file has no name, and nothing of the body in the clear")
        func sealed() async throws {
            let secret = Array("the-body-of-a-form-".utf8)
            let spool = BodySpool(BodySpool.Budget())
            let body = (0..<200_000).flatMap { _ in secret }
            await spool.append(.data(ByteBuffer(bytes: body)))
            let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { number in
                let path = "/proc/self/fd/\(number)"
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
                return target?.contains("/crumb-") == true && target?.hasSuffix(" (deleted)") == true ? path : nil
            }
            #expect(!files.isEmpty)
            for file in files {
                // Other tests have files, and folders, that are gone as well.
                guard let octets = try? Data(contentsOf: URL(filePath: file)) else { continue }
                #expect(octets.range(of: Data(secret)) == nil)
            }
            #expect(try await octets(spool) == body)
        }
    #endif
}
