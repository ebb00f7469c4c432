import CookieModel
import Foundation
import HTTPMessages
import NIOHPACK
import PublicSuffix
import SessionStore
import Synchronization
import Testing
import WebPrimitives

@testable import SessionGateway

@Suite("Requests that share connections to a server")
struct ConnectionPartitionTests {
    private static func request(_ fields: String, scheme: String = "https") throws -> ForwardedRequest {
        let host = try #require(WebHost("shop.example"))
        let octets = Array("POST / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 3\r\n\(fields)\r\n".utf8)
        let head = try MessageHead(octets, from: .client)
        return try ForwardedRequest(
            head, RequestLine(head.octets.span.extracting(head.startLine)),
            through: .init(host: host, port: scheme == "https" ? 443 : 80, isEncrypted: scheme == "https"))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var scheme = "https"
        var fields = ""
        /// The browser's verdict; `nil` for a program.
        var classes: EngineVerdict.Classes?
        var isPage = false
        /// Whether nothing of the gateway is in the request.
        var passesUnchanged = false
        let sharer: String
        let hasCredentials: Bool
        let trustsBody: Bool
    }

    @Test(
        "Connections are parted by the site in the address bar and by credentials",
        arguments: [
            Case(testDescription: "a program", sharer: "programs", hasCredentials: true, trustsBody: true),
            Case(
                testDescription: "a browser behind a gateway for programs", fields: "Origin: https://evil.example\r\n",
                passesUnchanged: true, sharer: "client 7 https://evil.example", hasCredentials: false,
                trustsBody: false),
            Case(
                testDescription: "the site's own page", fields: "Sec-Fetch-Site: same-origin\r\n", classes: .all,
                sharer: "https://shop.example", hasCredentials: true, trustsBody: true),
            Case(
                testDescription: "a page of a sister origin", fields: "Sec-Fetch-Site: same-site\r\n", classes: .all,
                sharer: "https://shop.example", hasCredentials: true, trustsBody: false),
            Case(
                testDescription: "a form of another site", fields: "Sec-Fetch-Site: cross-site\r\n", classes: [.none],
                isPage: true, sharer: "https://shop.example", hasCredentials: true, trustsBody: false),
            Case(
                testDescription: "a page over http, which may be in a frame",
                scheme: "http", fields: "Referer: http://evil.example/\r\n", classes: [.none, .lax, .default],
                isPage: true, sharer: "client 7 http://evil.example", hasCredentials: true, trustsBody: false),
            Case(
                testDescription: "a frame of another site", fields: "Referer: https://evil.example/\r\n",
                classes: [.none], sharer: "client 7 https://evil.example", hasCredentials: true, trustsBody: false),
            Case(
                testDescription: "a request without credentials", fields: "Origin: https://shop.example\r\n",
                classes: [], sharer: "client 7 https://shop.example", hasCredentials: false, trustsBody: false),
            Case(
                testDescription: "a request whose page is not known", classes: [], sharer: "client 7 -",
                hasCredentials: false, trustsBody: false),
            Case(
                testDescription: "cookies of a browser whose verdict is not known", fields: "Cookie: a=1\r\n",
                classes: [], sharer: "client 7 -", hasCredentials: true, trustsBody: false),
        ])
    func partitions(of row: Case) throws {
        let request = try Self.request(row.fields, scheme: row.scheme)
        var decision = GatewayDecision()
        if !row.passesUnchanged {
            var context = RequestContext(url: request.url)
            context.isTopLevelNavigation = row.isPage
            decision.context = context
            decision.verdict = row.classes.map { EngineVerdict($0, source: .witness) }
        }
        let partition = ConnectionPartition(request, decision, client: 7, .bundled)
        let sharer =
            switch partition.sharer {
            case .programs: "programs"
            case .site(let site): site.description
            case .client(let number, let page): "client \(number) \(page?.description ?? "-")"
            }
        #expect(sharer == row.sharer)
        #expect(partition.hasCredentials == row.hasCredentials)
        #expect(decision.trustsBody(of: request) == row.trustsBody)
    }

