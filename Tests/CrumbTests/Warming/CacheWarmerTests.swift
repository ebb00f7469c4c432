import CookieModel
import GatewayModel
import HTTPCaching
import PublicSuffix
import SessionOperations
import Synchronization
import Testing

@testable import CrumbCommands

@Suite("Loading pages into the cache, without a browser")
struct CacheWarmerTests {
    /// A gateway that answers as a test says, and remembers the requests in their order.
    private final class Transport: PageTransport {
        private let answer: @Sendable (PageRequest) throws -> PageResponse
        private let recorded = Mutex<[PageRequest]>([])

        init(_ answer: @escaping @Sendable (PageRequest) throws -> PageResponse) {
            self.answer = answer
        }

        var requests: [PageRequest] { recorded.withLock { $0 } }

        func get(_ request: PageRequest) async throws -> PageResponse {
            recorded.withLock { $0.append(request) }
            return try answer(request)
        }

        func shutDown() async {}

        /// The fields of the only request to a URL, by their names.
        func fields(_ url: String) -> [String: String] {
            let found = requests.filter { $0.url.description == url }
            #expect(found.count == 1, "\(url)")
            return Dictionary(found.first?.fields.map { ($0.name, $0.value) } ?? []) { $1 }
        }
    }

    private struct Unreachable: Error, CustomStringConvertible {
        let description = "no server listens there"
    }

    /// A response that was stored.
    private static func response(
        _ text: String = "", _ type: String = "text/plain", status: Int = 200,
        cache: String? = "crumb; fwd=miss; stored",
        _ fields: (String, String)...
    ) -> PageResponse {
        let own = [("Content-Type", type)] + (cache.map { [("Cache-Status", $0)] } ?? [])
        return PageResponse(
            status: status, fields: own + fields, octets: text.utf8.count, content: Array(text.utf8))
    }

    private static func load(
        _ pages: String..., over transport: Transport, limits: CacheWarmer.Limits = CacheWarmer.Limits(),
        for client: GatewaySettings.Client = .browser,
        reading hosts: Set<String> = ["www.shop.example", "static.shop.example", "cdn.example"]
    ) async throws -> CacheWarmReport {
        let warmer = CacheWarmer(
            over: transport, limits: limits, client: client, rules: .standard, suffixes: .bundled,
            clock: { Timestamp(seconds: 1_800_000_000) }, decrypts: { hosts.contains($0.description) })
        for page in try pages.map({ try RequestURL($0) }) { await warmer.load(page) }
        return warmer.report
    }

