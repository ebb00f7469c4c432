import CookieModel
import HTTPMessages
import PublicSuffix
import RequestDecoration
import SessionStore
import Testing
import WebPrimitives

@testable import SessionGateway

@Suite("A browser loses what the server or another program deletes or hides")
struct HiddenCookiesTests {
    private let fixture: GatewayFixture
    private let gate: JarRequestPolicy

    init() throws { (fixture, gate) = try Self.gateway() }

    private static func gateway(
        _ mode: GatewaySettings.CookieMode = .mirror
    ) throws -> (GatewayFixture, JarRequestPolicy) {
        let fixture = try GatewayFixture()
        let profile = BrowserKnowledge(
            .bundled, sees: { $0.description.hasSuffix("shop.example") },
            seesSite: { $0.description == "shop.example" })
        return (fixture, JarRequestPolicy(jar: fixture.jar, mode: mode, profile: profile, now: { .now }))
    }

    private static let page = [
        "Sec-Fetch-Dest: document", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: none", "Upgrade-Insecure-Requests: 1",
    ]
    private static let (secure, plain) = ("https://www.shop.example/app/list", "http://www.shop.example/app/list")

    /// A browser by the rules, whose pages have scripts. Witnesses have other names in its store, which would reject them.
    private struct Browser {
        var store = CookieStore()

        mutating func field(at url: String) throws -> String {
            store.cookieString(for: RequestContext(url: try RequestURL(url)), now: .now).description
                .replacing("kept-witness-", with: "crumb-witness-")
        }

        mutating func take(_ lines: [Octets], at url: String) throws {
            let kept = lines.map { line in
                line.utf8String.map { Octets($0.replacing("crumb-witness-", with: "kept-witness-")) } ?? line
            }
            _ = store.receive(
                ReceivedResponse(context: RequestContext(url: try RequestURL(url)), setCookie: kept), now: .now)
        }

        mutating func setByScript(_ line: String, at url: String) throws {
            var context = RequestContext(url: try RequestURL(url))
            context.interface = .script
            _ = store.receive(ReceivedResponse(context: context, setCookie: [Octets(line)]), now: .now)
        }

        /// What scripts see of cookies with names of up to 12 letters, which witnesses have not.
        func visible() -> [String] {
            store.cookies.filter { !$0.isHTTPOnly && $0.name.count < 13 }.map(\.pair.description).sorted()
        }
    }

    /// A request that the gateway has got, whose response the browser has not.
    private struct Exchange {
        let sent: [String]
        let lines: [Octets]
    }

    private func send(
        _ url: String, _ cookies: String, setting lines: [Octets] = [], through other: JarRequestPolicy? = nil
    ) async throws -> Exchange {
        let isEncrypted = try RequestURL(url).scheme.isCryptographic
        let (decision, answers) = try await (other ?? gate).exchange(
            url, fields: isEncrypted ? Self.page : ["Upgrade-Insecure-Requests: 1"], cookies: cookies, setting: lines)
        return Exchange(
            sent: (decision.decoration?.cookies.octets.description ?? "").split(separator: "; ").map(String.init)
                .sorted(),
            lines: answers)
    }

    /// Loads a page, and returns what the server gets.
    @discardableResult
    private func load(
        _ url: String, _ browser: inout Browser, setting lines: [Octets] = [], through other: JarRequestPolicy? = nil
    ) async throws -> [String] {
        let exchange = try await send(url, try browser.field(at: url), setting: lines, through: other)
        try browser.take(exchange.lines, at: url)
        return exchange.sent
    }

    private func pairs(in fixture: GatewayFixture? = nil) throws -> [String] {
        try (fixture ?? self.fixture).jar.cookies().readable.map(\.pair.description).sorted()
    }

    private static let replacements: [(first: String, second: String, server: [String])] = [
        ("sid=1", "sid=; Max-Age=0; HttpOnly", []), ("sid=1", "sid=2; httponly", ["sid=2"]),
        ("sid=1", "sid=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; Path", []),
        ("sid=1; Path=/", "sid=2; HttpOnly; Path=/; Max-Age=60; Max-Age=90", ["sid=2"]),
        ("sid=1; Domain=shop.example; Path=/", "sid=; HttpOnly; Max-Age=0; Path=/; Domain=.shop.example", []),
        ("__Host-sid=1; Secure; Path=/", "__Host-sid=2; Secure; HttpOnly; Path=/", ["__Host-sid=2"]),
        ("__Secure-sid=1; Secure", "__Secure-sid=; Secure; HttpOnly; Max-Age=0", []),
        ("p=1; Secure; Path=/; SameSite=None; Partitioned", "p=; Secure; Max-Age=0; HttpOnly; Path=/; Partitioned", []),
        ("=1", "=2; HttpOnly", ["2"]), ("1", "=; HttpOnly; Max-Age=0", ["1"]),
    ]

