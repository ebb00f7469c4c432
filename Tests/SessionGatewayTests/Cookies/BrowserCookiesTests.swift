import CookieModel
import Foundation
import SessionGateway
import SessionStore
import Synchronization
import Testing
import WebPrimitives

@Suite("Cookies of a browser behind a gateway")
struct BrowserCookiesTests {
    /// A page that a browser loads: what the server got of it, and what the browser got.
    private struct Load {
        let cookie: String
        let lines: [String]
    }

    private static func settings(_ mode: GatewaySettings.CookieMode = .mirror) throws -> GatewaySetup {
        var settings = GatewaySetup()
        settings.cookies = mode
        let host = try #require(WebHost("127.0.0.1"))
        settings.intercept(host, by: try CertificateAuthority(for: [host], now: .now))
        return settings
    }

    private static func load(
        _ server: RecordingServer, _ address: GatewayAddress, cookies: [String], fields: String = ""
    ) async throws -> Load {
        let client = try await RawClient.connect(to: address)
        // A browser without any cookies begins with a page.
        let fields = fields.isEmpty && cookies.isEmpty ? "Upgrade-Insecure-Requests: 1\r\n" : fields
        let cookie = cookies.isEmpty ? "" : "Cookie: \(cookies.joined(separator: "; "))\r\n"
        try await client.send(
            "GET http://127.0.0.1:\(server.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\(fields)\(cookie)\r\n")
        let response = await client.response { $0.hasSuffix("\r\n\r\n") }
        client.close()
        let request = server.requests.withLock { String(decoding: $0.last ?? [], as: UTF8.self) }
        return Load(cookie: values("cookie", of: request).first ?? "", lines: values("set-cookie", of: response))
    }

    private static func values(_ name: String, of message: String) -> [String] {
        message.components(separatedBy: "\r\n").filter { $0.lowercased().hasPrefix("\(name): ") }
            .map { String($0.dropFirst(name.count + 2)) }
    }

    private static func pairs(_ lines: [String]) -> [String] { lines.map { String($0.prefix { $0 != ";" }) } }

    /// The lines that set witnesses.
    private static func witnessLines(_ lines: [String]) -> [String] {
        lines.filter { $0.prefix { $0 != "=" }.contains("crumb-witness-") }
    }

    /// The witnesses that a browser gets.
    private static func witnesses(_ lines: [String]) -> [String] { pairs(witnessLines(lines)) }

    /// The witnesses that a browser has after a response.
    private static func updated(_ witnesses: [String], with lines: [String]) -> [String] {
        let new = pairs(lines)
        return witnesses.map { old in
            new.first { $0.prefix { $0 != "=" } == old.prefix { $0 != "=" } } ?? old
        }
    }

    private static func answering(_ lines: String) async throws -> RecordingServer {
        let answer = Array("HTTP/1.1 200 OK\r\n\(lines)Content-Length: 0\r\n\r\n".utf8)
        return try await RecordingServer.start { $0.suffix(4).elementsEqual("\r\n\r\n".utf8) ? answer : nil }
    }

    @Test("HttpOnly cookies stay in the jar; of the others, the browser decides")
    func mirrored() async throws {
        let fixture = try GatewayFixture()
        let server = try await Self.answering("Set-Cookie: sid=31d4; HttpOnly\r\nSet-Cookie: theme=dark\r\n")
        let page = "Upgrade-Insecure-Requests: 1\r\n"
        try await fixture.run(try Self.settings()) { address in
            let first = try await Self.load(server, address, cookies: [], fields: page)
            #expect(first.cookie == "")
            #expect(!first.lines.contains { $0.contains("31d4") } && first.lines.contains("theme=dark"))
            var witnesses = Self.witnesses(first.lines)
            #expect(witnesses.count == 4)
            let second = try await Self.load(server, address, cookies: ["theme=dark"] + witnesses)
            #expect(second.cookie == "sid=31d4; theme=dark")
            // A script sets a cookie: the server gets it, and the jar has it.
            let third = try await Self.load(server, address, cookies: ["theme=dark", "lang=de"] + witnesses)
            #expect(third.cookie == "sid=31d4; theme=dark; lang=de")
            #expect(try fixture.jar.cookies().readable.map(\.name).contains("lang"))
            witnesses = Self.updated(witnesses, with: third.lines)
            // It deletes one, and sets one in the place of a hidden one.
            let fourth = try await Self.load(server, address, cookies: ["sid=evil", "theme=light"] + witnesses)
            #expect(fourth.cookie == "sid=31d4; theme=light")
            let kept = try fixture.jar.cookies().readable
            #expect(!kept.contains { $0.name == "lang" })
            #expect(kept.contains { $0.pair == "sid=31d4" })
            // Without witnesses, the browser has omitted its cookies.
            #expect(try await Self.load(server, address, cookies: []).cookie == "")
        }
        let sources = fixture.records.withLock { $0.compactMap { $0.verdict?.source } }
        #expect(sources == [.nothing, .witness, .witness, .witness, .nothing])
    }

