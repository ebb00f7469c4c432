import CookieModel
import PublicSuffix
import Testing
import WebPrimitives

@testable import SessionGateway

/// The hosts and partitions that witnesses are for.
extension BrowserKnowledgeTests {
    @Test("Over http, only what comes back counts, and no witness is for https alone")
    func plain() throws {
        let first = try judge("http://www.shop.example/", ["upgrade-insecure-requests": "1"])
        #expect(first.verdict.classes == [])
        #expect(first.lines.count == 4 && !first.lines.contains { $0.description.contains("Secure") })
        let pairs = first.lines.map { String($0.description.prefix { $0 != ";" }) }
        #expect(try judge("http://www.shop.example/", cookies: pairs).verdict.classes == .all)
        let known = try witnesses(of: "https://www.shop.example/")
        #expect(try judge("http://www.shop.example/", cookies: Array(known.values)).verdict.classes == [])
    }

    @Test("Hosts that are not seen whole get witnesses of their own")
    func scopes() throws {
        let whole = try judge("https://www.shop.example/", Self.document)
        #expect(whole.lines.allSatisfy { $0.description.contains("Domain=shop.example") })
        let plain = ["upgrade-insecure-requests": "1"]
        let single = BrowserKnowledge(
            .bundled, sees: { $0.description == "www.shop.example" }, seesSite: { _ in false })
        let lines = try judge("https://www.shop.example/", Self.document, by: single).lines
        #expect(lines.count == 6 && !lines.contains { $0.description.contains("Domain=") })
        #expect(try judge("http://www.shop.example/", plain, by: single).lines.count == 4)
        #expect(try judge("http://other.example/", plain, by: single).lines.isEmpty)
    }

    @Test("No other host can set the witnesses of a host that is not seen with its whole site")
    func prefixed() throws {
        func profile(isOffered: Bool) -> BrowserKnowledge {
            BrowserKnowledge(.bundled, isOffered: isOffered, sees: { _ in true }, seesSite: { _ in false })
        }
        let single = profile(isOffered: false)
        // The canary proves nothing of a request, and has no Secure, which these names need.
        let lines = try judge("https://www.shop.example/", Self.document, by: single).lines.filter {
            $0.description.contains("; Secure")
        }
        #expect(
            lines.count == 5
                && lines.allSatisfy { $0.description.hasPrefix("__Host-") && $0.description.contains("; Path=/;") })
        let pairs = lines.map { String($0.description.prefix { $0 != ";" }) }
        let same = ["sec-fetch-site": "same-origin", "sec-fetch-dest": "empty"]
        func classes(_ cookies: [String]) throws -> EngineVerdict.Classes {
            let judgement = try judge("https://www.shop.example/", same, cookies: cookies, by: single)
            #expect(judgement.cookies.isEmpty, "No server gets them.")
            return judgement.verdict.classes
        }
        #expect(try classes(pairs) == .all)
        // The same values under names that other hosts can set, alone and beside the others.
        let moved = pairs.map { String($0.dropFirst("__Host-".count)) }
        #expect(try classes(moved) == [] && classes(pairs + moved) == [] && classes(pairs + [moved[0]]) == [])
        for line in [pairs[0], moved[0], "=\(moved[0])", " = \(moved[0]) ; Domain=shop.example"] {
            #expect(single.isWitness(Octets("\(line); Secure; Path=/")), "\(line)")
        }
        // At an address of this machine there is no TLS, which these names need.
        let offered = try judge("https://10.1.2.3/", Self.document, by: profile(isOffered: true)).lines
        #expect(offered.count == 6 && !offered.contains { $0.description.contains("__") })
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

    @Test("That pages of other sites share a site's cookies, only a page in a tab can show", arguments: [false, true])
    func shared(isFramed: Bool) throws {
        let (shop, ads) = ("https://www.shop.example/", "https://www.ads.example/")
        let own = try #require(try witnesses(of: shop)["none"])
        // A witness that is set while another site's page is around: the browser may keep it for that page alone.
        let fields = ["referer": shop, "sec-fetch-site": "cross-site", "sec-fetch-storage-access": "active"]
        let set = try judge("\(ads)ad", fields)
        let foreign = try #require(set.lines.map(\.description).first { $0.contains("SameSite=None;") })
        let pair = String(foreign.prefix { $0 != ";" })
        #expect(try judge("\(ads)ad", cookies: [pair]).verdict.classes == [])
        _ = try judge(ads, Self.document)
        if isFramed {
            let frame = ["sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe", "sec-fetch-mode": "navigate"]
            _ = try judge("\(ads)frame", frame)
        }
        // In a frame in one of its own pages, the site's own witness comes back whether browsers keep sites apart or not.
        _ = try judge("\(shop)image", ["referer": ads, "sec-fetch-site": "cross-site"], cookies: [own])
        #expect(try judge("\(ads)ad", cookies: [pair]).verdict.classes == (isFramed ? [] : [.none]))
    }

    @Test("A witness that a site's own page sends is among the site's own cookies, wherever it was set")
    func ownContext() throws {
        let ads = "https://www.ads.example/"
        let set = try judge(
            "\(ads)ad",
            [
                "referer": "https://www.shop.example/", "sec-fetch-site": "cross-site",
                "sec-fetch-storage-access": "active",
            ])
        let line = try #require(set.lines.map(\.description).first { $0.contains("SameSite=None;") })
        let pair = String(line.prefix { $0 != ";" })
        #expect(try judge("\(ads)ad", cookies: [pair]).verdict.classes == [])
        _ = try judge(ads, Self.document, cookies: [pair])
        #expect(try judge("\(ads)ad", cookies: [pair]).verdict.classes == [.none])
    }
}