    @Test(
        "An HttpOnly line deletes the browser's copy of the cookie that it replaces or deletes", arguments: replacements
    )
    func replaced(first: String, second: String, server: [String]) async throws {
        var browser = Browser()
        try await load(Self.secure, &browser, setting: [Octets(first)])
        for _ in 0..<2 { try await load(Self.secure, &browser) }
        #expect(browser.visible().count == 1)
        try await load(Self.secure, &browser, setting: [Octets(second)])
        // A line without name and value is ignored.
        #expect(browser.visible().isEmpty != second.hasPrefix("=;"))
        for _ in 0..<2 { #expect(try await load(Self.secure, &browser) == server) }
        #expect(try pairs() == server)
        #expect(browser.visible().isEmpty != second.hasPrefix("=;"))
    }

    @Test("Over http, too, and for a value that is not text")
    func replacedOverHTTP() async throws {
        for second in [Octets("a=2; HttpOnly"), Octets(Array("a=".utf8) + [0xFF])] {
            let (fixture, gate) = try Self.gateway()
            var browser = Browser()
            try await load(Self.plain, &browser, setting: ["a=1"], through: gate)
            for _ in 0..<2 { try await load(Self.plain, &browser, through: gate) }
            try await load(Self.plain, &browser, setting: [second], through: gate)
            #expect(browser.visible() == [])
            #expect(try await load(Self.plain, &browser, through: gate).count == 1)
            #expect(try fixture.jar.cookies().readable.count == 1)
        }
    }

    @Test("Of several lines for one cookie, the last one decides what the browser has")
    func order() async throws {
        var browser = Browser()
        try await load(Self.secure, &browser, setting: ["a=1", "a=2; HttpOnly", "b=1; HttpOnly", "b=2"])
        #expect(browser.visible() == ["b=2"])
        for _ in 0..<2 { #expect(try await load(Self.secure, &browser) == ["a=2", "b=2"]) }
        #expect(browser.visible() == ["b=2"])
    }

    @Test("A request that was on its way when the server signed out does not bring the session back")
    func onItsWay() async throws {
        for line in [Octets("sid=; Max-Age=0; HttpOnly"), "sid=; Max-Age=0"] {
            let (fixture, gate) = try Self.gateway()
            var browser = Browser()
            try await load(Self.secure, &browser, setting: ["sid=1"], through: gate)
            for _ in 0..<2 { try await load(Self.secure, &browser, through: gate) }
            let field = try browser.field(at: Self.secure)
            let signOut = try await send(Self.secure, field, setting: [line], through: gate)
            let late = try await send(Self.secure, field, through: gate)
            #expect(late.sent == [])
            #expect(try pairs(in: fixture) == [])
            try browser.take(late.lines + signOut.lines, at: Self.secure)
            #expect(browser.visible() == [])
            // A script sets it anew, with the same value.
            try browser.setByScript("sid=1; Path=/", at: Self.secure)
            #expect(try await load(Self.secure, &browser, through: gate) == ["sid=1"])
            #expect(try await load(Self.secure, &browser, through: gate) == ["sid=1"])
            #expect(try pairs(in: fixture) == ["sid=1"])
            #expect(browser.visible() == ["sid=1"])
        }
    }

    @Test("A response that did not arrive has deleted nothing, and the next one does")
    func lostResponse() async throws {
        var browser = Browser()
        try await load(Self.secure, &browser, setting: ["sid=1"])
        for _ in 0..<2 { try await load(Self.secure, &browser) }
        _ = try await send(Self.secure, try browser.field(at: Self.secure), setting: ["sid=; Max-Age=0; HttpOnly"])
        #expect(try await load(Self.secure, &browser) == [])
        #expect(browser.visible() == [])
        #expect(try await load(Self.secure, &browser) == [])
        #expect(try pairs() == [])
    }

    private static let shadows = [
        "sid=evil", "sid=evil; Path=/", "sid=evil; Path=/app", "sid=evil; Path=/app/", "sid=evil; Path=/app/list",
        "sid=evil; Domain=shop.example", "sid=evil; Domain=www.shop.example; Path=/app",
        "sid=evil; Domain=shop.example; Path=/; Secure; SameSite=Strict",
    ]

    @Test("A script's cookie that has the name of an HttpOnly one is deleted", arguments: shadows)
    func shadowed(line: String) async throws {
        for url in [Self.secure, Self.plain] {
            let (fixture, gate) = try Self.gateway()
            var browser = Browser()
            let own: [Octets] = ["sid=31d4; HttpOnly; Path=/", "theme=dark; Path=/"]
            try await load(url, &browser, setting: own, through: gate)
            for _ in 0..<2 { try await load(url, &browser, through: gate) }
            try browser.setByScript(line, at: url)
            #expect(try await load(url, &browser, through: gate) == ["sid=31d4", "theme=dark"])
            #expect(browser.visible() == ["theme=dark"], "\(url)")
            #expect(try await load(url, &browser, through: gate) == ["sid=31d4", "theme=dark"])
            #expect(try pairs(in: fixture) == ["sid=31d4", "theme=dark"])
        }
    }

    @Test("A visible cookie of the server stays beside an HttpOnly one of its name")
    func beside() async throws {
        var browser = Browser()
        try await load(Self.secure, &browser, setting: ["a=1; Path=/app", "a=2; Path=/; HttpOnly"])
        for _ in 0..<3 { #expect(try await load(Self.secure, &browser) == ["a=1", "a=2"]) }
        try browser.setByScript("a=3; Path=/app/list", at: Self.secure)
        #expect(try await load(Self.secure, &browser) == ["a=1", "a=2"])
        #expect(browser.visible() == ["a=1"])
    }

    @Test("What another program removes from the jar, or hides, the browser loses", arguments: [secure, plain])
    func changedElsewhere(url: String) async throws {
        for isHidden in [false, true] {
            let (fixture, gate) = try Self.gateway()
            var browser = Browser()
            try await load(url, &browser, setting: ["theme=dark; Path=/", "lang=de; Path=/app"], through: gate)
            for _ in 0..<2 { try await load(url, &browser, through: gate) }
            if isHidden {
                try fixture.set("lang=en; Path=/app; HttpOnly", at: url)
            } else {
                var filter = CookieFilter()
                filter.name = "lang"
                try fixture.jar.removeCookies(filter, now: .now)
            }
            let sent = isHidden ? ["lang=en", "theme=dark"] : ["theme=dark"]
            for _ in 0..<2 { #expect(try await load(url, &browser, through: gate) == sent) }
            #expect(browser.visible() == ["theme=dark"])
            #expect(try pairs(in: fixture) == sent)
            guard !isHidden else { continue }
            // A script sets it anew, and another program does.
            try browser.setByScript("lang=de; Path=/app", at: url)
            for _ in 0..<2 { #expect(try await load(url, &browser, through: gate) == ["lang=de", "theme=dark"]) }
            #expect(browser.visible() == ["lang=de", "theme=dark"])
        }
    }

    @Test("In the mode strip, a server's deletion deletes what a script has set; at an address of the gateway, nothing")
    func stripped() async throws {
        let (fixture, gate) = try Self.gateway(.strip)
        var browser = Browser()
        try await load(Self.secure, &browser, through: gate)
        try browser.setByScript("token=1; Path=/", at: Self.secure)
        #expect(try await load(Self.secure, &browser, through: gate) == ["token=1"])
        try await load(Self.secure, &browser, setting: ["token=; Path=/; Max-Age=0"], through: gate)
        #expect(browser.visible() == [])
        #expect(try pairs(in: fixture) == [])
    }

    private static let lines: [(line: String, deletion: String?)] = [
        ("a=secret; HttpOnly", "a=; HttpOnly; Max-Age=0"),
        ("a=secret;HttpOnly;Path=/x;Max-Age=60", "a=;HttpOnly;Path=/x; Max-Age=0"),
        (
            "a=secret; Expires=Thu, 01 Jan 2099 00:00:00 GMT; Secure; Comment=secret; SameSite=None; Partitioned; Priority=High",
            "a=; Secure; SameSite=None; Partitioned; Max-Age=0"
        ),
        ("secret; HttpOnly", "=-; HttpOnly; Max-Age=0"), ("=; HttpOnly", nil), ("a=\u{1}; HttpOnly", nil),
        ("a=\(String(repeating: "x", count: 4096)); HttpOnly", nil),
    ]

    @Test("A deletion has the attributes of the line that it stands for, and nothing of the value", arguments: lines)
    func attributes(line: String, deletion: String?) {
        #expect(CookieDeletion.line(inPlaceOf: Octets(line), profile: .rfc6265bis) == deletion.map { Octets($0) })
    }

    @Test("The number of deletions is limited, whatever the URL and the names")
    func limited() async throws {
        let deep = "https://a.b.c.d.e.f.shop.example/" + String(repeating: "x/", count: 500)
        let ids = CookieDeletion.lines(
            for: "a", at: try RequestURL(deep), [], keeping: [], partition: nil, .bundled)
        #expect(ids.count == 64)
        #expect(ids.first == "a=; Path=/; Secure; SameSite=None; Max-Age=0")
        var browser = Browser()
        let names = (0..<50).map { "n\($0)" }
        try await load(Self.secure, &browser, setting: names.map { Octets("\($0)=1; HttpOnly; Path=/") })
        try await load(Self.secure, &browser)
        let field = try browser.field(at: Self.secure) + "; " + names.map { "\($0)=2" }.joined(separator: "; ")
        #expect(try await send(Self.secure, field).lines.count <= CookieDeletion.limit + 1)
    }
}
