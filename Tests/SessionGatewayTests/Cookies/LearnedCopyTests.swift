import CookieModel
import Crypto
import HTTPMessages
import PublicSuffix
import RequestDecoration
import SessionStore
import Testing
import WebPrimitives

@testable import SessionGateway

/// A request tells name and value of a script's cookie, so the jar's copy may differ from it in domain and path.
@Suite("The jar's copy of a script's cookie ends with the cookie")
struct LearnedCopyTests {
    private static let page = [
        "Sec-Fetch-Dest: document", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: none", "Upgrade-Insecure-Requests: 1",
    ]
    private static let own = ["Sec-Fetch-Dest: empty", "Sec-Fetch-Mode: cors", "Sec-Fetch-Site: same-origin"]
    private static let site = "https://www.shop.example/app/"
    private static let key = SymmetricKey(size: .bits256)

    /// A run of a browser, whose cookies a store holds.
    private struct Browser {
        let gate: JarRequestPolicy
        var store = CookieStore()
        /// The witnesses, which no store takes, by name.
        var witnesses: [String: String] = [:]

        init(_ jar: CookieJar, after former: Browser? = nil) {
            let profile = BrowserKnowledge(
                .bundled, key: LearnedCopyTests.key, sees: { $0.description.hasSuffix("shop.example") },
                seesSite: { $0.description == "shop.example" })
            gate = JarRequestPolicy(jar: jar, mode: .mirror, profile: profile, now: { .now })
            if let former { (store, witnesses) = (former.store, former.witnesses) }
        }

        /// The Cookie field of the next request.
        mutating func field(_ url: String = LearnedCopyTests.site) throws -> String {
            let own = try store.cookieString(for: RequestContext(url: RequestURL(url)), now: .now).description
            return ((own.isEmpty ? [] : [own]) + witnesses.values).joined(separator: "; ")
        }

        mutating func setByScript(_ line: String, at url: String = LearnedCopyTests.site) throws {
            var context = RequestContext(url: try RequestURL(url))
            context.interface = .script
            let decision = store.receive(Octets(line), in: context, now: .now)
            try #require(decision.outcome != .rejected)
        }

        /// Sends a request.
        ///
        /// - Parameter late: The Cookie field of a request that was made earlier; `nil` for one that is made now.
        /// - Returns: What the server gets.
        @discardableResult
        mutating func load(
            _ fields: [String] = LearnedCopyTests.own, setting lines: [String] = [], late: String? = nil,
            at url: String = LearnedCopyTests.site
        ) async throws -> String {
            let (decision, answer) = try await gate.exchange(
                url, fields: fields, cookies: late ?? field(url), setting: lines.map { Octets($0) })
            let context = RequestContext(url: try RequestURL(url))
            for line in answer where store.receive(line, in: context, now: .now).reasons.contains(.gatewayWitness) {
                let pair = line.description.prefix { $0 != ";" }
                witnesses[String(pair.prefix { $0 != "=" })] = String(pair)
            }
            return decision.decoration?.cookies.octets.description ?? ""
        }

        /// Opens a page, and loads something else.
        mutating func begin(at url: String = LearnedCopyTests.site) async throws {
            try await load(LearnedCopyTests.page, at: url)
            for _ in 0..<2 { try await load(at: url) }
        }
    }

    private let fixture: GatewayFixture
    private var jar: CookieJar { fixture.jar }

    init() throws { fixture = try GatewayFixture() }

    /// What a browser without cookies sends with its first page.
    private func newBrowserSends() async throws -> String {
        var browser = Browser(jar)
        return try await browser.load(Self.page)
    }

    /// A browser that has sent a cookie of a script.
    private func browser(_ jar: CookieJar? = nil, afterSetting line: String, loads: Int = 1) async throws -> Browser {
        var browser = Browser(jar ?? self.jar)
        try await browser.begin()
        try browser.setByScript(line)
        for _ in 0..<loads { try await browser.load() }
        return browser
    }

    private static let replacements: [(script: String, server: String, left: String)] = [
        ("sid=old; Domain=shop.example; Path=/", "sid=new; Domain=shop.example; Path=/", "sid=new"),
        ("sid=old; Domain=shop.example", "sid=new; Domain=shop.example; Path=/app; Max-Age=600", "sid=new"),
        ("sid=old; Path=/app", "sid=new; Path=/app", "sid=new"),
        ("sid=old; Path=/app; Secure", "sid=old; Path=/app; Secure; Max-Age=600", "sid=old"),
        ("sid=old; Path=/", "sid=new; Path=/", "sid=new"),
        ("sid=old; Domain=shop.example; Path=/", "sid=new; Domain=shop.example; Path=/; HttpOnly", "sid=new"),
        ("sid=old; Domain=shop.example; Path=/", "sid=; Domain=shop.example; Path=/; Max-Age=0", ""),
        ("sid=old; Path=/app", "sid=; Path=/app; Expires=Thu, 01 Jan 1970 00:00:00 GMT", ""),
    ]