    @Test("The cookies that a browser sends keep its order")
    func ordered() async throws {
        let fixture = try GatewayFixture()
        let lines = "Set-Cookie: a=1\r\nSet-Cookie: sid=31d4; HttpOnly\r\nSet-Cookie: b=2\r\n"
        let server = try await Self.answering(lines)
        try await fixture.run(try Self.settings()) { address in
            let first = try await Self.load(
                server, address, cookies: [], fields: "Upgrade-Insecure-Requests: 1\r\n")
            let witnesses = Self.pairs(first.lines.filter { !["a=1", "b=2"].contains($0) })
            for (own, sent) in [
                (["a=1", "b=2"], "a=1; sid=31d4; b=2"), (["b=2", "a=1"], "b=2; sid=31d4; a=1"),
                (["b=2", "c=3", "a=1"], "b=2; sid=31d4; c=3; a=1"),
            ] {
                #expect(try await Self.load(server, address, cookies: own + witnesses).cookie == sent)
            }
        }
    }

    @Test(
        "A program at a gateway for browsers gets a hint with each response, a browser gets none",
        arguments: [
            ("User-Agent: curl/8.5.0\r\n", "curl/8.5.0"), ("User-Agent: Wget/1.25.0\r\n", "Wget/1.25.0"),
            ("user-agent: python-requests/2.32\r\n", "python-requests/2.32"),
            ("User-Agent: node\r\nSec-Fetch-Mode: cors\r\n", "node"),
            ("User-Agent: Python/3.13 \"aiohttp/3\"\r\n", "Python/3.13"),
            ("User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n", nil), ("", nil), ("User-Agent: MyApp/1.0\r\n", nil),
            ("User-Agent: curl/8.5.0\r\nSec-Fetch-Site: none\r\n", nil),
        ] as [(String, String?)])
    func program(fields: String, name: String?) async throws {
        let fixture = try GatewayFixture()
        let server = try await Self.answering("Set-Cookie: sid=31d4\r\nProxy-Status: other\r\n")
        try await fixture.run(try Self.settings()) { address in
            let client = try await RawClient.connect(to: address)
            try await client.send(
                "GET http://127.0.0.1:\(server.port)/ HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\(fields)\r\n")
            let statuses = Self.values("proxy-status", of: await client.response { $0.hasSuffix("\r\n\r\n") })
            let hint = name.map {
                "crumb; details=\"\($0) is no browser and gets no cookies: run the gateway with --client tool\""
            }
            #expect(statuses == ["other"] + [hint].compactMap(\.self))
        }
        #expect(fixture.records.withLock { $0.map(\.hint) } == [name.map { .isOfProgram($0) }])
    }

    @Test("A browser with an empty profile gets what the jar has, and no HttpOnly cookie")
    func seeded() async throws {
        let fixture = try GatewayFixture()
        let server = try await Self.answering("")
        try fixture.set("sid=31d4; HttpOnly", at: "http://127.0.0.1/")
        try fixture.set("theme=dark", at: "http://127.0.0.1/")
        try await fixture.run(try Self.settings()) { address in
            let witnesses = Self.witnesses(try await Self.load(server, address, cookies: []).lines)
            let second = try await Self.load(server, address, cookies: witnesses)
            #expect(second.cookie == "sid=31d4; theme=dark")
            #expect(second.lines == ["theme=dark; Path=/"])
        }
    }

    @Test("What the jar got after the browser sent its request is newer than what the browser sends")
    func renewed() async throws {
        let fixture = try GatewayFixture()
        let server = try await Self.answering("")
        try fixture.set("theme=dark", at: "http://127.0.0.1/")
        try await fixture.run(try Self.settings()) { address in
            let witnesses = Self.witnesses(try await Self.load(server, address, cookies: []).lines)
            _ = try await Self.load(server, address, cookies: ["theme=dark"] + witnesses)
            // A response on its way to the browser has set another value.
            try fixture.set("theme=light", at: "http://127.0.0.1/")
            let stale = try await Self.load(server, address, cookies: ["theme=dark"] + witnesses)
            #expect(stale.cookie == "theme=light")
            #expect(stale.lines.contains("theme=light; Path=/"))
            // A third value is a script's.
            let changed = try await Self.load(server, address, cookies: ["theme=blue"] + witnesses)
            #expect(changed.cookie == "theme=blue")
            #expect(try fixture.jar.cookies().readable.map(\.pair) == ["theme=blue"])
        }
    }

