import CookieModel
import RequestDecoration
import TestSupport
import Testing

/// Cookies that are alike are judged and written by what they have in common.
@Suite("Cookies alike in a script")
struct SeedKindTests {
    /// What a script has of each cookie: its object, or why it is left out.
    private func fates(_ script: InjectionScript) -> [String: [String]] {
        var fates: [String: [String]] = [:]
        let objects = script.source.matches(of: #/\{name: .*?state: ""\}/#).map { String($0.output) }
        #expect(objects.count == script.cookies.count)
        for (cookie, object) in zip(script.cookies, objects) { fates[key(cookie)] = [object] }
        for omission in script.omissions {
            fates[key(omission.cookie)] = omission.identifiers + omission.explanations
        }
        return fates
    }

    private func key(_ cookie: Cookie) -> String {
        "\(cookie.id.name) \(cookie.id.domain) \(cookie.id.path) \(cookie.id.isHostOnly) \(cookie.id.partitionKey != nil)"
    }

    private func lines(_ count: Int, _ random: inout SeededGenerator) -> [Octets] {
        let prefixes = ["a", "_ga", "__utma", "__Host-a", "__secure-b", "n\u{e9}", "A-B.c", "__HTTP-c", "s p", "q\"<&"]
        let values = ["", "1", "a b", "q=\"1\"&<", "\u{fc}ber", "tab\tbed", "__Host-d=1", "a=1"]
        let paths = ["/", "/shop", "/shop/", "/other", "/s\u{e9}", ""]
        let sameSites = ["", "; SameSite=Lax", "; SameSite=Strict", "; SameSite=None"]
        return (0..<count).map { index in
            let name = random.pick(prefixes) + (random.once(in: 40) ? "" : String(index))
            let value = random.pick(values) + (random.once(in: 30) ? String(repeating: "v", count: 4085) : "")
            var line = random.once(in: 20) ? "=\(value)\(index)" : "\(name)=\(value)"
            line += "; Path=\(random.pick(paths))\(random.pick(sameSites))"
            if random.once(in: 2) { line += "; Domain=example.com" }
            if random.once(in: 2) { line += "; Secure" }
            if random.once(in: 8) { line += "; Secure; Partitioned" }
            if random.once(in: 2) { line += "; Max-Age=\(60 + random.below(9))" }
            return random.once(in: 30) ? Octets(Array("x\(index)=".utf8) + [0xFF]) : Octets(line)
        }
    }

    @Test(
        "Each cookie of a group is carried or left out as a browser would decide on it alone",
        arguments: 0..<20 as Range<UInt64>)
    func alone(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var refusals = 0
        for url in [
            "https://www.example.com/shop/cart", "http://www.example.com/shop/cart", "https://example.com/shop",
        ] {
            var page = try Page(url)
            let server = RequestContext(url: try RequestURL("https://\(page.url.host.octets)/shop/cart"))
            for line in lines(150, &random) { _ = page.store.receive(line, in: server, now: Page.now) }
            let access = page.access()
            let fates = fates(InjectionScript([access]))
            let visible = page.store.retrieve(for: RequestContext(url: page.url).scriptAccess, now: Page.now)
            let seen = Set(visible.included.map(\.id))
            for cookie in access.retrieval.included {
                let fate = try #require(fates[key(cookie)])
                guard fate.first != InjectionScript.Obstacle.octetsNotUTF8.rawValue else { continue }
                var browser = CookieStore(policy: CookiePolicy(profile: .browser))
                let decision = browser.receive(assignment(of: cookie), in: access.context, now: Page.now)
                if decision.outcome == .rejected {
                    #expect(fate == decision.reasons.identifiers + decision.reasons.reasons.map(\.explanation))
                    refusals += 1
                } else if !seen.contains(cookie.id),
                    (cookie.name.bytes + cookie.value.bytes).contains(where: { $0 > 0x7F })
                {
                    #expect(fate.first == InjectionScript.Obstacle.octetsNotVerifiable.rawValue)
                } else {
                    #expect(fate.count == 1 && fate[0].hasPrefix("{name: "), "\(cookie): \(fate)")
                }
            }
        }
        #expect(refusals > 0)
    }

    /// The set-cookie-string that a script would set the cookie by.
    private func assignment(of cookie: Cookie) -> Octets {
        var line = cookie.id.name.bytes + "=".utf8
        line += cookie.value.bytes + "; Path=".utf8
        line += cookie.id.path
        if !cookie.id.isHostOnly { line += Array("; Domain=".utf8) + cookie.id.domain.octets }
        if cookie.isSecure { line += "; Secure".utf8 }
        if let value = cookie.sameSite.attributeValue { line += "; SameSite=\(value)".utf8 }
        if cookie.id.partitionKey != nil { line += "; Partitioned".utf8 }
        return Octets(line)
    }

    @Test("A script is the same with more kinds of cookies than are remembered")
    func manyKinds() throws {
        let folder = "/folder"
        var page = try Page("https://www.example.com" + String(repeating: folder, count: 40) + "/page")
        for index in 0..<160 {
            let path = String(repeating: folder, count: index % 40 + 1)
            try page.receive(Octets("a\(index)=v; Path=\(path); SameSite=Lax"))
        }
        let fates = fates(page.script())
        #expect(fates.count == 160)
        for fate in fates.values {
            let object = try #require(
                fate.first?.wholeMatch(of: #/\{name: "a(\d+)", .* path: "(.*?)", attributes: "(.*?)".*/#))
            let path = String(repeating: folder, count: (try #require(Int(object.1))) % 40 + 1)
            #expect(object.2 == path && object.3 == "; Path=\(path); SameSite=Lax")
        }
    }
}
