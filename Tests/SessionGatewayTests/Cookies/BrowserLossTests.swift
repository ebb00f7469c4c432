import CookieModel
import Crypto
import HTTPMessages
import PublicSuffix
import RequestDecoration
import SessionStore
import Synchronization
import Testing
import WebPrimitives

@testable import SessionGateway

@Suite("What a browser has lost stays in the jar")
struct BrowserLossTests {
    private let fixture: GatewayFixture
    private let gate: JarRequestPolicy

    init() throws { (fixture, gate) = try Self.gateway() }

    /// So that the witnesses of each gateway have the same names.
    private static let key = SymmetricKey(size: .bits256)

    private static func gateway(
        _ mode: GatewaySettings.CookieMode = .mirror, now: @escaping @Sendable () -> Timestamp = { .now }
    ) throws -> (GatewayFixture, JarRequestPolicy) {
        let fixture = try GatewayFixture()
        let profile = BrowserKnowledge(
            .bundled, key: key, sees: { $0.description.hasSuffix("shop.example") },
            seesSite: { $0.description == "shop.example" })
        return (fixture, JarRequestPolicy(jar: fixture.jar, mode: mode, profile: profile, now: now))
    }

    /// A browser that knows one site.
    private struct Browser {
        struct Stored {
            let pair: String
            let isPersistent: Bool
            let isSecure: Bool
            let line: String
        }

        var cookies: [String: Stored] = [:]

        func field(at url: String) -> String {
            cookies.values.filter { !$0.isSecure || url.hasPrefix("https:") }.map(\.pair).sorted()
                .joined(separator: "; ")
        }

        mutating func take(_ lines: [Octets]) {
            for line in lines.map(\.description) {
                let pair = String(line.prefix { $0 != ";" })
                let name = String(pair.prefix { $0 != "=" })
                guard !line.contains("Max-Age=0") else {
                    cookies[name] = nil
                    continue
                }
                cookies[name] = Stored(
                    pair: pair, isPersistent: line.contains("Max-Age") || line.contains("Expires"),
                    isSecure: line.contains("; Secure"), line: line)
            }
        }

        /// Ends the browser and starts it again with the same profile.
        mutating func restart() { cookies = cookies.filter { $0.value.isPersistent } }

        mutating func setByScript(_ pair: String) { take([Octets(pair)]) }
    }

