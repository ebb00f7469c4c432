import CookieModel
import HTTPTypes
import RequestDecoration
import SessionStore
import Testing

@Suite("Decorated requests")
struct RequestDecoratorTests {
    private static let now = DecorationFixture.now

    /// Decorates both ways and expects the same request.
    private func decorate(
        _ request: HTTPRequest, with lines: Octets..., in context: RequestContext? = nil
    ) throws -> (request: HTTPRequest, report: RequestDecorator.Report) {
        let decorator = try DecorationFixture(lines).decorator()
        let context = try context ?? DecorationFixture.context()
        let decorated = try decorator.decorate(request, in: context, now: RequestDecoratorTests.now)
        var plain = request
        try decorator.decorate(&plain, in: context, now: RequestDecoratorTests.now)
        #expect(plain == decorated.request)
        return decorated
    }

    private func cookieFields(_ request: HTTPRequest) -> [Octets] {
        request.headerFields[fields: .cookie].map { field in field.withUnsafeBytesOfValue { Octets(Array($0)) } }
    }

    @Test(
        "The caller's cookies win by name, and all cookies are in one field",
        arguments: [
            ([], ["a=1; b=2"], []), (["a=0"], ["a=0; b=2"], ["a"]), (["c=0"], ["c=0; a=1; b=2"], []),
            (["b=0; a=0"], ["b=0; a=0"], ["a", "b"]), (["a=0", "c=0"], ["a=0; c=0; b=2"], ["a"]),
            (["A=0"], ["A=0; a=1; b=2"], []), (["a"], ["a; a=1; b=2"], []), (["a=0; a=9"], ["a=0; a=9; b=2"], ["a"]),
            (["a=x=y"], ["a=x=y; b=2"], ["a"]), (["  a=0"], ["a=0; b=2"], ["a"]), (["a =0"], ["a =0; b=2"], ["a"]),
            (["x=1;a=0"], ["x=1;a=0; b=2"], ["a"]), ([""], ["a=1; b=2"], []), (["ab=0"], ["ab=0; a=1; b=2"], []),
            (["x=a=0"], ["x=a=0; a=1; b=2"], []), (["a=0;"], ["a=0;; b=2"], ["a"]),
        ] as [([String], [String], [String])])
    func merge(own: [String], expected: [String], omitted: [String]) throws {
        let decorated = try decorate(DecorationFixture.request(cookies: own), with: "a=1; Path=/", "b=2; Path=/")
        #expect(cookieFields(decorated.request) == expected.map { Octets($0) })
        let report = decorated.report
        #expect(report.retrieval.included.map(\.name) == ["a", "b"])
        #expect(report.cookieOmissions.map(\.cookie.name) == omitted.map { Octets($0) })
        #expect(report.cookieOmissions.allSatisfy { $0.reason == .setByCaller })
        #expect(report.cookies.map(\.name) == (["a", "b"] as [Octets]).filter { !omitted.contains($0.description) })
    }

    @Test("A nameless cookie of the caller's wins over the jar's")
    func nameless() throws {
        let own = try decorate(DecorationFixture.request(cookies: ["own"]), with: "=jar", "a=1")
        #expect(cookieFields(own.request) == ["own; a=1"])
        let none = try decorate(DecorationFixture.request(), with: "=jar", "a=1")
        #expect(cookieFields(none.request) == ["jar; a=1"])
    }

    @Test("The octets of cookies are sent unchanged, including the caller's")
    func octets() throws {
        let all = Octets(([0x09] + (0x20...0xFF).map { UInt8($0) }).filter { ![0x3B, 0x7F, 0x20, 0x09].contains($0) })
        let line = Octets(Array("a=".utf8) + all.bytes)
        #expect(cookieFields(try decorate(DecorationFixture.request(), with: line).request) == [line])
        var request = DecorationFixture.request()
        let own = Octets(Array("own=".utf8) + all.bytes)
        request.headerFields.append(HTTPField(name: .cookie, lenientValue: own))
        let merged = try decorate(request, with: line)
        #expect(cookieFields(merged.request) == [Octets(own.bytes + Array("; ".utf8) + line.bytes)])
    }

    @Test("A decoration changes nothing else of the request, and not the original", arguments: [[], ["own=1"]])
    func untouched(cookies: [String]) throws {
        let original = DecorationFixture.request(cookies: cookies, method: .post)
        let copy = original
        let decorated = try decorate(original, with: "a=1")
        #expect(original == copy)
        var expected = original
        expected.headerFields[fields: .cookie] = [
            HTTPField(name: .cookie, value: (cookies + ["a=1"]).joined(separator: "; "))
        ]
        #expect(decorated.request == expected)
    }

    @Test("A decoration without a cookie has no field, and its report has the reasons")
    func nothing() throws {
        let plain = try decorate(
            DecorationFixture.request(), with: "a=1; Path=/deep", "b=2; Secure",
            in: try DecorationFixture.context("http://example.com/"))
        #expect(cookieFields(plain.request).isEmpty)
        #expect(plain.report.cookies.isEmpty && plain.report.cookieOmissions.isEmpty)
        #expect(plain.report.retrieval.excluded.map(\.reasons) == [[.pathMismatch], [.secureOnly]])
    }

    @Test("A decoration uses the URL of the context, not of the request")
    func contextDecides() throws {
        let lines: [Octets] = ["a=1; Path=/deep", "b=2; SameSite=Strict"]
        let deep = try decorate(
            DecorationFixture.request(), with: lines[0], lines[1],
            in: try DecorationFixture.context("https://example.com/deep/er"))
        #expect(cookieFields(deep.request) == ["a=1; b=2"])
        let crossSite = RequestContext(
            url: try RequestURL("https://example.com/deep"), topLevel: try RequestURL("https://other.example/"))
        let other = try decorate(DecorationFixture.request(), with: lines[0], lines[1], in: crossSite)
        #expect(cookieFields(other.request).isEmpty)
    }

    @Test(
        "A decoration uses the method of the request: Lax cookies are not sent with another site's POST",
        arguments: [("GET", true), ("get", true), ("HEAD", true), ("POST", false), ("post", false), ("PATCH", false)])
    func method(name: String, goes: Bool) throws {
        let crossSite = RequestContext(
            url: try RequestURL("https://example.com/"), topLevel: try RequestURL("https://other.example/"),
            initiator: .topLevel, isTopLevelNavigation: true)
        let method = try #require(HTTPRequest.Method(name))
        let decorated = try decorate(
            DecorationFixture.request(method: method), with: "lax=1; SameSite=Lax", in: crossSite)
        #expect(cookieFields(decorated.request) == (goes ? ["lax=1"] : []))
        #expect(decorated.request.method == method)
    }

    @Test(
        "The URL of a request is its scheme, authority and path",
        arguments: [
            ("https", "example.com", "/a?b=c", "https://example.com/a?b=c"),
            ("http", "EXAMPLE.com:8080", "/", "http://example.com:8080/"),
            ("https", "e.com:443", nil, "https://e.com/"),
            (nil, "example.com", "/", nil), ("https", nil, "/", nil),
        ] as [(String?, String?, String?, String?)])
    func url(scheme: String?, authority: String?, path: String?, expected: String?) {
        let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path)
        #expect((try? request.requestURL())?.description == expected)
    }
}
