import CookieModel
import OAuth2
import SessionOperations
import SessionStore
import SessionWire
import Testing

@testable import SessionService

@Suite("The markup of the inspector's pages")
struct InspectorMarkupTests {
    private static let now = ServiceFixture.now
    private static let text = #"<script>alert("x")</script><!--'&"# + "\"\u{301} onclick"

    /// Every page, with a text in each place that takes one.
    private static func pages(with text: String, base: String = "") throws -> [String] {
        let pages = InspectorPages(base: base)
        let key = try #require(SealingKey(bytes: Array(1...32)))
        let database = try SessionDatabase(path: "", keys: .key(key), durability: .memory, now: now)
        let jar = try database.jar(named: text, now: now)
        let request = CookieModel.RequestContext(url: try RequestURL("https://www.example.com/"))
        let lines = [
            "\(text)=\(text); Path=/; Max-Age=3600", "\(text)=; Path=/\(text)", "\(text)2=; Domain=other.test",
        ]
        try jar.receive(ReceivedResponse(context: request, setCookie: lines.map { Octets($0) }), now: now)
        let contents = try JarContents(jar, showsValues: true, changes: try jar.changes(after: 0), now: now)
        var explanation = Explanation(request, jar: jar.name, policy: jar.policy, now: now)
        try explanation.add(jar)
        let question = JarQuestion(
            url: text, topLevel: text, isScript: true, problem: text, answer: JarAnswer(explanation) { _ in true })
        let found = [
            pages.jar(contents, question),
            pages.value(of: try #require(contents.sites.first?.readable.first), in: text),
            pages.overview(try overview(of: database, text)), gateway(pages, text), cache(pages, of: jar, text),
            pages.signIn(refused: true, to: .local(text)), pages.signIn(refused: false, to: .local("/\(text)")),
            pages.signIn(refused: false, to: .local("/?'\"<>&")), pages.foreignLink(to: .local("/?'\"<>&")),
            pages.problem(text, detail: text),
        ]
        return found.map { pages.document($0, for: CallerView(name: text, canSignOut: true)) }
    }

    private static func overview(of database: SessionDatabase, _ text: String) throws -> Overview {
        try database.tokens.put(
            TokenSet(
                accessToken: Secret("access-secret"), receivedAt: now.advanced(bySeconds: -60),
                accessTokenExpiry: now.advanced(bySeconds: 60)),
            for: Profile(id: ProfileID(issuer: text, clientID: text, account: text), name: text), now: now)
        return Overview(
            jars: try database.jars(now: now), search: text, isFirst: false, hasMore: true,
            gateways: [report(text)], tokens: try database.tokens.all().map { try $0.get() }, now: now)
    }

    private static func report(_ text: String) -> GatewayReport {
        GatewayReport(
            name: text, jar: text, users: [GatewayUserReport(name: text, jar: text)], client: text, cookies: text,
            intercept: [text], bypass: [text],
            cache: GatewayCacheReport(GatewayCacheDocument(size: 1, rules: ["keep \(text)"])),
            addresses: [GatewayListening(address: text, upstream: text)], started: text, certificate: text,
            openConnections: 1, requests: 1, cookiesSent: 1, cookiesStored: 1, failures: 1, position: 2)
    }

    private static func gateway(_ pages: InspectorPages, _ text: String) -> InspectorPage {
        var log = GatewayLog()
        log.add(
            GatewayRequestReport(
                time: text, method: text, url: text, status: 200, decorated: true,
                verdict: EngineVerdictReport(source: text, classes: []), cookiesSent: [text], cookiesStored: [text],
                cookiesRejected: [RejectedCookieReport(name: text, reasons: [text])], replayed: false,
                signedInAgain: true, loginFailure: text, failure: text, hint: text, user: text))
        log.add(PageEventReport(time: text, origin: text, query: text, data: text, dataBase64: nil, user: text))
        return pages.gateway(report(text), entries: log.page(after: 0, limit: 10))
    }

    private static func cache(_ pages: InspectorPages, of jar: CookieJar, _ text: String) -> InspectorPage {
        let response = CachedResponseReport(
            url: "https://www.example.com/\(text)", hasQuery: nil, status: 200, octets: 1, state: text, timeToLive: 1,
            stored: now.rfc3339, used: text)
        let reasons = [CachedResponseDetails.Reason(id: text, explanation: text)]
        let details = CachedResponseDetails(
            response: response, audience: 1, client: text, lifetime: 1, lifetimeSource: text, age: 1, fields: [],
            vary: [], outcome: text, rule: text, reasons: reasons)
        let statistics = CacheStatisticsReport(
            jar: text, responses: 1, octets: 1,
            whole: CacheStatisticsReport.Whole(
                responses: 1, octets: 1, hits: [text: 1], octetsSaved: [text: 1], folder: text, problem: text))
        let contents = CacheContents(
            jar, CachedResponseList(responses: [response], next: text), statistics, mayPurge: true)
        let answer = CacheExplanationReport(
            method: text, url: text, outcome: text, rule: text, treatment: text, reasons: reasons, response: 1,
            responses: [details])
        return pages.cache(contents, AskedCache(url: text, problem: text, answer: answer))
    }

    @Test("A text with markup changes no tag of any page", arguments: [text, "'", "\"", "<", ">", "&", "\"\u{301}"])
    func hostile(text: String) throws {
        let expected = try Self.pages(with: "a").map { try MarkupOutline($0).tags }
        let pages = try Self.pages(with: text)
        #expect(pages.count == expected.count && expected.allSatisfy { $0.count > 15 })
        for (page, tags) in zip(pages, expected) { #expect(try MarkupOutline(page).tags == tags, "\(page)") }
    }

    @Test("Each address on a page is a path of the service, whatever a name says", arguments: ["", "/crumb"])
    func addresses(base: String) throws {
        for name in ["javascript:alert(1)", "//evil.test/", "/\\evil.test", "https://evil.test", "?a#b", "%2F/"] {
            let addresses = try Self.pages(with: name, base: base).flatMap { try MarkupOutline($0).addresses }
            #expect(addresses.count > 50)
            for address in addresses {
                #expect(address == "#main" || address.hasPrefix("\(base)/") && !address.hasPrefix("//"), "\(address)")
            }
        }
    }

    @Test(
        "A page to go back to is a path of the service",
        arguments: [
            ("/jars/a?url=b", "/jars/a?url=b"), ("/", "/"), (nil, "/"), ("", "/"), ("jars", "/"),
            ("javascript:alert(1)", "/"), ("//evil.test", "/"), ("/\\evil.test", "/"), ("/\t/evil.test", "/"),
            ("/\u{E9}", "/"), ("/a b", "/"), ("https://evil.test", "/"),
        ] as [(String?, String)])
    func destinations(path: String?, expected: String) {
        #expect(InspectorPath.local(path).description == expected)
    }
}