    @Test("A cookie that the browser has got and does not send is one that it has refused")
    func refused() async throws {
        let fixture = try GatewayFixture()
        let server = try await Self.answering("Set-Cookie: a=1\t2\r\nSet-Cookie: sid=31d4; HttpOnly\r\n")
        try await fixture.run(try Self.settings()) { address in
            let first = try await Self.load(server, address, cookies: [], fields: "Upgrade-Insecure-Requests: 1\r\n")
            #expect(first.lines.contains("a=1\t2"))
            let witnesses = Self.witnesses(first.lines)
            for _ in 0..<2 {
                #expect(try await Self.load(server, address, cookies: witnesses).cookie == "sid=31d4")
            }
            // For programs, the jar has it.
            #expect(try fixture.jar.cookies().readable.contains { $0.pair == "a=1\t2" })
            // A browser that has lost it, and its witnesses, gets it anew.
            let kept = try await Self.load(server, address, cookies: ["a=1\t2"] + witnesses)
            #expect(kept.cookie == "sid=31d4; a=1\t2" || kept.cookie == "a=1\t2; sid=31d4")
        }
    }

    @Test("A cookie that is not text stays in the jar, which sends it octet for octet")
    func octets() async throws {
        let fixture = try GatewayFixture()
        let line = Octets(Array("a=".utf8) + [0xFF])
        let server = try await RecordingServer.start { octets in
            guard octets.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return nil }
            return Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: ".utf8) + line
                + Array("\r\n\r\n".utf8)
        }
        try await fixture.run(try Self.settings()) { address in
            let first = try await Self.load(server, address, cookies: [], fields: "Upgrade-Insecure-Requests: 1\r\n")
            #expect(Self.witnessLines(first.lines).count == 4)
            _ = try await Self.load(server, address, cookies: ["a=script"] + Self.witnesses(first.lines))
            let sent = server.requests.withLock { $0.last ?? [] }
            #expect(sent.firstRange(of: Array("Cookie: ".utf8) + line + Array("\r\n".utf8)) != nil)
        }
    }

    @Test("Two cookies of one name that the browser sends both reach the server")
    func sameName() async throws {
        let fixture = try GatewayFixture()
        let server = try await Self.answering("")
        try await fixture.run(try Self.settings()) { address in
            let witnesses = Self.witnesses(try await Self.load(server, address, cookies: []).lines)
            for _ in 0..<2 {
                let load = try await Self.load(server, address, cookies: ["a=1", "a=2"] + witnesses)
                #expect(Set(load.cookie.components(separatedBy: "; ")) == ["a=1", "a=2"], "\(load.cookie)")
            }
        }
    }

    @Test("In the mode strip, the browser gets no cookie but the witnesses")
    func stripped() async throws {
        let fixture = try GatewayFixture()
        let server = try await Self.answering("Set-Cookie: theme=dark\r\n")
        try fixture.set("sid=31d4", at: "http://127.0.0.1/")
        try await fixture.run(try Self.settings(.strip)) { address in
            let first = try await Self.load(server, address, cookies: [])
            #expect(Self.witnessLines(first.lines).allSatisfy { $0.contains("HttpOnly") })
            #expect(first.lines.filter { !Self.witnessLines(first.lines).contains($0) } == ["theme=; Max-Age=0"])
            let second = try await Self.load(server, address, cookies: Self.witnesses(first.lines))
            #expect(second.cookie == "sid=31d4; theme=dark")
            #expect(second.lines == ["theme=; Max-Age=0"])
        }
    }

    @Test("A server cannot replace a witness")
    func replaced() async throws {
        let fixture = try GatewayFixture()
        let plain = try await Self.answering("")
        try await fixture.run(try Self.settings()) { address in
            let witnesses = Self.witnesses(try await Self.load(plain, address, cookies: []).lines)
            let name = try #require(witnesses.first).prefix { $0 != "=" }
            let hostile = try await Self.answering("Set-Cookie: \(name)=1\r\n")
            let second = try await Self.load(hostile, address, cookies: witnesses)
            #expect(second.lines.isEmpty)
            #expect(try fixture.jar.cookies().readable.isEmpty)
        }
    }
}