    @Test("Each resource is requested as Chromium requests it")
    func fields() async throws {
        let transport = Transport { request in
            switch request.url.description {
            case "https://www.shop.example/":
                Self.response(
                    """
                    <link rel=icon href=/i.png><link rel=stylesheet href=https://static.shop.example/a.css>
                    <script type=module src=m.js></script><script src=https://cdn.example/c.js crossorigin></script>
                    <img src=https://cdn.example/x.png><img src=http://www.shop.example/mixed.png><img src=data:,>
                    """, "text/html; charset=utf-8")
            case "https://static.shop.example/a.css":
                Self.response("@font-face{src:url(f.woff2)} b{background:url(/b.png)}", "text/css")
            default: Self.response()
            }
        }
        let report = try await Self.load("https://www.shop.example/", over: transport)
        #expect(report.pages == 1 && report.count(of: .stored) == 8 && report.responses.count == 8)
        let page = transport.fields("https://www.shop.example/")
        #expect(page["Sec-Fetch-Site"] == "none" && page["Sec-Fetch-Mode"] == "navigate")
        #expect(page["Sec-Fetch-Dest"] == "document" && page["Upgrade-Insecure-Requests"] == "1")
        #expect(page["Referer"] == nil && page["Origin"] == nil && page["Accept"]?.hasPrefix("text/html,") == true)
        let style = transport.fields("https://static.shop.example/a.css")
        #expect(style["Sec-Fetch-Site"] == "same-site" && style["Sec-Fetch-Mode"] == "no-cors")
        #expect(style["Referer"] == "https://www.shop.example/" && style["Accept"] == "text/css,*/*;q=0.1")
        let module = transport.fields("https://www.shop.example/m.js")
        #expect(module["Sec-Fetch-Mode"] == "cors" && module["Origin"] == "https://www.shop.example")
        let script = transport.fields("https://cdn.example/c.js")
        #expect(script["Sec-Fetch-Site"] == "cross-site" && script["Origin"] == "https://www.shop.example")
        #expect(script["Sec-Fetch-Storage-Access"] == nil)
        let image = transport.fields("https://cdn.example/x.png")
        #expect(image["Sec-Fetch-Storage-Access"] == "none" && image["Origin"] == nil)
        let font = transport.fields("https://static.shop.example/f.woff2")
        #expect(font["Sec-Fetch-Dest"] == "font" && font["Origin"] == "https://www.shop.example")
        #expect(font["Sec-Fetch-Site"] == "same-site" && font["Referer"] == "https://static.shop.example/a.css")
        #expect(
            transport.requests.allSatisfy {
                $0.fields.contains { $0 == ("Accept-Encoding", "gzip, deflate, br, zstd") }
            })
    }

    @Test("For programs, each resource is requested without the fields of browsers")
    func program() async throws {
        let transport = Transport { _ in Self.response("<link rel=icon href=/i.png>", "text/html") }
        let report = try await Self.load("https://www.shop.example/", over: transport, for: .tool)
        #expect(report.responses.count == 2 && report.pages == 1)
        for request in transport.requests {
            #expect(request.fields.map { "\($0.name): \($0.value)" } == ["User-Agent: crumb", "Accept: */*"])
        }
    }

    @Test("A page from before has not come, and neither has one that is not stored though it may be")
    func obstacles() async throws {
        let url = "https://www.shop.example/"
        for (status, outcome, reason) in [
            ("crumb; hit; ttl=-5; detail=offline", CacheWarmReport.Outcome.stale, "no server could be asked"),
            ("crumb; fwd=stale; detail=document", .stale, "no server could be asked"),
            ("crumb; fwd=uri-miss; fwd-status=200; detail=document", .notStored, "the cache could not store it"),
        ] {
            let transport = Transport { _ in Self.response(cache: status, ("Cache-Control", "max-age=5")) }
            let report = try await Self.load(url, over: transport)
            #expect(report.responses.map(\.outcome) == [outcome] && report.pages == 0, "\(status)")
            let obstacle = report.obstacle(of: try RequestURL(url))
            #expect(obstacle?.hasPrefix(reason) == true, "\(status)")
        }
        var report = try await Self.load(url, over: Transport { _ in Self.response() })
        #expect(report.pages == 1)
        report.correct { _, _ in "the disk is full" }
        #expect(try report.obstacle(of: RequestURL(url)) == "the disk is full" && report.pages == 0)
        #expect(report.responses.first?.outcome == .notStored)
    }

    @Test("A page that must not be stored, is too long, or redirects without being stored is an obstacle")
    func notStored() async throws {
        let url = "https://www.shop.example/"
        let forwarded = "crumb; fwd=uri-miss; fwd-status=200"
        let transport = Transport { request in
            switch request.url.path.description {
            case "/": Self.response(cache: forwarded, ("Cache-Control", "no-store"))
            case "/long": Self.response("123456", cache: forwarded, ("Cache-Control", "max-age=5"))
            case "/from": Self.response(status: 302, cache: forwarded, ("Location", "/to"))
            default: Self.response()
            }
        }
        var limits = CacheWarmer.Limits()
        limits.bodySize = 5
        let report = try await Self.load(url, url + "long", url + "from", over: transport, limits: limits)
        #expect(report.pages == 0)
        func obstacle(_ path: String) throws -> String? { report.obstacle(of: try RequestURL(url + path)) }
        #expect(try obstacle("") == "Cache-Control has no-store")
        #expect(try obstacle("long")?.hasPrefix("it has 6 octets, and the cache stores at most 5") == true)
        #expect(try obstacle("from")?.hasPrefix("the redirect from \(url)from is not in the cache: ") == true)
        #expect(report.responses.last?.outcome == .stored)
    }

    @Test("Requests that browsers make for themselves are not in the report of their pages")
    func ownRequests() throws {
        let page = try RequestURL("http://www.shop.example/?a=1")
        var traffic = BrowserWarming.Traffic([page])
        for (url, status) in [
            ("http://detectportal.firefox.com/canonical.html", nil), ("http://qwertyuiop/", nil),
            ("http://r3.gvt1.com/edgedl", 200), ("http://www.shop.example/", 200), ("http://cdn.example/x", nil),
        ] as [(String, Int?)] {
            traffic.add(
                GatewayRequestReport(
                    time: "", method: "GET", url: url, status: status, decorated: false, verdict: nil, cookiesSent: [],
                    cookiesStored: [], replayed: false, signedInAgain: false, loginFailure: nil,
                    failure: status == nil ? "dns_error" : nil, cache: "crumb; fwd=uri-miss; fwd-status=200; stored"))
        }
        #expect(traffic.report.responses.map(\.url) == ["http://www.shop.example/", "http://cdn.example/x"])
        #expect(traffic.report.pages == 1 && traffic.report.obstacle(of: page) == nil)
    }

    @Test("Over http, a request says neither where it comes from nor that it knows further codings")
    func unencrypted() async throws {
        let transport = Transport { _ in Self.response("", "text/html") }
        _ = try await Self.load("http://www.shop.example/", over: transport)
        let icon = transport.fields("http://www.shop.example/favicon.ico")
        #expect(icon["Sec-Fetch-Site"] == nil && icon["Accept-Encoding"] == "gzip, deflate")
        #expect(icon["Referer"] == "http://www.shop.example/")
    }

    @Test("The gateway's witnesses come back as a browser sends them, also after a redirect")
    func witnesses() async throws {
        let name = "__Host-crumb-witness-0"
        let transport = Transport { request in
            switch request.url.path.description {
            case "/":
                Self.response(
                    status: 302, ("Location", "/page"),
                    ("Set-Cookie", "\(name)1=a; Path=/; Secure; HttpOnly; SameSite=Strict"),
                    ("Set-Cookie", "\(name)2=b; Path=/; Secure; HttpOnly; SameSite=None; Partitioned"))
            case "/page":
                Self.response(
                    "<link rel=icon href=/i><link rel=manifest href=/m><img src=https://cdn.example/x.png>", "text/html"
                )
            default: Self.response()
            }
        }
        let report = try await Self.load("https://www.shop.example/", over: transport)
        #expect(report.pages == 1)
        for path in ["page", "i"] {
            let cookies = transport.fields("https://www.shop.example/\(path)")["Cookie"]
            #expect(cookies == "\(name)1=a; \(name)2=b", "\(path)")
        }
        #expect(transport.fields("https://www.shop.example/m")["Cookie"] == nil)
        #expect(transport.fields("https://cdn.example/x.png")["Cookie"] == nil)
        #expect(transport.fields("https://www.shop.example/page")["Sec-Fetch-Site"] == "none")
    }

    @Test("What does not come, is not stored or is not read by the gateway is reported with the reason")
    func reasons() async throws {
        let transport = Transport { request in
            switch request.url.path.description {
            case "/":
                return Self.response(
                    "<link rel=icon href=/gone><img src=/private?s3cret><img src=/fresh><img src=/same><img src=/down>"
                        + "<img src=/untrusted>"
                        + "<img src=https://other.example/x>", "text/html")
            case "/private": return Self.response(cache: "crumb; fwd=uri-miss", ("Cache-Control", "no-store"))
            case "/fresh": return Self.response(cache: "crumb; hit; ttl=5")
            case "/same": return Self.response(cache: "crumb; fwd=stale; fwd-status=304")
            case "/down":
                return Self.response(
                    status: 502, cache: nil,
                    ("Proxy-Status", #"crumb; error=dns_error; details="the \"name\" is wrong""#))
            case "/untrusted":
                return Self.response(
                    status: 502, cache: nil,
                    (
                        "Proxy-Status",
                        #"crumb; error=tls_certificate_error; details="the certificate of a.example is not trusted""#
                    ))
            default: throw Unreachable()
            }
        }
        let report = try await Self.load("https://www.shop.example/", "https://other.example/", over: transport)
        #expect(report.pages == 1)
        let found = Dictionary(grouping: report.responses) { $0.url }.compactMapValues(\.first)
        func row(_ path: String) throws -> CacheWarmReport.Response {
            try #require(found["https://www.shop.example/\(path)"])
        }
        #expect(try row("").outcome == .stored && row("fresh").outcome == .fresh && row("same").outcome == .validated)
        #expect(try row("private").outcome == .notStored && row("private").reason == "Cache-Control has no-store")
        #expect(try row("private").hasQuery == true)
        #expect(try row("gone").outcome == .failed && row("gone").reason == "no server listens there")
        #expect(try row("down").outcome == .failed && row("down").reason == #"the "name" is wrong"#)
        #expect(
            try row("untrusted").reason
                == "the certificate of a.example is not trusted: name its authority with --ca-file")
        #expect(report.count(of: .notDecrypted) == 2)
        #expect(
            report.sentence.hasPrefix("1 response stored, 1 already fresh, 1 still valid, 1 not stored, 3 failed, 2 of")
        )
    }

    @Test("Depth, requests and octets are bounded, and what is left out is counted")
    func limits() async throws {
        let transport = Transport { request in
            switch request.url.path.description {
            case "/": Self.response("<link rel=icon href=/0><link rel=stylesheet href=/a.css>", "text/html")
            case "/a.css": Self.response("@import 'b.css'; a{b:url(c.png)}", "text/css")
            default: Self.response(String(repeating: "x", count: 1000))
            }
        }
        var limits = CacheWarmer.Limits()
        limits.depth = 1
        let shallow = try await Self.load("https://www.shop.example/", over: transport, limits: limits)
        #expect(shallow.responses.count == 3 && shallow.leftOut == 2)
        limits = CacheWarmer.Limits()
        limits.requests = 2
        #expect(try await Self.load("https://www.shop.example/", over: transport, limits: limits).responses.count == 2)
        limits = CacheWarmer.Limits()
        limits.octets = 1000
        let small = try await Self.load("https://www.shop.example/", over: transport, limits: limits)
        #expect(small.leftOut > 0 && small.octets < 2500)
    }

    @Test("A page whose coding is not known is requested once more to be read, and not stored then")
    func coding() async throws {
        let transport = Transport { request in
            let isCopy = request.fields.contains { $0 == ("Cache-Control", "no-store") }
            switch request.url.path.description {
            case "/" where !isCopy:
                return PageResponse(
                    status: 200,
                    fields: [
                        ("Content-Type", "text/html"), ("Vary", "Origin, Accept-Encoding"),
                        ("Cache-Status", "crumb; fwd=miss; stored"),
                    ],
                    octets: 5, content: nil)
            case "/": return Self.response("<link rel=icon href=/i>", "text/html", cache: "crumb; fwd=vary-miss")
            case "/br":
                return PageResponse(
                    status: 200, fields: [("Cache-Status", "crumb; fwd=miss; stored")], octets: 5, content: nil)
            default: return Self.response()
            }
        }
        let report = try await Self.load("https://www.shop.example/", "https://www.shop.example/br", over: transport)
        #expect(report.responses.map(\.url) == ["", "i", "br"].map { "https://www.shop.example/\($0)" })
        #expect(report.pages == 2 && report.unread == 1)
        let copy = try #require(transport.requests.dropFirst().first)
        #expect(copy.fields.contains { $0 == ("Accept-Encoding", "gzip, deflate") })
    }
}
