import CookieModel
import Foundation
import HTTPTypes
import RequestDecoration
import Testing
import URLSessionDecoration

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Decorated requests of URLSession")
struct URLRequestTests {
    private func decorate(
        _ request: URLRequest, with lines: [Octets], settings: DecorationSettings = DecorationSettings()
    ) throws -> (request: URLRequest, report: RequestDecorator.Report) {
        let decorator = try URLSessionFixture(lines).decorator(settings)
        let context = RequestContext(url: try request.requestURL())
        let decorated = try decorator.decorate(request, in: context, now: URLSessionFixture.now)
        var plain = request
        try decorator.decorate(&plain, in: context, now: URLSessionFixture.now)
        #expect(plain.allHTTPHeaderFields == decorated.request.allHTTPHeaderFields)
        return decorated
    }

    @Test(
        "The caller's cookies win by name",
        arguments: [
            (nil, "a=1; b=2"), ("a=0", "a=0; b=2"), ("c=\u{E9}", "c=\u{E9}; a=1; b=2"), ("", "a=1; b=2"),
        ] as [(String?, String)])
    func merge(own: String?, expected: String) throws {
        var request = try URLSessionFixture.request("http://127.0.0.1/")
        request.setValue(own, forHTTPHeaderField: "cookie")
        let decorated = try decorate(request, with: ["a=1", "b=2"])
        #expect(decorated.request.value(forHTTPHeaderField: "Cookie") == expected)
        #expect(decorated.request.allHTTPHeaderFields?.count == 1)
    }

    @Test("Method, body and other fields stay; Foundation's own cookies stay out")
    func untouched() throws {
        let request = try URLSessionFixture.post("http://127.0.0.1/")
        let decorated = try decorate(request, with: ["a=1"]).request
        #expect(decorated.httpMethod == "POST" && decorated.httpBody == request.httpBody)
        #expect(decorated.value(forHTTPHeaderField: "Authorization") == "Bearer own")
        #expect(!decorated.httpShouldHandleCookies && request.httpShouldHandleCookies)
        let empty = try decorate(request, with: []).request
        #expect(!empty.httpShouldHandleCookies && empty.value(forHTTPHeaderField: "Cookie") == nil)
    }

    @Test("Cookies that text cannot carry are omitted and reported")
    func octets() throws {
        let latin1 = Octets(Array("l=".utf8) + [0xE9])
        let decorated = try decorate(
            try URLSessionFixture.request("http://127.0.0.1/"), with: ["a=1", latin1, "b=2"])
        #expect(decorated.request.value(forHTTPHeaderField: "Cookie") == "a=1; b=2")
        #expect(decorated.report.cookieOmissions.map(\.cookie.pair) == [latin1])
        #expect(decorated.report.cookieOmissions.map(\.reason) == [.octetsNotCarried])
        #expect(decorated.report.cookies.map(\.name) == ["a", "b"])
        #expect(decorated.report.retrieval.included.count == 3)
    }

    @Test("Fields that text cannot carry stay out too")
    func fields() throws {
        let field = HTTPField(name: .acceptLanguage, lenientValue: [0xE9])
        let decorated = try decorate(
            try URLSessionFixture.request("http://127.0.0.1/"), with: [],
            settings: DecorationSettings(fields: [FieldRule(field)], userAgent: "Crumb/1"))
        #expect(decorated.request.allHTTPHeaderFields == ["User-Agent": "Crumb/1"])
        #expect(decorated.report.fieldOmissions.map(\.reason) == [.octetsNotCarried])
    }

    @Test(
        "A request's URL is that of the rules",
        arguments: [
            ("http://127.0.0.1/a%20b?c=d", "http://127.0.0.1/a%20b?c=d"),
            ("HTTPS://Example.com", "https://example.com/"),
            ("file:///x", nil), ("data:,x", nil),
        ] as [(String, String?)])
    func url(text: String, expected: String?) throws {
        #expect((try? URLSessionFixture.request(text).requestURL())?.description == expected)
    }

    @Test("A configuration without cookies of Foundation's own is a copy")
    func configuration() {
        let own = URLSessionConfiguration.ephemeral
        let without = own.withoutClientCookies
        #expect(without.httpCookieStorage == nil && !without.httpShouldSetCookies)
        #expect(without.httpCookieAcceptPolicy == .never)
        #expect(own.httpCookieStorage != nil && own.httpShouldSetCookies)
    }

    @Test(
        "A response's lines are cut apart, and doubts told",
        arguments: [
            (nil, [], []), ("a=1", ["a=1"], []),
            (
                "a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT, b=2; Secure",
                ["a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT", "b=2; Secure"], []
            ),
            ("a=1, b=2", ["a=1", "b=2"], [SetCookieDoubt(.splitWithinValue, line: 1)]),
        ] as [(String?, [Octets], [SetCookieDoubt])])
    func response(joined: String?, lines: [Octets], doubts: [SetCookieDoubt]) throws {
        var fields = ["Location": "/next", "Proxy-Status": "a; error=http_request_denied"]
        fields["Set-Cookie"] = joined
        let url = try #require(URL(string: "http://127.0.0.1/"))
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 302, httpVersion: "HTTP/1.1", headerFields: fields))
        let head = ResponseHead(response)
        #expect(head.status == 302 && head.location == "/next" && head.setCookie == lines && head.doubts == doubts)
        #expect(head.proxyStatus == ["a; error=http_request_denied"])
        let receipt = try URLSessionFixture().decorator().receive(
            response, in: try URLSessionFixture.context("http://127.0.0.1/"), now: URLSessionFixture.now)
        #expect(receipt.decisions.count == lines.count && receipt.doubts == doubts)
    }
}
