import CookieModel
import HTTPMessages
import PublicSuffix
import RequestDecoration
import SessionStore
import Testing
import WebPrimitives

@testable import SessionGateway

@Suite("Cookies of scripts in the jar")
struct ScriptCookieTests {
    private static let site = "www.shop.example"
    private static let (secure, plain) = ("https://\(site)/", "http://\(site)/")
    private static let page = ["Upgrade-Insecure-Requests: 1"]
    private static let typed =
        page + ["Sec-Fetch-Dest: document", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: none"]
    private static let own = ["Sec-Fetch-Dest: empty", "Sec-Fetch-Mode: cors", "Sec-Fetch-Site: same-origin"]
    private static let link =
        page + [
            "Sec-Fetch-Dest: document", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: cross-site",
            "Referer: https://www.ads.example/",
        ]
    private static let foreignImage = [
        "Sec-Fetch-Dest: image", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Site: cross-site",
        "Referer: https://www.ads.example/",
    ]

    /// A browser behind a gateway, as the test plays it.
    private struct Browser {
        let gate: JarRequestPolicy
        /// Its witnesses by scheme, then by the value of their SameSite attribute.
        var witnesses: [String: [String: String]] = ["https": [:], "http": [:]]

        init(_ jar: CookieJar) {
            let profile = BrowserKnowledge(
                .bundled, sees: { $0.description.hasSuffix("shop.example") },
                seesSite: { $0.description == "shop.example" })
            gate = JarRequestPolicy(jar: jar, mode: .mirror, profile: profile, now: { .now })
        }

        /// Sends a request; what the server gets, and the lines for the browser.
        @discardableResult
        mutating func send(
            _ url: String, _ fields: [String], _ cookies: [String] = [], with kinds: [String] = [],
            method: String = "GET"
        ) async throws -> (sent: Set<String>, lines: [String]) {
            let target = try RequestURL(url)
            let scheme = target.scheme.name
            var text = ["\(method) / HTTP/1.1", "Host: \(target.host)"]
            text += target.scheme.isCryptographic ? fields : fields.filter { !$0.hasPrefix("Sec-Fetch") }
            let all = cookies + kinds.compactMap { witnesses[scheme]?[$0] }
            if !all.isEmpty { text.append("Cookie: \(all.joined(separator: "; "))") }
            let head = try MessageHead(Array((text + ["", ""]).joined(separator: "\r\n").utf8), from: .client)
            let request = try ForwardedRequest(
                head, try RequestLine(head.octets.span.extracting(head.startLine)),
                through: ForwardedRequest.Destination(
                    host: target.host, port: target.port, isEncrypted: target.scheme.isCryptographic))
            let decision = try await gate.decision(on: request)
            let lines = decision.lines.map(\.description)
            for line in lines where line.contains("HttpOnly") && !line.contains("Partitioned") {
                let kind = ["None", "Lax", "Strict"].first { line.contains("SameSite=\($0)") } ?? "default"
                let name = line.prefix { $0 != "=" }
                // The canary has the attribute of the strict one before it.
                let isFirst = witnesses[scheme]?[kind.lowercased()].map { $0.hasPrefix("\(name)=") } ?? true
                witnesses[scheme]?[isFirst ? kind.lowercased() : "canary"] = String(line.prefix { $0 != ";" })
            }
            let sent = decision.decoration?.cookies.octets.description ?? ""
            return (Set(sent.split(separator: "; ").map(String.init)), lines)
        }

        /// Begins to use the site over a scheme.
        mutating func begin(_ url: String) async throws {
            try await send(url, ScriptCookieTests.typed)
            try await send(url, ScriptCookieTests.own, with: ScriptCookieTests.kinds)
        }
    }

    private static let kinds = ["none", "lax", "strict", "default"]
    private let fixture: GatewayFixture
    private var jar: CookieJar { fixture.jar }

    init() throws { fixture = try GatewayFixture() }

    private func cookie(_ name: String = "a") throws -> Cookie {
        try #require(try jar.cookies().readable.first { $0.name == Octets(name) })
    }

    @Test("What was learned over https goes neither over http nor with another site's links, in a later browser either")
    func learned() async throws {
        var first = Browser(jar)
        try await first.begin(Self.secure)
        #expect(try await first.send(Self.secure, Self.own, ["a=1"], with: Self.kinds).sent == ["a=1"])
        #expect(try cookie().isSecure && cookie().sameSite == .strict && !cookie().isHTTPOnly)
        // Another site's links lead to http first, then again with the witnesses.
        try await first.send(Self.plain, Self.page)
        #expect(try await first.send(Self.plain, Self.page, with: Self.kinds).sent.isEmpty)
        for isWarm in [false, true] {
            var later = Browser(jar)
            if isWarm { try await later.begin(Self.secure) }
            let kinds = isWarm ? ["none", "lax", "default"] : []
            #expect(try await later.send(Self.secure, Self.link, with: kinds).sent.isEmpty)
            try await later.send(Self.plain, Self.page)
            #expect(try await later.send(Self.plain, Self.page, with: Self.kinds).sent.isEmpty)
        }
        var page = Browser(jar)
        let load = try await page.send(Self.secure, Self.typed)
        #expect(load.sent == ["a=1"])
        #expect(load.lines.contains("a=1; Path=/; Secure; SameSite=Strict"))
    }

    @Test("What was learned over http goes to https too, and not with another site's links")
    func learnedOverHTTP() async throws {
        var first = Browser(jar)
        try await first.begin(Self.plain)
        try await first.send(Self.plain, Self.own, ["a=1"], with: Self.kinds)
        #expect(try !cookie().isSecure && cookie().sameSite == .strict)
        var later = Browser(jar)
        #expect(try await later.send(Self.secure, Self.link).sent.isEmpty)
        #expect(try await later.send(Self.secure, Self.typed).sent == ["a=1"])
    }

    /// A request that carries the cookie, and how the jar has it then.
    struct Step: Sendable {
        let url: String
        let fields: [String]
        let kinds: [String]
        var method = "GET"
    }

    private static let overHTTP = Step(url: plain, fields: own, kinds: kinds)
    private static let byLink = Step(url: secure, fields: link, kinds: ["none", "lax", "default"])
    private static let byLinkOverHTTP = Step(
        url: plain, fields: page + ["Referer: http://www.ads.example/"], kinds: ["lax", "default"])
    private static let byForm = Step(
        url: secure, fields: link + ["Origin: https://www.ads.example"], kinds: ["none", "default"], method: "POST")
    private static let byImage = Step(url: secure, fields: foreignImage, kinds: ["none"])

    private static let shownCases: [(steps: [Step], isSecure: Bool, sameSite: SameSite)] = [
        ([], true, .strict), ([overHTTP], false, .strict), ([byLink], true, .lax), ([byForm], true, .default),
        ([byImage], true, .none), ([byLink, byImage], true, .none), ([byImage, byLink], true, .none),
        ([byLink, overHTTP], false, .lax), ([byLinkOverHTTP], false, .lax),
        // Without Secure, no browser takes SameSite=None.
        ([overHTTP, byImage], false, .default), ([byImage, overHTTP], false, .default),
    ]

    @Test(
        "A cookie that the browser sends with a weaker request is weakened, in the jar and for good",
        arguments: shownCases)
    func weakened(steps: [Step], isSecure: Bool, sameSite: SameSite) async throws {
        var browser = Browser(jar)
        for url in [Self.plain, Self.secure] { try await browser.begin(url) }
        try await browser.send(Self.secure, Self.own, ["a=1"], with: Self.kinds)
        let creation = try cookie().creation
        for step in steps {
            let sent = try await browser.send(step.url, step.fields, ["a=1"], with: step.kinds, method: step.method)
                .sent
            #expect(sent == ["a=1"], "The browser decides itself.")
        }
        let shown = try cookie()
        #expect(shown.isSecure == isSecure && shown.sameSite == sameSite)
        // A new value is of the same cookie.
        try await browser.send(Self.secure, Self.own, ["a=2"], with: Self.kinds)
        let renewed = try cookie()
        #expect(try renewed.pair == "a=2" && jar.cookies().readable.count == 1)
        #expect(renewed.isSecure == isSecure && renewed.sameSite == sameSite && renewed.creation == creation)
    }

    private static let unshownCases: [Step] = [
        // The browser has removed the witness.
        Step(url: secure, fields: own, kinds: ["none", "lax", "default"]),
        Step(url: secure, fields: own, kinds: ["none"]),
        // Without credentials, or of a partition.
        Step(url: secure, fields: foreignImage, kinds: []),
        // Another site has redirected a request of the site.
        Step(
            url: secure, fields: own.dropLast() + ["Sec-Fetch-Site: cross-site", "Referer: \(secure)"], kinds: ["none"]),
        // No browser sends these together: an attribute was changed.
        Step(url: secure, fields: link, kinds: ["none", "lax", "default"], method: "POST"),
    ]

    @Test("A request that does not show how the browser has a cookie changes nothing", arguments: unshownCases)
    func unshown(step: Step) async throws {
        var browser = Browser(jar)
        try await browser.begin(Self.secure)
        try await browser.send(Self.secure, Self.own, ["a=1"], with: Self.kinds)
        try await browser.send(step.url, step.fields, ["a=1"], with: step.kinds, method: step.method)
        #expect(try cookie().isSecure && cookie().sameSite == .strict)
    }

    @Test("What a server has set stays as it was set, and another value shows nothing")
    func others() async throws {
        var browser = Browser(jar)
        for url in [Self.plain, Self.secure] { try await browser.begin(url) }
        let lines = [
            "kept=1; Secure; SameSite=Strict; Path=/; Max-Age=600",
            "sub=1; Secure; SameSite=Strict; Path=/; Domain=shop.example",
            "sid=1; Secure; SameSite=Strict; Path=/; HttpOnly",
        ]
        let context = RequestContext(url: try RequestURL(Self.secure))
        _ = try jar.receive(ReceivedResponse(context: context, setCookie: lines.map { Octets($0) }), now: .now)
        try await browser.send(Self.secure, Self.own, ["a=1"], with: Self.kinds)
        let pairs = ["kept=1", "sub=1", "sid=1", "a=2"]
        for step in [Self.overHTTP, Self.byLink, Self.byImage] {
            try await browser.send(step.url, step.fields, pairs, with: step.kinds)
        }
        for name in ["kept", "sub", "sid", "a"] {
            #expect(try cookie(name).isSecure && cookie(name).sameSite == .strict, "\(name)")
        }
        #expect(try cookie().pair == "a=1")
    }
}