    @Test("A response that replaces or deletes the script's cookie ends the copy, too", arguments: replacements)
    func replaced(script: String, server: String, left: String) async throws {
        for requestCount in 0..<3 {
            let fixture = try GatewayFixture()
            var browser = try await browser(fixture.jar, afterSetting: script, loads: 0)
            #expect(try await browser.load() == "sid=old")
            try await browser.load(setting: [server])
            for _ in 0..<requestCount { #expect(try await browser.load() == left) }
            var later = Browser(fixture.jar)
            #expect(try await later.load(Self.page) == left, "after \(requestCount) requests")
        }
    }

    private static let others: [(script: String, server: String)] = [
        ("sid=own; Path=/", "sid=other; Domain=shop.example; Path=/"), ("sid=own; Path=/", "sid=other; Path=/app"),
    ]

    @Test("The jar keeps both if the response has set another cookie of that name", arguments: others)
    func beside(script: String, server: String) async throws {
        var browser = try await browser(afterSetting: script)
        try await browser.load(setting: [server])
        for _ in 0..<3 {
            let cookies = try Set(browser.field().split(separator: "; ").filter { $0.hasPrefix("sid=") })
            #expect(cookies == ["sid=own", "sid=other"])
            #expect(try await Set(browser.load().split(separator: "; ")) == cookies)
        }
        #expect(try await Set(newBrowserSends().split(separator: "; ")) == ["sid=own", "sid=other"])
    }

    @Test("A copy never takes the place of a cookie that a server has set")
    func taken() async throws {
        var browser = try await browser(afterSetting: "sid=own; Domain=shop.example; Path=/")
        try await browser.load(setting: ["sid=other; Path=/; Max-Age=600"])
        for _ in 0..<3 {
            let sent = try await browser.load()
            #expect(sent.contains("sid=own") && sent.contains("sid=other"))
            #expect(try jar.cookies().readable.map(\.pair) == ["sid=other"])
        }
        #expect(try jar.cookies().readable.allSatisfy { $0.isPersistent })
    }

    @Test("A copy stays if the response sets a cookie of another name, or for another host")
    func unrelated() async throws {
        var browser = try await browser(afterSetting: "sid=own; Domain=shop.example; Path=/")
        try await browser.load(setting: ["side=1; Domain=shop.example; Path=/"])
        let other = "https://img.shop.example/"
        try await browser.begin(at: other)
        try await browser.load(setting: ["sid=img; Path=/"], at: other)
        #expect(try await newBrowserSends() == "sid=own; side=1")
    }

    @Test("Copies for several hosts of a site end together")
    func severalHosts() async throws {
        let other = "https://img.shop.example/"
        var browser = Browser(jar)
        for url in [Self.site, other] { try await browser.begin(at: url) }
        try browser.setByScript("sid=old; Domain=shop.example; Path=/")
        for url in [Self.site, other] { try await browser.load(at: url) }
        #expect(try jar.cookies().readable.count == 2)
        try await browser.load(setting: ["sid=new; Domain=shop.example; Path=/"], at: other)
        #expect(try jar.cookies().readable.map(\.pair) == ["sid=new"])
    }

    @Test("A request that was made before the response changes nothing, and is sent as it is")
    func late() async throws {
        var browser = try await browser(afterSetting: "sid=old; Domain=shop.example; Path=/", loads: 2)
        let early = try browser.field()
        try await browser.load(setting: ["sid=new; Domain=shop.example; Path=/"])
        #expect(try await browser.load(late: early) == "sid=old")
        #expect(try browser.field().contains("sid=new"))
        #expect(try await browser.load() == "sid=new")
        #expect(try jar.cookies().readable.map(\.pair) == ["sid=new"])
    }

    @Test(
        "A cookie that only the browser takes stays there, even if the jar has lost an equal one",
        arguments: [true, false])
    func refused(isScripts: Bool) async throws {
        let line = "sid=old; Path=/app"
        var browser = Browser(jar)
        try await browser.begin()
        if isScripts { try browser.setByScript(line) } else { try await browser.load(setting: [line]) }
        #expect(try await browser.load() == "sid=old")
        // A person clears both. The witnesses are gone, too.
        _ = try jar.removeCookies(CookieFilter(), now: .now)
        (browser.store, browser.witnesses) = (CookieStore(), [:])
        try await browser.load(setting: [line])
        #expect(try jar.cookies().readable.isEmpty)
        try await browser.begin()
        #expect(try browser.field().contains("sid=old"))
        #expect(try await browser.load() == "sid=old")
        #expect(try await newBrowserSends() == "sid=old")
    }

    @Test("A script can set the same value again")
    func again() async throws {
        var browser = try await browser(afterSetting: "sid=old; Domain=shop.example; Path=/", loads: 2)
        try await browser.load(setting: ["sid=; Domain=shop.example; Path=/; Max-Age=0"])
        #expect(try await browser.load() == "")
        try browser.setByScript("sid=old; Domain=shop.example; Path=/")
        #expect(try await browser.load() == "sid=old")
        #expect(try await newBrowserSends() == "sid=old")
    }

    @Test("A copy of an earlier gateway ends when the browser is seen without it")
    func ofEarlierGateway() async throws {
        let first = try await browser(afterSetting: "sid=old; Domain=shop.example; Path=/")
        var browser = Browser(jar, after: first)
        for _ in 0..<3 { try await browser.load() }
        try await browser.load(setting: ["sid=new; Domain=shop.example; Path=/"])
        for _ in 0..<3 { #expect(try await browser.load() == "sid=new") }
        #expect(try jar.cookies().readable.map(\.pair) == ["sid=new"])
    }

    @Test("A new value is that of the cookie that a server has set, not of a copy")
    func changed() async throws {
        let first = try await browser(afterSetting: "sid=old; Domain=shop.example; Path=/")
        var browser = Browser(jar, after: first)
        try await browser.load(setting: ["sid=new; Domain=shop.example; Path=/"])
        try browser.setByScript("sid=newer; Domain=shop.example; Path=/")
        #expect(try await browser.load() == "sid=newer")
        #expect(try jar.cookies().readable.first { !$0.isHostOnly }?.pair == "sid=newer")
    }
}
