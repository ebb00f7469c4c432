import CookieModel
import Foundation
import NIOCore
import NIOHPACK
import SessionStore
import Synchronization
import Testing
import WebPrimitives

@testable import SessionGateway

@Suite("A gateway that offers sites at addresses of its own")
struct ReverseTests {
    /// The settings for an offer of the server at that port.
    private func offering(
        _ ports: Int..., client: GatewaySettings.Client = .tool, cookies: GatewaySettings.CookieMode = .strip
    ) throws -> GatewaySetup {
        var settings = GatewaySetup()
        settings.client = client
        settings.cookies = cookies
        settings.origins = try ports.map { GatewaySettings.Origin(try RequestURL("http://127.0.0.2:\($0)")) }
        return settings
    }

    private func server(_ fields: String = "") async throws -> RecordingServer {
        try await RecordingServer.start(on: "127.0.0.2") { octets in
            octets.suffix(4).elementsEqual("\r\n\r\n".utf8)
                ? Array("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 2\r\n\r\nhi".utf8) : nil
        }
    }

    @Test("A request gets the jar's cookies of the site and not those of the machine; the response leads back")
    func offers() async throws {
        let fixture = try GatewayFixture()
        let port = Mutex(0)
        let server = try await RecordingServer.start(on: "127.0.0.2") { octets in
            let origin = "http://127.0.0.2:\(port.withLock { $0 })"
            return octets.suffix(4).elementsEqual("\r\n\r\n".utf8)
                ? Array(
                    """
                    HTTP/1.1 302 Found\r
                    Location: \(origin)/home\r
                    Link: <\(origin)/a.css>; rel=preload\r
                    Set-Cookie: sid=2; Domain=127.0.0.2; Secure; HttpOnly\r
                    Content-Length: 0\r
                    \r\n
                    """.utf8) : nil
        }
        port.withLock { $0 = server.port }
        try fixture.set("sid=1; HttpOnly", at: "http://127.0.0.2/")
        try await fixture.run(offering(server.port)) { address in
            #expect(address.origin == "http://127.0.0.2:\(server.port)")
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "GET /a?b HTTP/1.1\r\nHost: localhost:\(address.port)\r\nCookie: other=1\r\nX: y\r\n\r\n")
            let response = await client.response { $0.hasSuffix("\r\n\r\n") }
            let origin = "http://localhost:\(address.port)"
            #expect(
                response
                    == "HTTP/1.1 302 Found\r\nLocation: \(origin)/home\r\nLink: <\(origin)/a.css>; rel=preload\r\nContent-Length: 0\r\n\r\n"
            )
        }
        #expect(
            server.firstRequest
                == "GET /a?b HTTP/1.1\r\nHost: 127.0.0.2:\(server.port)\r\nCookie: sid=1\r\nX: y\r\n\r\n")
        let record = try #require(fixture.records.withLock { $0.first })
        #expect(record.url == "http://127.0.0.2:\(server.port)/a")
    }

    @Test(
        "Only the addresses' own pages may send requests",
        arguments: [
            ("Host: 127.0.0.1:PORT", 200),
            ("Host: LOCALHOST:PORT", 200),
            ("Host: evil.example:PORT", 421),
            ("Host: 127.0.0.1", 421),
            ("Host: 127.0.0.1:PORT\r\nHost: evil.example", 400),
            ("X: y", 400),
            ("Host: 127.0.0.1:PORT\r\nOrigin: http://127.0.0.1:PORT", 200),
            ("Host: 127.0.0.1:PORT\r\nOrigin: https://evil.example", 403),
            ("Host: 127.0.0.1:PORT\r\nOrigin: http://127.0.0.1:1", 403),
            ("Host: 127.0.0.1:PORT\r\nOrigin: null", 403),
            ("Host: 127.0.0.1:PORT\r\nReferer: http://127.0.0.1:PORT/a", 200),
            ("Host: 127.0.0.1:PORT\r\nReferer: http://127.0.0.1:PORT.evil.example/", 403),
            ("Host: 127.0.0.1:PORT\r\nReferer: http://127.0.0.1:PORT@evil.example/", 403),
            ("Host: 127.0.0.1:PORT\r\nReferer: https://evil.example/", 403),
            ("Host: 127.0.0.1:PORT\r\nSec-Fetch-Site: none", 200),
            ("Host: 127.0.0.1:PORT\r\nSec-Fetch-Site: same-origin", 200),
            ("Host: 127.0.0.1:PORT\r\nSec-Fetch-Site: same-site", 403),
            ("Host: 127.0.0.1:PORT\r\nSec-Fetch-Site: cross-site", 403),
            ("Host: 127.0.0.1:PORT\r\nSec-Fetch-Site: same-site\r\nReferer: http://127.0.0.1:PORT/", 200),
            ("Host: 127.0.0.1:PORT\r\nSec-Fetch-Site: cross-site\r\nReferer: http://127.0.0.1:PORT/", 403),
        ])
    func checks(fields: String, status: Int) async throws {
        let fixture = try GatewayFixture()
        let server = try await server()
        try await fixture.run(offering(server.port, client: .browser)) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "GET /a?b HTTP/1.1\r\n\(fields.replacing("PORT", with: "\(address.port)"))\r\n\r\n")
            let response = await client.response { $0.contains("\r\n\r\n") }
            #expect(response.hasPrefix("HTTP/1.1 \(status) "), "\(response)")
        }
        #expect(server.requests.withLock { $0.count } == (status == 200 ? 1 : 0))
        // A refused one, too.
        #expect(fixture.records.withLock { $0.map(\.url) } == ["http://127.0.0.2:\(server.port)/a"])
    }

    @Test(
        "A gateway that offers a site rejects requests of proxies' clients",
        arguments: ["GET http://127.0.0.2/", "CONNECT 127.0.0.2:443", "\u{5}\u{1}\u{0}"])
    func refusesProxying(target: String) async throws {
        let fixture = try GatewayFixture()
        let server = try await server()
        try await fixture.run(offering(server.port)) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send("\(target) HTTP/1.1\r\nHost: 127.0.0.1:\(address.port)\r\n\r\n")
            let response = await client.response { $0.contains("\r\n\r\n") }
            #expect(response.hasPrefix("HTTP/1.1 400 "), "\(response)")
        }
        #expect(server.requests.withLock { $0.isEmpty })
    }

    @Test("A page gets the session with its first document, and later by the browser's own verdict")
    func documents() async throws {
        let fixture = try GatewayFixture()
        let server = try await server()
        try fixture.set("sid=1; HttpOnly; SameSite=Strict", at: "http://127.0.0.2/")
        try await fixture.run(offering(server.port, client: .browser)) { address in
            let client = try await RawClient.connect(to: address)
            let host = "Host: 127.0.0.1:\(address.port)\r\n"
            try await client.send("GET / HTTP/1.1\r\n\(host)Upgrade-Insecure-Requests: 1\r\n\r\n")
            let first = await client.response { $0.hasSuffix("hi") }
            let witnesses = first.components(separatedBy: "\r\n").compactMap { line in
                line.hasPrefix("Set-Cookie: ") ? line.dropFirst(12).split(separator: ";").first.map(String.init) : nil
            }
            #expect(!witnesses.isEmpty)
            #expect(!first.lowercased().contains("domain="))
            #expect(!first.contains("sid"))
            try await client.send(
                "GET /ajax HTTP/1.1\r\n\(host)Cookie: \(witnesses.joined(separator: "; ")); other=1\r\n\r\n")
            _ = await client.response { $0.components(separatedBy: "200 OK").count == 3 && $0.hasSuffix("hi") }
        }
        let second = server.requests.withLock { $0.last.map { String(decoding: $0, as: UTF8.self) } ?? "" }
        #expect(second.contains("\r\nCookie: sid=1\r\n"), "\(second)")
    }

    @Test("A page of the site sends events, and no other page does")
    func events() async throws {
        let fixture = try GatewayFixture()
        let server = try await HTTP2Server.start { _, _ in
            [.headers([":status": "200", "content-length": "2"], ends: false), .data("hi")]
        }
        let events = Mutex<[PageEvent]>([])
        var settings = try server.settings
        settings.client = .browser
        settings.pageEvents = { event in events.withLock { $0.append(event) } }
        try await fixture.run(settings) { address in
            let path = try #require(fixture.eventsPath.withLock { $0 })
            func answer(_ line: String, _ fields: [String], body: String = "") async throws -> String {
                let client = try await RawClient.connect(to: address)
                let lines = ["\(line) HTTP/1.1", "Host: \(address)", "Content-Length: \(body.utf8.count)"] + fields
                try await client.send(lines.joined(separator: "\r\n") + "\r\nConnection: close\r\n\r\n\(body)")
                return await client.response()
            }
            let page = try await answer(
                "GET /", ["Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"])
            let witnesses = page.components(separatedBy: "\r\n").filter { $0.hasPrefix("Set-Cookie: ") }
                .map { String($0.dropFirst(12).prefix { $0 != ";" }) }
            let cookie = "Cookie: \(witnesses.joined(separator: "; "))"
            let own = "Origin: http://\(address)"
            for (fields, status) in [
                ([cookie, own, "Sec-Fetch-Site: same-origin"], 204), ([cookie, own], 204),
                // Without the witnesses, from a page of another site, and from another program of this machine.
                ([own, "Sec-Fetch-Site: same-origin"], 403), ([cookie, "Sec-Fetch-Site: cross-site"], 403),
                ([cookie, "Origin: https://evil.example"], 403), ([cookie, "Origin: http://127.0.0.1:1"], 403),
                ([cookie, "Sec-Fetch-Site: same-site"], 403), ([cookie], 403),
            ] {
                let response = try await answer("POST \(path)?a=1", fields, body: "hello")
                #expect(response.hasPrefix("HTTP/1.1 \(status) "), "\(fields): \(response)")
            }
        }
        let taken = events.withLock { $0 }
        #expect(taken.map(\.origin) == ["https://localhost:\(server.port)", "https://localhost:\(server.port)"])
        #expect(taken.allSatisfy { $0.query == "?a=1" && $0.body == Array("hello".utf8) })
        #expect(server.requests.withLock { $0.count } == 1)
        let path = try #require(fixture.eventsPath.withLock { $0 })
        #expect(fixture.records.withLock { $0.allSatisfy { !$0.url.contains(path) } })
    }

    @Test("A site without https, and programs, have no path for events")
    func noEvents() async throws {
        for (url, client) in [("http://shop.example", GatewaySettings.Client.browser), ("https://shop.example", .tool)]
        {
            var settings = GatewaySetup()
            settings.cookies = .strip
            settings.client = client
            settings.origins = [GatewaySettings.Origin(try RequestURL(url))]
            settings.pageEvents = { _ in }
            #expect(try settings.gateway(of: GatewayFixture().jar).eventsPath == nil)
        }
    }

    @Test("Origins of two sites, and cookies that would mix, are refused")
    func refusesMixtures() async throws {
        let fixture = try GatewayFixture()
        func code(_ urls: [String], _ cookies: GatewaySettings.CookieMode) async throws -> String? {
            var settings = GatewaySetup()
            settings.cookies = cookies
            settings.origins = try urls.map { GatewaySettings.Origin(try RequestURL($0)) }
            do {
                try await fixture.runAll(settings) { _ in }
                return nil
            } catch let error as GatewayError {
                return error.code.rawValue
            }
        }
        let shop = ["https://shop.example", "https://api.shop.example"]
        #expect(try await code(shop, .strip) == nil)
        #expect(try await code([shop[0]], .mirror) == nil)
        #expect(try await code(shop, .mirror) == "cookies-not-separate")
        #expect(try await code([shop[0]], .pass) == "cookies-not-separate")
        #expect(try await code(["https://shop.example", "https://login.example"], .strip) == "origin-not-of-site")
        #expect(try await code(["https://shop.example", "http://shop.example"], .strip) == "origin-not-of-site")
    }

    @Test(
        "Origins in fields are mapped, and nothing that only looks like one",
        arguments: [
            ("https://shop.example/a", "http://localhost:81/a"),
            ("HTTPS://Shop.Example:443/a", "http://localhost:81/a"),
            ("https://api.shop.example", "http://localhost:82"),
            ("//shop.example/a", "//localhost:81/a"),
            ("0; url=https://shop.example/a", "0; url=http://localhost:81/a"),
            (
                "connect-src 'self' wss://shop.example https://api.shop.example;",
                "connect-src 'self' ws://localhost:81 http://localhost:82;"
            ),
            ("https://shop.example.evil/", "https://shop.example.evil/"),
            ("https://shop.example:4430/", "https://shop.example:4430/"),
            ("https://shop.example@evil/", "https://shop.example@evil/"),
            ("http://shop.example/", "http://shop.example/"),
            ("/a//shop.example/", "/a//shop.example/"),
            ("*", "*"),
            ("", ""),
        ])
    func maps(value: String, expected: String) throws {
        let mapping = try mapping()
        #expect(mapping.local(Octets(value)) == Octets(expected))
    }

    @Test("A mapped origin is mapped back", arguments: ["https://shop.example/a?b", "https://api.shop.example"])
    func mapsBack(value: String) throws {
        let mapping = try mapping()
        #expect(mapping.remote(mapping.local(Octets(value))) == Octets(value))
    }

    @Test(
        "A Set-Cookie line is rewritten for this machine",
        arguments: [
            ("a=1; Domain=shop.example; Path=/x; Secure; HttpOnly", "a=1; Path=/x; HttpOnly"),
            ("a=\"b; SECURE ;samesite = None; Max-Age=3", "a=\"b; Max-Age=3"),
            ("a=1; SameSite=Lax; Partitioned", "a=1; SameSite=Lax"),
            ("__Host-a=1; Secure; Path=/; SameSite=None", "__Host-a=1; Secure; Path=/; SameSite=None"),
            ("secure", "secure"), ("", ""),
        ])
    func mapsCookies(line: String, expected: String) throws {
        let mapping = try mapping()
        #expect(mapping.local(setCookie: Octets(line)) == Octets(expected))
    }

    private func mapping() throws -> OriginMapping {
        OriginMapping(
            [
                ReverseOrigins.Site(url: try RequestURL("https://shop.example"), port: 81),
                ReverseOrigins.Site(url: try RequestURL("https://api.shop.example"), port: 82),
            ], at: "localhost")
    }
}
