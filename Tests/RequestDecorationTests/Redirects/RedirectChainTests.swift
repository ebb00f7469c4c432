import CookieModel
import HTTPTypes
import RequestDecoration
import Testing

@Suite("Chains of redirects")
struct RedirectChainTests {
    private func chain(_ url: String = "https://a.test/1", method: String = "GET", limit: Int = 20) throws
        -> RedirectChain
    {
        var context = try DecorationFixture.context(url)
        context.method = method
        return RedirectChain(context, limit: limit)
    }

    private func chain(method: String = "GET", through hops: [(Int, String)]) throws -> RedirectChain {
        var chain = try chain(method: method)
        for (status, location) in hops {
            #expect(try chain.follow(status: status, location: Octets(location)) != nil)
        }
        return chain
    }

    @Test("The context of a redirect chain has the present URL, the method, and the redirecting URLs")
    func context() throws {
        let chain = try chain(method: "POST", through: [(302, "/2"), (301, "https://b.test/3"), (308, "4")])
        #expect(chain.context.url.description == "https://b.test/4" && chain.context.method == "GET")
        #expect(
            chain.context.redirects.map(\.description) == ["https://a.test/1", "https://a.test/2", "https://b.test/3"])
        #expect(chain.number == 4 && chain.referrer?.description == "https://b.test/3")
        #expect(try self.chain().referrer == nil)
    }

    @Test("Redirects that are followed, or that end the chain with an error, are of no use to the caller")
    func discarded() throws {
        let chain = try chain()
        #expect(chain.discards(ResponseHead(status: 302, location: "/2")))
        #expect(chain.discards(ResponseHead(status: 302, location: "https://[")))
        #expect(try self.chain(limit: 0).discards(ResponseHead(status: 302, location: "/2")))
        #expect(!chain.discards(ResponseHead(status: 302, location: "com.example.app:/callback")))
        #expect(!chain.discards(ResponseHead(status: 302)))
        #expect(!chain.discards(ResponseHead(status: 201, location: "/2")))
        #expect(chain.number == 1)
    }

    @Test(
        "A body that was once dropped does not come back",
        arguments: [
            ("POST", [(307, "/2")], "POST", true), ("POST", [(302, "/2")], "GET", false),
            ("POST", [(302, "/2"), (307, "/3")], "GET", false), ("POST", [(308, "/2"), (303, "/3")], "GET", false),
            ("PUT", [(302, "/2"), (307, "/3")], "PUT", true), ("PUT", [(303, "/2")], "GET", false),
        ] as [(String, [(Int, String)], String, Bool)])
    func body(method: String, hops: [(Int, String)], last: String, keepsBody: Bool) throws {
        let chain = try chain(method: method, through: hops)
        #expect(chain.context.method == last && chain.keepsBody == keepsBody)
    }

    @Test(
        "Omitted fields do not return with the chain",
        arguments: [
            ([(307, "/2")], false, false), ([(307, "https://b.test/")], true, false),
            ([(307, "https://b.test/"), (307, "https://a.test/")], true, false),
            ([(307, "https://a.test:8443/")], true, false), ([(307, "http://a.test/")], true, true),
            ([(307, "http://a.test/"), (307, "https://a.test/")], true, true),
        ] as [([(Int, String)], Bool, Bool)])
    func origin(hops: [(Int, String)], hasLeftOrigin: Bool, isDowngraded: Bool) throws {
        let chain = try chain(through: hops)
        #expect(chain.hasLeftOrigin == hasLeftOrigin && chain.isDowngraded == isDowngraded)
    }

    @Test(
        "A response that is not a redirect to http or https is returned to the caller",
        arguments: [
            (200, "/2"), (304, "/2"), (300, "/2"), (302, nil), (302, "app://callback?code=1"), (302, "tel:123"),
            (303, "mailto:a@b"), (307, "ftp://a.test/"), (302, "ws://a.test/"), (302, "javascript:alert(1)"),
            (302, "about:blank"), (302, "localhost:3000"),
        ] as [(Int, String?)])
    func final(status: Int, location: String?) throws {
        var chain = try chain()
        #expect(try chain.follow(status: status, location: location.map { Octets($0) }) == nil)
        #expect(chain.number == 1 && chain.context.url.description == "https://a.test/1")
    }

    @Test(
        "A Location that is not a URL is an error, without its possible secrets",
        arguments: ["https://", "https://exa mple.com/?secret", "https://b.test:99999/secret", "https://[::1/secret"])
    func invalid(location: String) throws {
        var chain = try chain("https://a.test/path?query")
        let error = #expect(throws: RedirectError.self) {
            try chain.follow(status: 302, location: Octets(location))
        }
        #expect(error?.code == .locationInvalid && error?.origin == "https://a.test")
        let text = error.map { "\($0)" } ?? "secret"
        #expect(!text.contains("secret") && !text.contains("query") && !text.contains("path"))
    }

    @Test("Twenty redirects are followed, the next one is an error")
    func limit() throws {
        var chain = try chain()
        for number in 2...21 { #expect(try chain.follow(status: 302, location: Octets("/\(number)")) != nil) }
        let error = #expect(throws: RedirectError.self) { try chain.follow(status: 302, location: "/22") }
        #expect(error?.code == .tooMany && error?.origin == "https://a.test" && chain.number == 21)
        #expect(try chain.follow(status: 200, location: nil) == nil)
    }

    @Test("A redirect loop is detected only at the limit, because it may wait for a cookie")
    func loop() throws {
        for hops in [["/1"], ["/2", "/1"], ["/2", "/3", "/2"]] {
            var chain = try chain()
            for number in 0..<20 {
                #expect(try chain.follow(status: 302, location: Octets(hops[number % hops.count])) != nil)
            }
            let error = #expect(throws: RedirectError.self) { try chain.follow(status: 302, location: "/1") }
            #expect(error?.code == .loop)
        }
        var none = try chain(limit: 0)
        #expect(throws: RedirectError.self) { try none.follow(status: 302, location: "/2") }
    }

    @Test("The codes of redirect errors are stable")
    func codes() {
        #expect(
            [RedirectError.Code.locationInvalid, .tooMany, .loop, .bodyNotRepeatable].map(\.rawValue) == [
                "redirect-location-invalid", "redirect-too-many", "redirect-loop", "redirect-body-not-repeatable",
            ])
    }

    private static let bodyFields = [
        "Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location", "Expect",
        "Transfer-Encoding", "Trailer",
    ]

    private func request() throws -> HTTPRequest {
        var request = DecorationFixture.request(cookies: ["own=1"], method: .post)
        request.headerFields[.authorization] = "Bearer x"
        request.headerFields[.proxyAuthorization] = "Basic x"
        for name in RedirectChainTests.bodyFields {
            request.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: "x"))
        }
        return request
    }

    @Test(
        "Each hop of a redirect chain has its target and its omitted fields",
        arguments: [
            ([], ["own", "body"]), ([(307, "/2")], ["own", "body"]), ([(308, "https://b.test/")], ["body"]),
            ([(302, "/2")], ["own"]), ([(303, "https://b.test:81/x?y")], []),
            ([(307, "https://b.test/"), (307, "https://a.test/")], ["body"]),
        ] as [([(Int, String)], Set<String>)])
    func requests(hops: [(Int, String)], kept: Set<String>) throws {
        let chain = try chain(method: "POST", through: hops)
        let first = try request()
        let request = try chain.request(from: first)
        if !hops.isEmpty { #expect(try request.requestURL() == chain.context.url) }
        #expect(request.method == (kept.contains("body") ? .post : .get))
        for name in RedirectChainTests.bodyFields {
            #expect(request.headerFields[try #require(HTTPField.Name(name))] == (kept.contains("body") ? "x" : nil))
        }
        for name in [HTTPField.Name.authorization, .proxyAuthorization, .cookie] {
            #expect((request.headerFields[name] != nil) == kept.contains("own"), "\(name)")
        }
        #expect(request.headerFields[.accept] == "*/*")
    }

    @Test(
        "After a redirect to another origin, the Referer has only its origin",
        arguments: [
            ([(307, "/2")], "https://a.test/page?q", "https://a.test/page?q"),
            ([(307, "https://b.test/")], "https://a.test/page?q", "https://a.test/"),
            ([(307, "https://b.test/"), (307, "https://a.test/")], "https://a.test/page?q", "https://a.test/"),
            ([(307, "http://b.test/")], "https://a.test/page?q", nil),
            ([(307, "http://b.test/")], "http://a.test/page?q", "http://a.test/"),
            ([(307, "https://b.test/")], "no URL", nil),
        ] as [([(Int, String)], String, String?)])
    func referer(hops: [(Int, String)], page: String, sent: String?) throws {
        var first = try request()
        first.headerFields[.referer] = page
        let request = try chain(through: hops).request(from: first)
        #expect(request.headerFields[.referer] == sent)
    }
}