    @Test("Requests with and without the session share no connection", arguments: [true, false])
    func credentials(isHTTP1: Bool) async throws {
        let server = try await HTTP2Server.start { request, _ in
            request.isComplete
                ? [.headers([":status": "200", "content-length": "4"], ends: false), .data("over")] : nil
        }
        var settings = try server.settings
        settings.client = .browser
        let upgrade = isHTTP1 ? "Connection: Upgrade\r\nUpgrade: x\r\n" : ""
        let page = "Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
        let anonymous = "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n"
        try await GatewayFixture().run(settings) { address in
            let clients = [try await RawClient.connect(to: address), try await RawClient.connect(to: address)]
            for (index, fields) in [(0, page), (0, anonymous), (0, page), (1, page), (1, anonymous), (0, anonymous)] {
                let count = await clients[index].octets { _ in true }.count
                try await clients[index].send("GET / HTTP/1.1\r\nHost: \(address)\r\n\(fields)\(upgrade)\r\n")
                _ = await clients[index].octets { $0.count > count && $0.suffix(4).elementsEqual("over".utf8) }
            }
        }
        let connections = server.requests.withLock { $0.map(\.connection) }
        if !isHTTP1 { #expect(connections == [1, 2, 1, 1, 3, 2]) }
        // Over HTTP/1.1, a request may come before the connection of the last one is free again.
        try #require(connections.count == 6)
        let groups = [[0, 2, 3], [1, 5], [4]].map { group in Set(group.map { connections[$0] }) }
        #expect(groups.reduce(0) { $0 + $1.count } == Set(connections).count)
    }

    @Test(
        "A body that a server ignores is not the beginning of the next request",
        arguments: [
            // Of a page of another site, without and with the session.
            (fields: "Origin: http://evil.example\r\n", hasWitnesses: false),
            (fields: "Origin: http://evil.example\r\nSec-Fetch-Site: cross-site\r\n", hasWitnesses: true),
            // Of another origin of the site.
            (fields: "Sec-Fetch-Site: same-site\r\n", hasWitnesses: true),
        ])
    func ignoredBody(fields: String, hasWitnesses: Bool) async throws {
        // It answers each head, and reads the body as the beginning of the next one.
        let head = "HTTP/1.1 200 OK\r\nSet-Cookie: sid=31d4; HttpOnly\r\nContent-Length: 4\r\n\r\nover"
        let server = try await RecordingServer.start { octets in
            octets.firstRange(of: Array("\r\n\r\n".utf8)) == nil ? nil : Array(head.utf8)
        }
        let host = "127.0.0.1:\(server.port)"
        var settings = GatewaySetup()
        let name = try #require(WebHost("127.0.0.1"))
        settings.intercept(name, by: try CertificateAuthority(for: [name], now: .now))
        try await GatewayFixture().run(settings) { address in
            let client = try await RawClient.connect(to: address)
            func send(_ method: String, _ fields: String, _ body: String = "") async throws -> String {
                let count = await client.octets { _ in true }.count
                try await client.send("\(method) http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n\(body)")
                let octets = await client.octets {
                    $0.count > count && $0.dropFirst(count).suffix(4).elementsEqual("over".utf8)
                }
                return String(decoding: octets.dropFirst(count), as: UTF8.self)
            }
            let page = try await send("GET", "Upgrade-Insecure-Requests: 1\r\n")
            let witnesses = page.components(separatedBy: "\r\n").filter { $0.hasPrefix("Set-Cookie: ") }
                .map { String($0.dropFirst(12).prefix { $0 != ";" }) }.filter { !$0.hasPrefix("sid=") }
            let cookies = "Cookie: \(witnesses.joined(separator: "; "))\r\n"
            #expect(!witnesses.isEmpty)
            let body = "GET /taken HTTP/1.1\r\nX: "
            _ = try await send(
                "POST", fields + (hasWitnesses ? cookies : "") + "Content-Length: \(body.utf8.count)\r\n", body)
            _ = try await send("GET", cookies)
        }
        let requests = server.requests.withLock { $0.map { String(decoding: $0, as: UTF8.self) } }
        #expect(requests.last?.contains("sid=31d4") == true)
        #expect(!requests.contains { $0.hasPrefix("GET /taken") }, "\(requests)")
    }

    @Test(
        "A connection is not used again if the server has answered before it had the whole request",
        arguments: [true, false])
    func earlyAnswer(isEarly: Bool) async throws {
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nover".utf8)
        let server = try await RecordingServer.start { octets in
            octets.suffix(isEarly ? 4 : 5).elementsEqual(isEarly ? "\r\n\r\n".utf8 : "hello".utf8)
                || octets.starts(with: "GET".utf8) ? answer : nil
        }
        let host = "127.0.0.1:\(server.port)"
        try await GatewayFixture().run { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "POST http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 5\r\n\r\n\(isEarly ? "" : "hello")")
            let response = await client.octets { $0.suffix(4).elementsEqual("over".utf8) }
            if isEarly { try await client.send("hello") }
            try await client.send("GET http://\(host)/ HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            _ = await client.octets { $0.count > response.count && $0.suffix(4).elementsEqual("over".utf8) }
        }
        #expect(server.connections.withLock { $0 } == (isEarly ? 2 : 1))
    }
}
