import CookieModel
import Crypto
import PublicSuffix
import Testing
import WebPrimitives

@testable import SessionGateway

@Suite("Verdicts of a browser")
struct BrowserKnowledgeTests {
    private let profile = BrowserKnowledgeTests.profile(1)
    private let start = Timestamp(seconds: 1_800_000_000)

    private static func profile(_ key: UInt8) -> BrowserKnowledge {
        BrowserKnowledge(
            .bundled, key: SymmetricKey(data: [UInt8](repeating: key, count: 32)),
            sees: { $0.description.hasSuffix("shop.example") || $0.description.hasSuffix("ads.example") })
    }

    private static let document = [
        "sec-fetch-dest": "document", "sec-fetch-mode": "navigate", "sec-fetch-site": "none",
    ]

    private func judge(
        _ url: String, _ fields: [String: String] = [:], cookies: [String] = [], method: String = "GET",
        after seconds: Int64 = 0, by other: BrowserKnowledge? = nil
    ) throws -> BrowserKnowledge.Judgement {
        (other ?? profile).judge(
            BrowserKnowledge.Request(
                url: try RequestURL(url), method: method,
                cookies: cookies.isEmpty ? [] : [Octets(cookies.joined(separator: "; "))],
                field: { fields["\($0)"] }),
            now: start.advanced(bySeconds: seconds))
    }

    /// The witnesses that a first page of a site gets, by the SameSite attribute of their lines.
    private func witnesses(of url: String, by other: BrowserKnowledge? = nil) throws -> [String: String] {
        let lines = try judge(url, Self.document, by: other).lines.map(\.description)
        return Dictionary(
            uniqueKeysWithValues: lines.map { line in
                let name =
                    line.contains("Partitioned")
                    ? "partitioned"
                    : ["None", "Lax", "Strict"].first { line.contains("SameSite=\($0)") }?.lowercased() ?? "default"
                return (name, String(line.prefix { $0 != ";" }))
            })
    }

    private static let navigation: EngineVerdict.Classes = [.none, .lax, .default]

    private static let first: [(site: String, destination: String, method: String, classes: EngineVerdict.Classes)] = [
        ("none", "document", "GET", .all), ("same-origin", "document", "POST", .all),
        ("cross-site", "document", "GET", navigation), ("cross-site", "document", "POST", [.none]),
        ("same-origin", "iframe", "GET", []), ("same-origin", "empty", "GET", []), ("cross-site", "image", "GET", []),
    ]

    @Test("Before the witnesses are known, only the page of a tab gets cookies", arguments: first)
    func cold(site: String, destination: String, method: String, classes: EngineVerdict.Classes) throws {
        let fields = [
            "sec-fetch-site": site, "sec-fetch-dest": destination,
            "sec-fetch-mode": destination == "empty" ? "cors" : "navigate",
        ]
        let judgement = try judge("https://www.shop.example/", fields, method: method)
        #expect(judgement.verdict.classes == classes)
        #expect(judgement.verdict.source == (classes.isEmpty ? .nothing : .fetchMetadata))
        // A partition needs the page that it is of.
        #expect(judgement.lines.count == (destination == "document" ? 5 : 4))
    }

    private static let echoes: [(kinds: [String], classes: EngineVerdict.Classes)] = [
        (["none", "lax", "strict", "default"], .all), (["none", "lax", "default"], navigation), (["none"], [.none]),
        ([], []),
        // A browser that has stricter cookies has the laxer ones too.
        (["strict"], []), (["none", "strict"], []), (["lax"], []),
    ]

    @Test("The witnesses that come back are the verdict, whatever the fields say", arguments: echoes)
    func echo(kinds: [String], classes: EngineVerdict.Classes) throws {
        let known = try witnesses(of: "https://www.shop.example/")
        _ = try judge("https://www.shop.example/", cookies: Array(known.values))
        let fields = ["sec-fetch-site": "same-origin", "sec-fetch-dest": "empty", "sec-fetch-mode": "cors"]
        let judgement = try judge(
            "https://api.shop.example/orders", fields, cookies: kinds.compactMap { known[$0] } + ["own=1"])
        #expect(judgement.verdict.classes == classes)
        #expect(judgement.verdict.source == .witness)
        #expect(judgement.cookies == [Octets("own=1")])
    }

    @Test("A page without witnesses starts anew: the browser has lost them")
    func lost() throws {
        let known = try witnesses(of: "https://www.shop.example/")
        _ = try judge("https://www.shop.example/", cookies: Array(known.values))
        #expect(try judge("https://www.shop.example/a").verdict.classes == [])
        #expect(try judge("https://www.shop.example/", Self.document).verdict.classes == .all)
        #expect(try judge("https://www.shop.example/", Self.document).verdict.source == .fetchMetadata)
    }

