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

@Suite("What a browser has removed to make room stays in the jar")
struct EvictionTests {
    private let fixture: GatewayFixture
    private let gate: JarRequestPolicy
    private let clock = Clock()

    /// What time it is, in seconds.
    private final class Clock: Sendable {
        let seconds = Mutex<Int64>(1_800_000_000)
    }

    init() throws {
        fixture = try GatewayFixture()
        let profile = BrowserKnowledge(
            .bundled, sees: { $0.description.hasSuffix("shop.example") },
            seesSite: { $0.description == "shop.example" })
        let clock = clock
        gate = JarRequestPolicy(jar: fixture.jar, mode: .mirror, profile: profile) {
            Timestamp(seconds: clock.seconds.withLock { $0 })
        }
    }

    private static let (secure, plain) = ("https://www.shop.example/", "http://www.shop.example/")

    /// A browser's cookies of one site, without paths.
    private struct Browser {
        /// The line of each cookie, in the order of their last use.
        var lines: [(name: String, line: String)] = []

        func isSecure(_ line: String) -> Bool { line.contains("; Secure") }

        mutating func field(at url: String) -> String {
            let sent = lines.filter {
                !$0.line.contains("Path=/flood") && (!isSecure($0.line) || url.hasPrefix("https:"))
            }
            lines = lines.filter { line in !sent.contains { $0.name == line.name } } + sent
            return sent.map { String($0.line.prefix { $0 != ";" }) }.joined(separator: "; ")
        }

        mutating func take(_ lines: [Octets]) {
            for line in lines.map(\.description) {
                let name = String(line.prefix { $0 != "=" })
                self.lines.removeAll { $0.name == name }
                if !line.contains("Max-Age=0") { self.lines.append((name, line)) }
            }
        }

        /// Sets cookies of another host of the site. Of more than 180, 31 are removed, as by Chromium and Firefox: those
        /// without Secure first, then those used least recently.
        mutating func flood(_ count: Int, isSecure isFloodSecure: Bool) {
            for number in 0..<count {
                lines.append(("f\(number)", "f\(number)=1; Path=/flood\(isFloodSecure ? "; Secure" : "")"))
                guard lines.count > 180 else { continue }
                for _ in 0..<31 {
                    lines.remove(at: lines.firstIndex(where: { !isSecure($0.line) }) ?? 0)
                }
            }
        }

        mutating func remove(_ name: String) { lines.removeAll { $0.name == name } }

        var canary: String? {
            lines.first { $0.line.contains("SameSite=Strict") && !isSecure($0.line) }?.name
        }
    }