    private static let page = [
        "Sec-Fetch-Dest: document", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: none", "Upgrade-Insecure-Requests: 1",
    ]
    private static let image = ["Sec-Fetch-Dest: image", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Site: same-origin"]
    private static let lines = [
        "theme=dark; Path=/", "lang=de; Path=/; Max-Age=86400", "sid=31d4; Path=/; HttpOnly; Max-Age=86400",
    ]

    /// A request that the gateway has got, whose response the browser has not.
    private struct Exchange {
        /// What the server gets.
        let sent: Set<String>
        let lines: [Octets]
        /// The names that the log shows as deleted.
        let deleted: [Octets]
    }

    private func send(
        _ url: String, _ cookies: String, _ fields: [String], setting lines: [String] = [],
        through other: JarRequestPolicy? = nil
    ) async throws -> Exchange {
        // Over http, no Sec-Fetch field is sent.
        let isEncrypted = try RequestURL(url).scheme.isCryptographic
        let (decision, answers) = try await (other ?? gate).exchange(
            url, fields: isEncrypted ? fields : fields.filter { !$0.hasPrefix("Sec-Fetch") }, cookies: cookies,
            setting: lines.map { Octets($0) })
        return Exchange(
            sent: Set(
                (decision.decoration?.cookies.octets.description ?? "").split(separator: "; ").map(String.init)),
            lines: answers,
            deleted: decision.deleted)
    }

    /// Loads something, and returns what the server gets.
    @discardableResult
    private func load(
        _ url: String, _ browser: inout Browser, _ fields: [String] = image, setting lines: [String] = [],
        through other: JarRequestPolicy? = nil
    ) async throws -> Set<String> {
        let exchange = try await send(url, browser.field(at: url), fields, setting: lines, through: other)
        browser.take(exchange.lines)
        return exchange.sent
    }

    private func names(in fixture: GatewayFixture? = nil) throws -> [String] {
        try (fixture ?? self.fixture).jar.cookies().readable.map(\.name.description).sorted()
    }

    private static let (secure, plain) = ("https://www.shop.example/", "http://www.shop.example/")
    private static let all = ["lang", "sid", "theme"]

    /// A browser that has cookies, and has sent them.
    private func browser(at url: String, through other: JarRequestPolicy? = nil) async throws -> Browser {
        var browser = Browser()
        try await load(url, &browser, Self.page, setting: Self.lines, through: other)
        for _ in 0..<3 { try await load(url, &browser, through: other) }
        return browser
    }

    private static let restarts: [(first: String, second: String, keepsProfile: Bool)] = [secure, plain].flatMap {
        first in [secure, plain].flatMap { second in [(first, second, false), (first, second, true)] }
    }

    @Test("A browser that was started again has deleted nothing, and gets its cookies anew", arguments: restarts)
    func restarted(first: String, second: String, keepsProfile: Bool) async throws {
        for mode in [GatewaySettings.CookieMode.mirror, .pass, .strip] {
            let (fixture, gate) = try Self.gateway(mode)
            var browser = try await browser(at: first, through: gate)
            for _ in 0..<2 {
                if keepsProfile { browser.restart() } else { browser = Browser() }
                try await load(second, &browser, Self.page, through: gate)
                #expect(try names(in: fixture) == Self.all, "\(mode)")
                let sent = try await load(second, &browser, through: gate)
                #expect(sent == ["lang=de", "sid=31d4", "theme=dark"], "\(mode)")
                #expect(try names(in: fixture) == Self.all, "\(mode)")
                for url in [second, first, second] {
                    try await load(url, &browser, Self.page, through: gate)
                    try await load(url, &browser, through: gate)
                }
                #expect(try names(in: fixture) == Self.all, "\(mode)")
                #expect(mode == .strip || browser.cookies["theme"] != nil && browser.cookies["lang"] != nil)
            }
        }
    }

    @Test("What a script deletes is deleted in the jar, over https and http", arguments: [secure, plain])
    func deleted(url: String) async throws {
        for isRestarted in [false, true] {
            let (fixture, gate) = try Self.gateway()
            var browser = try await browser(at: url, through: gate)
            if isRestarted {
                browser.restart()
                try await load(url, &browser, Self.page, through: gate)
                for _ in 0..<3 { try await load(url, &browser, through: gate) }
            }
            browser.cookies["theme"] = nil
            #expect(try await load(url, &browser, through: gate) == ["lang=de", "sid=31d4"])
            #expect(try names(in: fixture) == ["lang", "sid"])
            browser.cookies["lang"] = nil
            let exchange = try await send(url, browser.field(at: url), Self.image, through: gate)
            #expect(exchange.deleted == ["lang"])
            #expect(try names(in: fixture) == ["sid"])
        }
    }

    @Test("A request that the browser made before it had a cookie deletes nothing", arguments: [secure, plain])
    func late(url: String) async throws {
        var browser = try await browser(at: url)
        let early = browser.field(at: url)
        try await load(url, &browser, setting: ["new=1; Path=/; Max-Age=86400"])
        try await load(url, &browser)
        _ = try await send(url, early, Self.image)
        #expect(try names() == ["lang", "new", "sid", "theme"])
        // A deleted one that the server sets anew is another one.
        browser.cookies["new"] = nil
        for _ in 0..<2 { try await load(url, &browser) }
        #expect(try names() == Self.all)
        let without = browser.field(at: url)
        try await load(url, &browser, setting: ["new=1; Path=/; Max-Age=86400"])
        _ = try await send(url, without, Self.image)
        #expect(try names() == ["lang", "new", "sid", "theme"])
        // Also one whose deletion no request has shown.
        for _ in 0..<2 { try await load(url, &browser) }
        browser.cookies["new"] = nil
        let unaware = browser.field(at: url)
        try fixture.jar.removeCookies(CookieFilter(), now: .now)
        _ = try await send(url, unaware, Self.image, setting: ["new=1; Path=/; Max-Age=86400"])
        _ = try await send(url, unaware, Self.image)
        #expect(try names().contains("new"))
        // And one that another program sets anew.
        try await load(url, &browser, setting: ["new=1; Path=/; Max-Age=86400"])
        for _ in 0..<2 { try await load(url, &browser) }
        let before = browser.cookies.removeValue(forKey: "new")
        try await load(url, &browser)
        #expect(try before != nil && !names().contains("new"))
        try fixture.set("new=1; Path=/; Max-Age=86400", at: url)
        try await load(url, &browser)
        #expect(try names().contains("new"))
    }

    @Test("What another program has set since, or renewed, no script has deleted")
    func renewed() async throws {
        let ahead = Ahead()
        let (fixture, gate) = try Self.gateway { Timestamp.now.advanced(bySeconds: ahead.seconds.withLock { $0 }) }
        var browser = try await browser(at: Self.secure, through: gate)
        try fixture.set("theme=light; Path=/", at: Self.secure)
        browser.cookies["theme"] = nil
        try await load(Self.secure, &browser, through: gate)
        #expect(try names(in: fixture) == Self.all)
        // The browser's own ends earlier than that of the jar.
        try await load(Self.secure, &browser, setting: ["short=1; Path=/; Max-Age=600"], through: gate)
        for _ in 0..<2 { try await load(Self.secure, &browser, through: gate) }
        try fixture.set("short=1; Path=/; Max-Age=86400", at: Self.secure)
        browser.cookies["short"] = nil
        ahead.seconds.withLock { $0 = 601 }
        try await load(Self.secure, &browser, through: gate)
        #expect(try names(in: fixture) == ["lang", "short", "sid", "theme"])
    }

    /// How far a clock is ahead.
    private final class Ahead: Sendable {
        let seconds = Mutex<Int64>(0)
    }

    @Test(
        "A browser that was started again sends an old value, and the jar keeps the newer one",
        arguments: [secure, plain])
    func older(url: String) async throws {
        var browser = try await browser(at: url)
        browser.restart()
        try fixture.set("lang=en; Path=/; Max-Age=86400", at: url)
        try await load(url, &browser, Self.page)
        for _ in 0..<2 { try await load(url, &browser) }
        #expect(try fixture.jar.cookies().readable.contains { $0.pair == "lang=en" })
        #expect(browser.cookies["lang"]?.pair == "lang=en")
    }

    @Test("A browser that has removed witnesses may have removed other cookies, too", arguments: [secure, plain])
    func incomplete(url: String) async throws {
        for index in 0..<(url == Self.secure ? 6 : 4) {
            let (fixture, gate) = try Self.gateway()
            var browser = try await browser(at: url, through: gate)
            let witnesses = browser.cookies.filter { !Self.all.contains($0.key) }
                .sorted { $0.key < $1.key }
            try #require(witnesses.count > index)
            browser.cookies[witnesses[index].key] = nil
            browser.cookies["theme"] = nil
            try await load(url, &browser, through: gate)
            // That of a partition tells nothing of other cookies.
            let isOther = witnesses[index].value.line.contains("Partitioned")
            #expect(try names(in: fixture).contains("theme") == !isOther, "\(witnesses[index].value.line)")
        }
    }

    @Test("Where a site has so many cookies that browsers remove some, a missing one is not deleted")
    func crowd() async throws {
        var browser = Browser()
        let lines = (0..<100).map { "c\($0)=1; Path=/" }
        try await load(Self.secure, &browser, Self.page, setting: lines)
        for _ in 0..<3 { try await load(Self.secure, &browser) }
        browser.cookies["c7"] = nil
        try await load(Self.secure, &browser)
        #expect(try names().count == 100)
    }

    @Test("No script deletes an HttpOnly cookie that passes through the gateway")
    func hidden() async throws {
        let (fixture, gate) = try Self.gateway(.pass)
        var browser = try await browser(at: Self.secure, through: gate)
        browser.cookies["sid"] = nil
        browser.cookies["theme"] = nil
        try await load(Self.secure, &browser, through: gate)
        #expect(try names(in: fixture) == ["lang", "sid"])
    }

    @Test("Two browsers at one gateway delete nothing of each other", arguments: [secure, plain])
    func others(url: String) async throws {
        var first = try await browser(at: url)
        var second = Browser()
        try await load(url, &second, Self.page)
        second.setByScript("own=1")
        for _ in 0..<3 { try await load(url, &second) }
        for _ in 0..<2 {
            try await load(url, &first)
            try await load(url, &second)
        }
        #expect(try names() == ["lang", "own", "sid", "theme"])
    }
}
