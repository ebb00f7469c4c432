import CookieModel
import HTTPTypes
import RequestDecoration
import SessionStore
import Testing

@Suite("Decorated requests")
struct RequestDecoratorTests {
    private static let now = Timestamp(seconds: 1_800_000_000)

    private func decorator(_ lines: Octets...) throws -> RequestDecorator {
        let database = try SessionDatabase(
            path: "", keys: .key(SealingKey()), durability: .memory, now: RequestDecoratorTests.now)
        let jar = try database.jar(now: RequestDecoratorTests.now)
        try jar.receive(
            ReceivedResponse(context: try context(), setCookie: lines), now: RequestDecoratorTests.now)
        return RequestDecorator(jar: jar)
    }

    private func context(_ url: String = "https://example.com/") throws -> RequestContext {
        RequestContext(url: try RequestURL(url))
    }

    private func request(cookies: [String] = []) -> HTTPRequest {
        var request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
        request.headerFields[.accept] = "*/*"
        for cookie in cookies { request.headerFields.append(HTTPField(name: .cookie, value: cookie)) }
        request.headerFields[.userAgent] = "test"
        return request
    }

    private func cookieFields(_ request: HTTPRequest) -> [Octets] {
        request.headerFields[fields: .cookie].map { field in field.withUnsafeBytesOfValue { Octets(Array($0)) } }
    }

    @Test(
        "The caller's cookies win by name, and all go in one field",
        arguments: [
            ([], ["a=1; b=2"]), (["a=0"], ["a=0; b=2"]), (["c=0"], ["c=0; a=1; b=2"]), (["b=0; a=0"], ["b=0; a=0"]),
            (["a=0", "c=0"], ["a=0; c=0; b=2"]), (["A=0"], ["A=0; a=1; b=2"]), (["a"], ["a; a=1; b=2"]),
            (["a=0; a=9"], ["a=0; a=9; b=2"]), (["a=x=y"], ["a=x=y; b=2"]), (["  a=0"], ["a=0; b=2"]),
            (["x=1;a=0"], ["x=1;a=0; b=2"]), ([""], ["a=1; b=2"]), (["ab=0"], ["ab=0; a=1; b=2"]),
        ] as [([String], [String])])
    func merge(own: [String], expected: [String]) throws {
        let decorated = try decorator("a=1; Path=/", "b=2; Path=/").decorate(
            request(cookies: own), in: try context(), now: RequestDecoratorTests.now)
        #expect(cookieFields(decorated.request) == expected.map { Octets($0) })
        #expect(decorated.report.included.map(\.name) == ["a", "b"])
    }

    @Test("A nameless cookie of the caller's wins over the jar's")
    func nameless() throws {
        let decorator = try decorator("=jar", "a=1")
        let own = try decorator.decorate(
            request(cookies: ["own"]), in: try context(), now: RequestDecoratorTests.now)
        #expect(cookieFields(own.request) == ["own; a=1"])
        let none = try decorator.decorate(request(), in: try context(), now: RequestDecoratorTests.now)
        #expect(cookieFields(none.request) == ["jar; a=1"])
    }

    @Test("Octets go as they are, the caller's too")
    func octets() throws {
        let all = Octets(([0x09] + (0x20...0xFF).map { UInt8($0) }).filter { ![0x3B, 0x7F, 0x20, 0x09].contains($0) })
        let line = Octets(Array("a=".utf8) + all.bytes)
        var request = request()
        let own = Octets(Array("own=".utf8) + all.bytes)
        request.headerFields.append(HTTPField(name: .cookie, lenientValue: own))
        let decorated = try decorator(line).decorate(request, in: try context(), now: RequestDecoratorTests.now)
        #expect(cookieFields(decorated.request) == [Octets(own.bytes + Array("; ".utf8) + line.bytes)])
    }

    @Test("Nothing else of the request changes, and the original is as it was")
    func untouched() throws {
        let original = request(cookies: ["own=1"])
        let copy = original
        let decorated = try decorator("a=1").decorate(original, in: try context(), now: RequestDecoratorTests.now)
        #expect(original == copy)
        #expect(
            decorated.request.headerFields[.accept] == "*/*" && decorated.request.headerFields[.userAgent] == "test")
        #expect(decorated.request.path == "/" && decorated.request.method == .get)
        #expect(decorated.request.headerFields.count == 3)
    }

    @Test("Without a cookie there is no field, and the report says why")
    func nothing() throws {
        let decorator = try decorator("a=1; Path=/deep", "b=2; Secure")
        let plain = try decorator.decorate(
            request(), in: try context("http://example.com/"), now: RequestDecoratorTests.now)
        #expect(cookieFields(plain.request).isEmpty)
        #expect(plain.report.included.isEmpty)
        #expect(plain.report.excluded.map(\.reasons) == [[.pathMismatch], [.secureOnly]])
    }

    @Test("The context decides, not the request's own address")
    func contextDecides() throws {
        let decorator = try decorator("a=1; Path=/deep", "b=2; SameSite=Strict")
        let decorated = try decorator.decorate(
            request(), in: try context("https://example.com/deep/er"), now: RequestDecoratorTests.now)
        #expect(cookieFields(decorated.request) == ["a=1; b=2"])
        let crossSite = RequestContext(
            url: try RequestURL("https://example.com/deep"), topLevel: try RequestURL("https://other.example/"))
        let other = try decorator.decorate(request(), in: crossSite, now: RequestDecoratorTests.now)
        #expect(cookieFields(other.request).isEmpty)
    }
}