    @discardableResult
    private func load(
        _ url: String, _ browser: inout Browser, setting lines: [String] = [], through other: JarRequestPolicy? = nil
    ) async throws -> [Octets] {
        let isEncrypted = try RequestURL(url).scheme.isCryptographic
        let navigation =
            isEncrypted ? ["Sec-Fetch-Dest: document", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: none"] : []
        let (decision, answers) = try await (other ?? gate).exchange(
            url, fields: ["Upgrade-Insecure-Requests: 1"] + navigation, cookies: "\(browser.field(at: url))",
            setting: lines.map { Octets($0) })
        browser.take(answers)
        return decision.deleted
    }

    private func names() throws -> [String] {
        try fixture.jar.cookies().readable.map(\.name.description).sorted()
    }

    private func wait(_ seconds: Int64) { clock.seconds.withLock { $0 += seconds } }

    private static let own = ["plain=1; Path=/", "locked=1; Path=/; Secure"]

    private func browser(at url: String, setting lines: [String] = own) async throws -> Browser {
        var browser = Browser()
        try await load(url, &browser, setting: lines)
        for _ in 0..<3 { try await load(url, &browser) }
        return browser
    }

    private static let floods: [(count: Int, isSecure: Bool)] = [170, 173, 180, 204, 235, 400].flatMap {
        [($0, false), ($0, true)]
    }

    @Test("However many cookies a browser removes, none is deleted in the jar", arguments: floods)
    func flooded(count: Int, isSecure: Bool) async throws {
        var browser = try await browser(at: Self.secure)
        try #require(browser.canary != nil)
        browser.flood(count, isSecure: isSecure)
        #expect(browser.lines.contains { $0.name == "plain" } == (count < 173))
        for _ in 0..<4 {
            #expect(try await load(Self.secure, &browser) == [])
            #expect(try names() == ["locked", "plain"])
        }
        // What a script deletes after that is believed again.
        #expect(browser.canary != nil)
        try await load(Self.secure, &browser, setting: ["later=1; Path=/"])
        for _ in 0..<2 { try await load(Self.secure, &browser) }
        browser.remove("later")
        #expect(try await load(Self.secure, &browser) == ["later"])
    }

    @Test("Cookies that a browser has removed over http to make room stay in the jar, too", arguments: [170, 180, 400])
    func floodedOverHTTP(count: Int) async throws {
        var browser = try await browser(at: Self.plain, setting: ["plain=1; Path=/"])
        browser.flood(count, isSecure: false)
        for _ in 0..<4 {
            #expect(try await load(Self.plain, &browser) == [])
            #expect(try names() == ["plain"])
        }
    }

    @Test("What a script has deleted while the canary is there is deleted", arguments: ["plain", "locked"])
    func deleted(name: String) async throws {
        var browser = try await browser(at: Self.secure)
        browser.remove(name)
        #expect(try await load(Self.secure, &browser) == [Octets(name)])
        #expect(try names() == ["locked", "plain"].filter { $0 != name })
    }

    @Test(
        "A cookie that was used before the canary may be evicted alone",
        arguments: [(seconds: Int64(60), true), (61, false)])
    func idle(seconds: Int64, isDeleted: Bool) async throws {
        let lines = ["plain=1; Path=/a", "locked=1; Path=/a; Secure"]
        var browser = Browser()
        try await load("\(Self.secure)a", &browser, setting: lines)
        for _ in 0..<3 { try await load("\(Self.secure)a", &browser) }
        // Requests for another path carry the canary alone.
        let all = browser.lines
        browser.remove("plain")
        browser.remove("locked")
        wait(seconds)
        try await load("\(Self.secure)b", &browser)
        #expect(Set(try await load("\(Self.secure)a", &browser)) == (isDeleted ? ["locked", "plain"] : []))
        guard !isDeleted else { return }
        #expect(try names() == ["locked", "plain"])
        // Once they have come back, it proves again what it did.
        browser.lines = all
        try await load("\(Self.secure)a", &browser)
        browser.remove("locked")
        #expect(try await load("\(Self.secure)a", &browser) == ["locked"])
    }

    @Test("The canary tells nothing of a partition, for which browsers have other limits")
    func partition() async throws {
        let line = "own=1; Path=/; Secure; SameSite=None; Partitioned"
        var browser = try await browser(at: Self.secure, setting: [line])
        browser.remove("own")
        #expect(try await load(Self.secure, &browser) == [])
        // Not longer than the witnesses count.
        wait(80_000)
        for _ in 0..<2 { #expect(try await load(Self.secure, &browser) == []) }
        wait(6_400)
        #expect(try await load(Self.secure, &browser) == ["own"])
    }

    @Test("A canary that was set again since the cookie came last proves nothing")
    func setAgain() async throws {
        var browser = try await browser(at: Self.secure)
        browser.remove(try #require(browser.canary))
        browser.remove("locked")
        for _ in 0..<3 {
            #expect(try await load(Self.secure, &browser) == [])
            #expect(browser.canary != nil)
        }
        #expect(try names() == ["locked", "plain"])
        browser.remove("plain")
        #expect(try await load(Self.secure, &browser) == ["plain"])
    }

    @Test("Without a proof, the jar keeps a cookie that requests lack for a day")
    func patience() async throws {
        var browser = try await browser(at: Self.secure)
        browser.remove(try #require(browser.canary))
        browser.remove("plain")
        try await load(Self.secure, &browser)
        for seconds: Int64 in [80_000, 6_000] {
            wait(seconds)
            try await load(Self.secure, &browser)
            for _ in 0..<2 { try await load(Self.secure, &browser) }
            #expect(try names() == ["locked", "plain"])
        }
        wait(500)
        #expect(try await load(Self.secure, &browser) == ["plain"])
        #expect(try names() == ["locked"])
    }

    @Test("Chromium removes cookies by their Priority, so one that has it is no proof", arguments: ["Low", "High"])
    func priority(value: String) async throws {
        var browser = try await browser(at: Self.secure, setting: ["a=1; Path=/; Priority=\(value)"])
        browser.remove("a")
        #expect(try await load(Self.secure, &browser) == [])
        try await load(Self.secure, &browser, setting: ["a=1; Path=/"])
        for _ in 0..<2 { try await load(Self.secure, &browser) }
        browser.remove("a")
        #expect(try await load(Self.secure, &browser) == ["a"])
    }

    @Test("A cookie that no request has carried for four weeks may have gone for those of other sites")
    func unused() async throws {
        var browser = try await browser(at: Self.secure)
        wait(29 * 86_400)
        browser.remove("locked")
        #expect(try await load(Self.secure, &browser) == [])
    }

    @Test("Cookies of scripts do not crowd out those of servers in the jar")
    func crowd() async throws {
        let lines = ["sid=31d4; Path=/; HttpOnly", "plain=1; Path=/"]
        var browser = try await browser(at: Self.secure, setting: lines)
        // Some browsers have no limit.
        for number in 0..<400 { browser.lines.append(("s\(number)", "s\(number)=1; Path=/")) }
        let profile = BrowserKnowledge(.bundled, sees: { _ in true }, seesSite: { _ in true })
        let clock = clock
        let later = JarRequestPolicy(jar: fixture.jar, mode: .mirror, profile: profile) {
            Timestamp(seconds: clock.seconds.withLock { $0 })
        }
        for gate in [gate, later] {
            for path in ["", "a", "b"] { try await load(Self.secure + path, &browser, through: gate) }
            let names = try names()
            #expect(names.contains("sid") && names.contains("plain") && names.count <= 101)
        }
    }

    @Test("No server and no script makes a canary, and a doubled one is none")
    func forged() throws {
        let witnesses = WitnessCookies(key: .init(data: [UInt8](repeating: 1, count: 32)), hasPrefixes: true)
        let scope = WitnessCookies.Scope(domain: "shop.example", isHostOnly: false, isEncrypted: true)
        let line = try #require(
            witnesses.line(.canary, WitnessCookies.Mark(context: 7, period: 5), in: scope))
        #expect(!line.description.contains("Secure") && line.description.contains("HttpOnly; SameSite=Strict"))
        let pair = Octets(Array(line.prefix { $0 != ASCII.semicolon }))
        func read(_ field: Octets, _ scope: WitnessCookies.Scope) -> WitnessCookies.ReturnedWitnesses {
            witnesses.read([field], in: scope, period: 5)
        }
        #expect(read(pair, scope).canary?.context == 7)
        #expect(read(pair, scope).marks.isEmpty && read(pair, scope).others.isEmpty)
        let double = Octets(Array("\(pair); \(pair)".utf8))
        #expect(
            read(double, scope).canary == nil && !read(double, scope).isForged && read(double, scope).others.isEmpty)
        let altered = Octets(Array("\(pair.description.dropLast())x".utf8))
        #expect(read(altered, scope).canary == nil && !read(altered, scope).isForged)
        let host = WitnessCookies.Scope(domain: "shop.example", isHostOnly: true, isEncrypted: true)
        #expect(read(pair, host).canary == nil && !read(pair, host).isForged)
        let plain = WitnessCookies.Scope(domain: "shop.example", isHostOnly: false, isEncrypted: false)
        #expect(read(pair, plain).canary == nil && read(pair, plain).others.isEmpty)
        #expect(witnesses.isWitness(line))
    }
}
