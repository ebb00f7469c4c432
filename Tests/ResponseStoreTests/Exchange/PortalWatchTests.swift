import CookieModel
import HTTPCaching
import PublicSuffix
import Testing
import WebPrimitives

@testable import ResponseStore

@Suite("Portals of networks")
struct PortalWatchTests {
    private let portals = PortalWatch(.bundled)
    private static let start = Timestamp(microseconds: 1_800_000_000_000_000)

    /// The verdict on a response.
    ///
    /// - Parameters:
    ///   - response: The status, and a location or a media type.
    ///   - stored: The media type of the stored response; `nil` for none.
    private func verdict(
        on response: (status: Int, field: String), to url: String, accepting accept: String? = nil, stored: String?,
        after seconds: Int64 = 0
    ) throws -> PortalWatch.Verdict {
        let now = Self.start.advanced(bySeconds: seconds)
        let isRedirect = 300..<400 ~= response.status
        let fields = MessageFields([.init(isRedirect ? "Location" : "Content-Type", Octets(response.field))])
        let request = CacheRequest(
            url: try RequestURL(url), fields: MessageFields(accept.map { [.init("Accept", Octets($0))] } ?? []))
        let kept = try stored.map { type in
            let origin = OriginResponse(
                status: 200,
                fields: MessageFields([.init("Content-Type", Octets(type)), .init("Cache-Control", "max-age=60")]),
                requestTime: now, responseTime: now)
            return try #require(CachingPolicy(rules: .standard).storing(origin, for: request).response)
        }
        return portals.verdict(
            on: OriginResponse(status: response.status, fields: fields, requestTime: now, responseTime: now),
            to: request, inPlaceOf: kept, now: now)
    }

    @Test("A page in place of something else is a portal's, unless the user opens the address")
    func otherTypes() throws {
        let page = (200, "text/html; charset=utf-8")
        for type in ["text/javascript", "image/png", "application/json"] {
            #expect(try verdict(on: page, to: "http://shop.example/a", stored: type) == .ofPortal)
            #expect(try verdict(on: page, to: "https://shop.example/a", stored: type) == .ofServer)
            let accept = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"
            #expect(try verdict(on: page, to: "http://shop.example/a", accepting: accept, stored: type) == .ofServer)
        }
        #expect(try verdict(on: (200, "text/plain"), to: "http://shop.example/a", stored: "image/png") == .ofServer)
        let json = "application/json"
        #expect(try verdict(on: page, to: "http://shop.example/a", accepting: json, stored: json) == .ofPortal)
        #expect(try verdict(on: page, to: "http://shop.example/b", accepting: json, stored: nil) == .doubtful)
        #expect(try verdict(on: page, to: "http://shop.example/b", accepting: "*/*", stored: nil) == .ofServer)
    }

    @Test("A redirect in place of a page is a portal's if two sites lead to the same host")
    func redirects() throws {
        let portal = (302, "http://portal.example/login?from=x")
        let type = "text/html"
        #expect(try verdict(on: portal, to: "http://shop.example/", stored: type) == .doubtful)
        #expect(try verdict(on: portal, to: "http://www.shop.example/", stored: type) == .doubtful)
        #expect(try verdict(on: portal, to: "http://news.example/", stored: type, after: 11) == .doubtful)
        #expect(try verdict(on: portal, to: "http://shop.example/", stored: type, after: 12) == .ofPortal)
        // Meanwhile, its page is no site's.
        #expect(try verdict(on: (200, type), to: "http://bank.example/", stored: type, after: 13) == .ofPortal)
        #expect(try verdict(on: (200, type), to: "http://bank.example/new", stored: nil, after: 13) == .doubtful)
        #expect(try verdict(on: (200, type), to: "http://bank.example/", stored: type, after: 40) == .ofServer)
    }

    @Test(
        "A site's own login is no portal's",
        arguments: ["/login", "http://login.shop.example/", "https://login.example/?from=x"])
    func login(location: String) throws {
        for host in ["shop.example", "www.shop.example"] {
            #expect(try verdict(on: (302, location), to: "http://\(host)/", stored: "text/html") == .ofServer)
        }
        #expect(try verdict(on: (200, "text/html"), to: "http://news.example/", stored: "text/html") == .ofServer)
    }

    @Test("Signs end with a response that only the server can give")
    func end() throws {
        let type = "text/html"
        #expect(try verdict(on: (511, type), to: "https://shop.example/", stored: nil) == .ofServer)
        #expect(try verdict(on: (511, type), to: "http://shop.example/", stored: nil) == .ofPortal)
        #expect(try verdict(on: (200, type), to: "http://news.example/", stored: type) == .ofPortal)
        #expect(try verdict(on: (304, ""), to: "http://shop.example/", stored: type) == .ofServer)
        #expect(try verdict(on: (200, type), to: "http://news.example/", stored: type) == .ofServer)
    }
}
