import CookieModel
import Crypto
import PublicSuffix
import Synchronization
import Testing
import WebPrimitives

@testable import SessionGateway

@Suite("Events of pages")
struct PageEventTests {
    private static let now = Timestamp(seconds: 1_800_000_000)

    private static let verdicts: [(verdict: EngineVerdict?, status: Int?)] = [
        (EngineVerdict(.all, source: .witness), nil),
        // A navigation from another site, a request of another site's page, one without its cookies.
        (EngineVerdict([.none, .lax, .default], source: .witness), 403),
        (EngineVerdict([.none], source: .witness), 403), (EngineVerdict([], source: .witness), 403),
        // What only fields say, other pages may have arranged.
        (EngineVerdict(.all, source: .fetchMetadata), 403), (EngineVerdict([], source: .nothing), 403), (nil, 403),
    ]

    @Test("Only witnesses of a same-site request open the way", arguments: verdicts)
    func verdict(verdict: EngineVerdict?, status: Int?) {
        let events = PageEvents { _ in }
        #expect(events.refusal("POST", verdict, isOfSite: true, now: Self.now)?.status == status)
    }

    @Test("A frame of another site cannot send one, whichever host it asks, and a page of the site can")
    func frames() throws {
        let profile = BrowserKnowledge(
            .bundled, key: SymmetricKey(data: [UInt8](repeating: 1, count: 32)),
            sees: { $0.description.hasSuffix("shop.example") || $0.description.hasSuffix("ads.example") },
            seesSite: { ["shop.example", "ads.example"].contains($0.description) })
        let events = PageEvents { _ in }
        func judge(_ host: String, _ fields: [String: String], _ cookies: [String]) throws -> BrowserKnowledge.Verdict {
            profile.judge(
                BrowserKnowledge.Request(
                    url: try RequestURL("https://\(host)\(events.path)"), method: "POST",
                    cookies: [Octets(cookies.joined(separator: "; "))], field: { fields["\($0)"] }), now: Self.now)
        }
        let page = ["sec-fetch-dest": "document", "sec-fetch-mode": "navigate", "sec-fetch-site": "none"]
        func witnesses(_ host: String) throws -> [String] { try judge(host, page, []).lines.map(\.description) }
        func pairs(_ lines: [String]) -> [String] { lines.map { String($0.prefix { $0 != ";" }) } }
        let (shop, ads) = (try witnesses("www.shop.example"), try witnesses("www.ads.example"))
        let script = ["sec-fetch-dest": "empty", "sec-fetch-mode": "cors", "sec-fetch-site": "same-origin"]
        // The browser sends what the class of the request allows.
        let own = try judge("www.shop.example", script, pairs(shop.filter { !$0.contains("Partitioned") }))
        #expect(events.refusal("POST", own.verdict, isOfSite: true, now: Self.now) == nil)
        let crossSite = ["sec-fetch-dest": "empty", "sec-fetch-mode": "no-cors", "sec-fetch-site": "cross-site"]
        let foreign = try judge(
            "www.shop.example", crossSite,
            pairs(shop.filter { $0.contains("SameSite=None") && !$0.contains("Partitioned") }))
        #expect(events.refusal("POST", foreign.verdict, isOfSite: true, now: Self.now)?.status == 403)
        // The frame asks its own host, and says "same-origin": the page around it is another site's.
        let frame = try judge(
            "www.ads.example", script,
            pairs(ads.filter { $0.contains("SameSite=None") && !$0.contains("Partitioned") }))
        #expect(events.refusal("POST", frame.verdict, isOfSite: true, now: Self.now)?.status == 403)
        let blocked = try judge("www.ads.example", script, [])
        #expect(events.refusal("POST", blocked.verdict, isOfSite: true, now: Self.now)?.status == 403)
    }

    private static let pages: [(site: String?, origin: String?, isOfSite: Bool)] = [
        ("same-origin", nil, true), ("same-site", "https://shop.example", true), ("cross-site", nil, false),
        ("none", nil, false), (nil, "https://www.shop.example", true), (nil, "https://shop.example", false),
        (nil, "null", false), (nil, nil, false), ("cross-site", "https://www.shop.example", false),
    ]

    @Test(
        "The fields have to name the site as well: WebKit's witnesses do not tell a frame from the page around it",
        arguments: pages)
    func fields(site: String?, origin: String?, isOfSite: Bool) throws {
        let url = try RequestURL("https://www.shop.example/x")
        #expect(PageEvents.isOfSite(url, fetchSite: site, origin: origin) == isOfSite)
        let failure = PageEvents { _ in }.refusal(
            "POST", EngineVerdict(.all, source: .witness), isOfSite: isOfSite, now: Self.now)
        #expect((failure?.status == 403) == !isOfSite)
    }

    @Test("Methods with other meanings are refused", arguments: ["PUT", "DELETE", "HEAD", "OPTIONS", "get"])
    func methods(method: String) {
        let events = PageEvents { _ in }
        #expect(
            events.refusal(method, EngineVerdict(.all, source: .witness), isOfSite: true, now: Self.now)?.status == 405)
    }

    @Test("So many come at once, and then as many as time allows")
    func rate() {
        let events = PageEvents { _ in }
        let verdict = EngineVerdict(.all, source: .witness)
        func taken(_ count: Int, _ now: Timestamp) -> Int {
            (0..<count).count { _ in events.refusal("POST", verdict, isOfSite: true, now: now) == nil }
        }
        #expect(taken(150, Self.now) == 100)
        #expect(events.refusal("POST", verdict, isOfSite: true, now: Self.now)?.status == 429)
        #expect(taken(150, Self.now.advanced(bySeconds: 1)) == 20)
        #expect(taken(150, Self.now.advanced(bySeconds: 60)) == 100)
        // A clock that is set back does not close the way.
        #expect(taken(150, Self.now.advanced(bySeconds: -86_400)) == 100)
    }

    @Test("The path is another one for each gateway, and the same on every host that is decrypted")
    func path() throws {
        let (first, second) = (PageEvents { _ in }, PageEvents { _ in })
        #expect(first.path != second.path)
        #expect(first.path.utf8.count == "/.well-known/crumb/".utf8.count + 32)
        #expect(first.contains(try RequestURL("https://a.example\(first.path)?x=1")))
        #expect(!first.contains(try RequestURL("https://a.example\(second.path)")))
        #expect(!first.contains(try RequestURL("http://a.example\(first.path)")))
        #expect(!first.contains(try RequestURL("https://a.example\(first.path)/")))
    }
}
