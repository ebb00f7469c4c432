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

    static func profile(_ key: UInt8) -> BrowserKnowledge {
        BrowserKnowledge(
            .bundled, key: SymmetricKey(data: [UInt8](repeating: key, count: 32)),
            sees: { $0.description.hasSuffix("shop.example") || $0.description.hasSuffix("ads.example") },
            seesSite: { ["shop.example", "ads.example"].contains($0.description) })
    }

    static let document = [
        "sec-fetch-dest": "document", "sec-fetch-mode": "navigate", "sec-fetch-site": "none",
    ]

    func judge(
        _ url: String, _ fields: [String: String] = [:], cookies: [String] = [], method: String = "GET",
        after seconds: Int64 = 0, by other: BrowserKnowledge? = nil
    ) throws -> BrowserKnowledge.Verdict {
        (other ?? profile).judge(
            BrowserKnowledge.Request(
                url: try RequestURL(url), method: method,
                cookies: cookies.isEmpty ? [] : [Octets(cookies.joined(separator: "; "))],
                field: { fields["\($0)"] }),
            now: start.advanced(bySeconds: seconds))
    }

    /// The witnesses that a first page of a site gets, by the SameSite attribute of their lines. The canary is the second
    /// one with that of the strict.
    func witnesses(of url: String, by other: BrowserKnowledge? = nil) throws -> [String: String] {
        Self.byKind(try judge(url, Self.document, by: other).lines)
    }

    private static func byKind(_ lines: [Octets]) -> [String: String] {
        lines.map(\.description).reduce(into: [:]) { known, line in
            let name =
                line.contains("Partitioned")
                ? "partitioned"
                : ["None", "Lax", "Strict"].first { line.contains("SameSite=\($0)") }?.lowercased() ?? "default"
            known[known[name] == nil ? name : "canary"] = String(line.prefix { $0 != ";" })
        }
    }

    private static let navigation: EngineVerdict.Classes = [.none, .lax, .default]

    private static let first: [(site: String, destination: String, method: String, classes: EngineVerdict.Classes)] = [
        ("none", "document", "GET", .all), ("same-origin", "document", "POST", .all),
        ("cross-site", "document", "GET", navigation), ("cross-site", "document", "POST", [.none]),
        ("same-origin", "iframe", "GET", []), ("same-origin", "empty", "GET", []), ("cross-site", "image", "GET", []),
    ]

    @Test("Witnesses of every installation are known by their names, and differ from one to the next")
    func names() throws {
        var names: [Set<String>] = []
        for other in [profile, Self.profile(2)] {
            let lines = try judge("https://www.shop.example/", Self.document, by: other).lines
            names.append(Set(lines.map { String($0.description.prefix { $0 != "=" }) }))
        }
        #expect(names[0].count == 6 && names[0].isDisjoint(with: names[1]))
        #expect(names[0].union(names[1]).allSatisfy { WitnessName.matches(Octets($0)) })
    }

    @Test("Before the witnesses are known, only the page of a tab gets cookies", arguments: first)
    func cold(site: String, destination: String, method: String, classes: EngineVerdict.Classes) throws {
        let fields = [
            "sec-fetch-site": site, "sec-fetch-dest": destination,
            "sec-fetch-mode": destination == "empty" ? "cors" : "navigate",
        ]
        let judgement = try judge("https://www.shop.example/", fields, method: method)
        #expect(judgement.verdict.classes == classes)
        #expect(judgement.verdict.source == (classes.isEmpty ? .nothing : .fetchMetadata))
        #expect(judgement.lines.count == (destination == "document" ? 6 : 0))
    }

    private static let chromium = ["user-agent": "Mozilla/5.0 (X11) AppleWebKit/537.36 Chrome/156.0 Safari/537.36"]
    private static let webKit = ["user-agent": "Mozilla/5.0 (X11) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15"]
    private static let firefox = ["user-agent": "Mozilla/5.0 (X11; rv:140.0) Gecko/20100101 Firefox/140.0"]
    private static let frame = [
        "sec-fetch-dest": "iframe", "sec-fetch-mode": "navigate", "sec-fetch-site": "same-origin",
    ]
    private static let foreignFrame = frame.merging(["sec-fetch-site": "cross-site"]) { $1 }
    private static let prefetch = document.merging(["sec-purpose": "prefetch", "sec-fetch-site": "cross-site"]) { $1 }

    private static let storeCases: [(fields: [[String: String]], isOrdinary: Bool)] = [
        ([document], true), ([document, chromium], true), ([frame], false), ([frame, chromium], false),
        // Chromium says if the ordinary store answers a request of another site.
        ([foreignFrame, chromium, ["sec-fetch-storage-access": "active"]], true),
        ([foreignFrame, chromium, ["sec-fetch-storage-access": "inactive"]], false),
        ([foreignFrame, chromium, ["sec-fetch-storage-access": "none"]], false), ([foreignFrame, chromium], false),
        ([["sec-fetch-dest": "fencedframe", "sec-fetch-mode": "navigate", "sec-fetch-site": "cross-site"]], false),
        // These browsers have no frames with temporary stores.
        ([frame, firefox], true), ([foreignFrame, webKit], true), ([frame, webKit, ["sec-ch-ua": "x"]], false),
        ([prefetch, chromium], false), ([["user-agent": "App/1.0"]], false),
    ]

    @Test("Only the ordinary store of a browser gets witnesses, and a partition", arguments: storeCases)
    func stores(fields: [[String: String]], isOrdinary: Bool) throws {
        let fields = fields.reduce(["referer": "https://www.shop.example/"]) { $0.merging($1) { $1 } }
        let judgement = try judge("https://www.shop.example/", fields)
        #expect(judgement.lines.count == (isOrdinary ? 6 : 0))
        #expect(judgement.verdict.classes.isEmpty || fields["sec-fetch-dest"] == "document")
        // Such a frame stays without, whatever else is known of the site.
        let known = try witnesses(of: "https://www.shop.example/")
        _ = try judge("https://www.shop.example/", cookies: Array(known.values))
        guard !isOrdinary else { return }
        let later = try judge("https://www.shop.example/", fields)
        #expect(later.lines.isEmpty && later.verdict.classes.isEmpty && later.verdict.partition == nil)
    }

    @Test("Over http, a page gets witnesses, and a frame in a page of the site gets none in Chromium")
    func storesOverHTTP() throws {
        let url = "http://www.shop.example/"
        let page = Self.chromium.merging(["upgrade-insecure-requests": "1"]) { $1 }
        let frame = page.merging(["referer": url]) { $1 }
        #expect(try judge(url, Self.chromium).lines.isEmpty)
        // The page was there before the gateway.
        #expect(try judge(url, frame).lines.count == 4)
        #expect(try judge(url, frame).lines.isEmpty)
        #expect(try judge(url, page).lines.count == 4)
        #expect(try judge(url, page.merging(["referer": "http://www.ads.example/"]) { $1 }).lines.count == 4)
        #expect(try judge(url, frame.merging(Self.firefox) { $1 }).lines.count == 4)
    }

    private static let post = [
        "sec-fetch-dest": "document", "sec-fetch-mode": "navigate", "sec-fetch-site": "cross-site",
    ]
    private static let all = ["none", "lax", "strict", "default"]
    private static let changedCases:
        [(url: String, method: String, fields: [String: String], kinds: [String], classes: EngineVerdict.Classes)] = [
            ("https", "POST", post, all, [.none]), ("https", "POST", post, ["none", "lax", "default"], [.none]),
            ("https", "GET", post, all, navigation),
            ("https", "GET", ["sec-fetch-site": "cross-site", "sec-fetch-dest": "image"], all, [.none]),
            ("https", "GET", ["sec-fetch-site": "cross-site", "referer": "https://www.ads.example/"], all, [.none]),
            // A request of the site's own page that another site has redirected.
            ("https", "GET", ["sec-fetch-site": "cross-site", "referer": "https://shop.example/"], all, .all),
            (
                "https", "POST",
                ["sec-fetch-site": "cross-site", "origin": "null", "referer": "https://shop.example/"], all, .all
            ),
            ("https", "GET", ["sec-fetch-site": "cross-site", "referer": "http://www.shop.example/"], all, .all),
            // The handshake of a WebSocket in Chromium, and requests over http.
            ("https", "GET", ["origin": "https://www.ads.example"], all, [.none]),
            ("http", "POST", ["origin": "http://www.ads.example"], ["lax", "strict", "default"], []),
            ("http", "POST", ["origin": "null"], ["lax", "strict", "default"], .all),
            // In a frame of another site, Chromium tells of the store.
            ("https", "GET", ["sec-fetch-site": "same-origin", "sec-fetch-storage-access": "active"], all, [.none]),
        ]

    @Test("A witness that another site's page could not have got says no more than the fields", arguments: changedCases)
    func changed(
        url: String, method: String, fields: [String: String], kinds: [String], classes: EngineVerdict.Classes
    ) throws {
        let url = "\(url)://www.shop.example/"
        let first = try judge(url, Self.document.merging(["upgrade-insecure-requests": "1"]) { $1 })
        let known = Self.byKind(first.lines)
        _ = try judge(url, cookies: Array(known.values))
        let judgement = try judge(url, fields, cookies: kinds.compactMap { known[$0] }, method: method)
        #expect(judgement.verdict.classes == classes)
        #expect(judgement.verdict.source == .witness)
        // Nothing is learned from it of the cookies without SameSite.
        _ = try judge(url, cookies: Array(known.values))
        if url.hasPrefix("https"), let none = known["none"], let other = known["default"] {
            let subresource = [
                "sec-fetch-site": "cross-site", "sec-fetch-dest": "document", "sec-fetch-mode": "navigate",
            ]
            let later = try judge(url, subresource, cookies: [none, other], method: "POST")
            #expect(later.verdict.classes == [.none, .recentDefault])
        }
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

    @Test("What a browser has lost with its witnesses, no script has deleted")
    func lostCookies() throws {
        func id(_ host: String) throws -> Cookie.ID {
            Cookie.ID(
                name: "a", domain: try #require(WebHost(host)), isHostOnly: true, path: "/", partitionKey: nil)
        }
        let ids = [try id("api.shop.example"), try id("notshop.example")]
        let known = try witnesses(of: "https://www.shop.example/")
        _ = try judge("https://www.shop.example/", cookies: Array(known.values))
        profile.noteGiven(ids)
        let page = try judge("https://www.shop.example/", Self.document, cookies: Array(known.values))
        #expect(profile.known(ids, in: page.observation) == Set(ids))
        let anew = try judge("https://www.shop.example/", Self.document)
        #expect(profile.known(ids, in: anew.observation) == [])
        // What it has cleared is lost, and another site's is not.
        profile.forget(try RequestURL("https://www.shop.example/"))
        #expect(profile.known(ids, in: page.observation) == [ids[1]])
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
        // Those of another gateway, or of one before this, say nothing, and no server gets them.
        let fields = ["sec-fetch-site": "same-origin", "sec-fetch-dest": "empty"]
        let foreign = try judge("https://www.shop.example/", fields, cookies: Array(stranger.values) + ["own=1"])
        #expect(foreign.verdict.classes == [] && foreign.cookies == [Octets("own=1")])
        #expect(profile.isWitness(Octets("\(try #require(stranger["lax"]).prefix { $0 != "=" })=1; Path=/")))
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
        // Another site has redirected it.
        let cross = ["sec-fetch-site": "cross-site", "sec-fetch-dest": "empty", "referer": "https://shop.example/"]
        let fresh = try judge("https://www.shop.example/", cross, cookies: all)
        #expect(fresh.verdict.classes == .all && fresh.lines.isEmpty)
        let later = try judge("https://www.shop.example/", cross, cookies: all, after: 4 * 1800)
        #expect(later.verdict.classes == [.none] && later.lines.count == 5)
        let same = ["sec-fetch-site": "same-origin", "sec-fetch-dest": "empty"]
        #expect(try judge("https://www.shop.example/", same, cookies: all, after: 4 * 1800).verdict.classes == .all)
    }

    private static let sources: [(fields: [String: String], isSameSite: Bool)] = [
        (["sec-fetch-site": "same-site"], true), (["sec-fetch-site": "cross-site"], false),
        // The handshake of a WebSocket in Chromium has no other field.
        (["origin": "https://www.shop.example"], true), (["origin": "https://shop.example:8443"], true),
        (["origin": "https://ads.example"], false), (["origin": "http://www.shop.example"], false),
        (["origin": "null"], false), (["origin": "null", "referer": "https://www.shop.example/"], false),
        (["referer": "https://www.shop.example/a"], true), (["referer": "https://ads.example/"], false),
        ([:], false),
        // Sec-Fetch-Site knows of redirects by other sites, the others do not.
        (["sec-fetch-site": "cross-site", "origin": "https://www.shop.example"], false),
    ]

    @Test(
        "For old witnesses, Sec-Fetch-Site vouches, then Origin, then Referer; for cookies alone none",
        arguments: sources)
    func vouching(fields: [String: String], isSameSite: Bool) throws {
        let known = try witnesses(of: "https://www.shop.example/")
        func classes(_ cookies: [String], after seconds: Int64 = 0) throws -> EngineVerdict.Classes {
            try judge("https://www.shop.example/chat", fields, cookies: cookies, after: seconds).verdict.classes
        }
        #expect(try classes(Array(known.values), after: 4 * 1800) == (isSameSite ? .all : [.none]))
        // They never add to what the browser has sent, and are no witnesses.
        for kinds in [["none", "lax", "default"], ["none"], []] where isSameSite || !kinds.contains("lax") {
            let fresh = try classes(kinds.compactMap { known[$0] })
            #expect(fresh.isSuperset(of: try classes(kinds.compactMap { known[$0] }, after: 4 * 1800)))
        }
        let cold = BrowserKnowledgeTests.profile(3)
        #expect(
            try judge("https://www.shop.example/chat", fields, by: cold).verdict == EngineVerdict([], source: .nothing))
    }

    @Test("A browser that evicted some witnesses gets no more cookies, and gets the witnesses back with the next page")
    func evicted() throws {
        let known = try witnesses(of: "https://www.shop.example/")
        let kinds = known.keys.sorted()
        let page = Self.document
        let script = ["sec-fetch-site": "same-origin", "sec-fetch-dest": "empty", "sec-fetch-mode": "cors"]
        for number in 0..<(1 << kinds.count) {
            let left = kinds.indices.filter { number >> $0 & 1 == 1 }.map { kinds[$0] }
            let profile = BrowserKnowledgeTests.profile(1)
            _ = try judge("https://www.shop.example/", script, cookies: Array(known.values), by: profile)
            let cookies = left.compactMap { known[$0] }
            let request = try judge("https://www.shop.example/a", script, cookies: cookies, by: profile)
            // What is left of the classes is what the browser has shown, or less.
            for (kind, kindClass) in [("none", EngineVerdict.Classes.none), ("lax", .lax), ("strict", .strict)] {
                #expect(!request.verdict.classes.contains(kindClass) || left.contains(kind), "\(left)")
            }
            let load = try judge("https://www.shop.example/", page, cookies: cookies, by: profile)
            #expect(EngineVerdict.Classes.all.isSuperset(of: load.verdict.classes))
            let told = left.filter { $0 != "canary" }
            #expect(told.isEmpty || !load.verdict.classes.contains(.strict) || left.contains("strict"), "\(left)")
            #expect(load.lines.count == kinds.count - left.count, "\(left)")
        }
    }
}