    @Test("Forged, doubled and stolen witnesses give the strictest verdict")
    func forged() throws {
        let known = try witnesses(of: "https://www.shop.example/")
        let all = Array(known.values)
        let strict = try #require(known["strict"])
        let altered = strict.dropLast() + (strict.last == "0" ? "1" : "0")
        // The value of one class under the name of another.
        let name = try #require(known["lax"]).prefix { $0 != "=" }
        let moved = "\(name)\(strict.drop { $0 != "=" })"
        let elsewhere = try witnesses(of: "https://www.ads.example/")
        let stranger = try witnesses(of: "https://www.shop.example/", by: Self.profile(2))
        var cases: [[String]] = [all + [strict], Array(elsewhere.values)]
        cases.append(all.filter { $0 != strict } + [String(altered)])
        cases.append(all.filter { !$0.hasPrefix(name) } + [moved])
        cases.append(all + [strict.prefix { $0 != "=" } + "=1"])
        for cookies in cases {
            let judgement = try judge("https://www.shop.example/", Self.document, cookies: cookies)
            #expect(judgement.verdict.classes == [], "\(cookies)")
            #expect(judgement.verdict.partition == nil)
        }
        // Those of another profile have other names: they are cookies like any other.
        let fields = ["sec-fetch-site": "same-origin", "sec-fetch-dest": "empty"]
        #expect(try judge("https://www.shop.example/", fields, cookies: Array(stranger.values)).verdict.classes == [])
    }

    @Test("A preflight gets nothing, and sets nothing")
    func preflight() throws {
        let known = try witnesses(of: "https://www.shop.example/")
        let judgement = try judge(
            "https://www.shop.example/", ["access-control-request-method": "PUT"], cookies: Array(known.values),
            method: "OPTIONS")
        #expect(judgement.verdict == EngineVerdict([], source: .nothing))
        #expect(judgement.lines.isEmpty && judgement.cookies.isEmpty)
    }

    @Test("Old witnesses are set again, and say no more than the fields do")
    func old() throws {
        let all = Array(try witnesses(of: "https://www.shop.example/").values)
        let cross = ["sec-fetch-site": "cross-site", "sec-fetch-dest": "empty"]
        let fresh = try judge("https://www.shop.example/", cross, cookies: all)
        #expect(fresh.verdict.classes == .all && fresh.lines.isEmpty)
        let later = try judge("https://www.shop.example/", cross, cookies: all, after: 4 * 1800)
        #expect(later.verdict.classes == [.none] && later.lines.count == 5)
        let same = ["sec-fetch-site": "same-origin", "sec-fetch-dest": "empty"]
        #expect(try judge("https://www.shop.example/", same, cookies: all, after: 4 * 1800).verdict.classes == .all)
    }

    @Test("Over http, only what comes back counts, and no witness is for https alone")
    func plain() throws {
        let first = try judge("http://www.shop.example/", ["upgrade-insecure-requests": "1"])
        #expect(first.verdict.classes == [])
        #expect(first.lines.count == 3 && !first.lines.contains { $0.description.contains("Secure") })
        let pairs = first.lines.map { String($0.description.prefix { $0 != ";" }) }
        #expect(try judge("http://www.shop.example/", cookies: pairs).verdict.classes == .all)
        let known = try witnesses(of: "https://www.shop.example/")
        #expect(try judge("http://www.shop.example/", cookies: Array(known.values)).verdict.classes == [])
    }

    @Test("Hosts that are not seen whole get witnesses of their own")
    func scopes() throws {
        let whole = try judge("https://www.shop.example/", Self.document)
        #expect(whole.lines.allSatisfy { $0.description.contains("Domain=shop.example") })
        let single = BrowserKnowledge(.bundled, sees: { $0.description == "www.shop.example" })
        let lines = try judge("https://www.shop.example/", Self.document, by: single).lines
        #expect(lines.count == 5 && !lines.contains { $0.description.contains("Domain=") })
        let tunnelled = try judge("http://other.example/", by: single)
        #expect(tunnelled.lines.isEmpty)
    }

    @Test("A site has one partition in its own pages, and one in those of each other site")
    func partitions() throws {
        let own = try judge("https://www.shop.example/", Self.document)
        #expect(own.storage.partition?.serialized == "https://shop.example")
        let known = try witnesses(of: "https://www.ads.example/")
        let none = try #require(known["none"])
        let inShop = try judge(
            "https://www.ads.example/ad", ["referer": "https://www.shop.example/"], cookies: [none])
        #expect(inShop.storage.partition?.serialized == "https://shop.example cross-site")
        #expect(inShop.verdict.partition == nil, "The browser has nothing there yet.")
        let line = try #require(inShop.lines.map(\.description).first { $0.contains("Partitioned") })
        let pair = String(line.prefix { $0 != ";" })
        let again = try judge("https://www.ads.example/ad", cookies: [none, pair])
        #expect(again.verdict.partition?.serialized == "https://shop.example cross-site")
        // Later, a second partition claims the name.
        let late = try judge(
            "https://www.ads.example/ad", ["referer": "https://www.shop.example/"], cookies: [none], after: 100)
        #expect(late.storage.partition == nil)
    }
}
