import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("Constructing responses (section 4)")
struct LookupTests {
    private static let url = "https://shop.example/a"

    @Test(
        "Directives of response and request decide after so many seconds",
        arguments: [
            ("max-age=60", "", 59, "hit"), ("max-age=60", "", 60, "forward stale"),
            ("no-cache, max-age=60", "", 0, "forward response-no-cache"),
            ("no-cache=\"x\", max-age=60", "", 0, "hit"), ("max-age=60, must-revalidate", "", 59, "hit"),
            ("max-age=60, must-revalidate", "", 60, "forward must-revalidate"),
            ("max-age=60, must-revalidate", "max-stale", 60, "forward must-revalidate"),
            ("max-age=60, proxy-revalidate", "max-stale", 60, "hit"),
            ("max-age=60, s-maxage=60", "max-stale", 60, "hit"),
            ("max-age=60", "no-cache", 0, "forward request-no-cache"), ("max-age=60", "no-store", 0, "hit"),
            ("max-age=60", "max-age=10", 10, "hit"), ("max-age=60", "max-age=10", 11, "forward request-max-age"),
            ("max-age=60", "max-age=0", 0, "forward request-max-age"),
            ("max-age=60", "max-age=x", 0, "forward request-max-age"),
            ("max-age=60, immutable", "max-age=0", 0, "hit"),
            ("max-age=60, immutable", "max-age=5", 6, "forward request-max-age"),
            ("max-age=60, immutable", "no-cache", 0, "forward request-no-cache"),
            ("max-age=60, immutable", "max-age=0", 60, "forward request-max-age stale"),
            ("max-age=60", "min-fresh=10", 50, "hit"), ("max-age=60", "min-fresh=10", 51, "forward request-min-fresh"),
            ("max-age=60", "max-stale=10", 70, "hit"), ("max-age=60", "max-stale=10", 71, "forward stale"),
            ("max-age=60", "max-stale", 9999, "hit"),
            ("max-age=60", "max-age=5, max-stale", 70, "forward request-max-age"),
            ("max-age=60", "only-if-cached", 0, "hit"), ("max-age=60", "only-if-cached", 60, "unavailable stale"),
            ("max-age=60, stale-while-revalidate=10", "", 70, "hit-then-validate stale"),
            ("max-age=60, stale-while-revalidate=10", "", 71, "forward stale"),
            ("max-age=60, stale-while-revalidate=10", "max-age=99", 65, "forward stale"),
            ("max-age=60, stale-while-revalidate=10, must-revalidate", "", 65, "forward must-revalidate"),
            ("max-age=60, stale-while-revalidate=10, no-cache", "", 65, "forward response-no-cache stale"),
        ])
    func directives(response: String, request: String, seconds: Int64, expected: String) throws {
        let stored = try Sample.stored(["Cache-Control": Octets(response)])
        let fields: MessageFields = request.isEmpty ? [:] : ["Cache-Control": Octets(request)]
        #expect(Sample.outcome(try Sample.request("GET", Self.url, fields), [stored], after: seconds) == expected)
    }

    @Test(
        "Only GET and HEAD requests for the same URL are answered",
        arguments: [
            ("GET", url, "hit"), ("HEAD", url, "hit"), ("POST", url, "forward method"),
            ("OPTIONS", url, "forward method"),
            ("get", url, "forward method"), ("GET", url + "?", "forward not-stored"),
            ("GET", url + "?x", "forward not-stored"),
            ("GET", "http://shop.example/a", "forward not-stored"),
            ("GET", "https://shop.example:444/a", "forward not-stored"),
            ("GET", "https://www.shop.example/a", "forward not-stored"),
            ("GET", "https://SHOP.example:443/x/../a", "hit"),
        ])
    func targets(method: String, url: String, expected: String) throws {
        let stored = try Sample.stored(["Cache-Control": "max-age=60"])
        #expect(Sample.outcome(try Sample.request(Octets(method), url), [stored]) == expected)
    }

    @Test("Without a stored response, only-if-cached is answered by an error")
    func onlyIfCached() throws {
        let request = try Sample.request("GET", Self.url, ["Cache-Control": "only-if-cached"])
        #expect(Sample.outcome(request, []) == "unavailable not-stored")
        #expect(Sample.outcome(try Sample.request(), []) == "forward not-stored")
        let post = try Sample.request("POST", Self.url, ["Cache-Control": "only-if-cached"])
        #expect(Sample.outcome(post, []) == "forward method")
    }

    @Test("The validation after a stale answer may be forwarded, though the client wants no request")
    func background() throws {
        let stored = try Sample.stored(["Cache-Control": "max-age=1, stale-while-revalidate=99", "ETag": "\"a\""])
        func sent(_ fields: MessageFields) throws -> MessageFields? {
            let request = try Sample.request("GET", Self.url, fields)
            let outcome = CachingPolicy().lookup(request, among: [stored], now: Sample.after(9)).outcome
            return if case .hitThenValidate(_, let fields) = outcome { fields } else { nil }
        }
        #expect(try sent(["Cache-Control": "only-if-cached"]) == ["If-None-Match": "\"a\""])
        #expect(
            try sent(["Cache-Control": "x=1, Only-If-Cached , y", "Z": "1"])
                == ["Cache-Control": "x=1, y", "Z": "1", "If-None-Match": "\"a\""])
        #expect(try sent(["Cache-Control": "x,y"]) == ["Cache-Control": "x,y", "If-None-Match": "\"a\""])
    }

    @Test("If-Match and If-Unmodified-Since are for the server", arguments: ["If-Match", "If-Unmodified-Since"])
    func preconditions(name: String) throws {
        let stored = try Sample.stored(["Cache-Control": "max-age=60"])
        let request = try Sample.request("GET", Self.url, MessageFields([.init(Octets(name), "\"a\"")]))
        #expect(Sample.outcome(request, [stored]) == "forward precondition")
    }

    @Test("A response that was invalidated is validated, however fresh")
    func invalidated() throws {
        let stored = try Sample.stored(["Cache-Control": "max-age=60", "ETag": "\"a\""]).invalidated
        #expect(Sample.outcome(try Sample.request(), [stored]) == "validate invalidated")
    }

    @Test("No-Vary-Search lets a response answer for equivalent URLs")
    func variation() throws {
        let stored = try Sample.stored(
            ["Cache-Control": "max-age=60", "No-Vary-Search": "params=(\"u\")"], "https://shop.example/a?x=1&u=1")
        #expect(Sample.outcome(try Sample.request("GET", "https://shop.example/a?u=2&x=1"), [stored]) == "hit")
        #expect(
            Sample.outcome(try Sample.request("GET", "https://shop.example/a?x=2"), [stored]) == "forward not-stored")
    }

    @Test("An incomplete response answers for a range within it only")
    func incomplete() throws {
        let fields: MessageFields = ["Cache-Control": "max-age=60", "ETag": "\"a\"", "Content-Range": "bytes 2-5/10"]
        let decision = CachingPolicy().storing(Sample.response(206, fields), for: try Sample.request())
        let stored = try #require(decision.response?.received(bodyLength: 4, isComplete: true))
        let rows: [(Octets?, String)] = [
            (nil, "forward incomplete"), ("bytes=2-5", "hit"), ("bytes=3-4", "hit"),
            ("bytes=1-4", "forward incomplete"),
            ("bytes=4-", "forward incomplete"), ("bytes=-5", "forward incomplete"),
            ("bytes=2-3,5-5", "forward incomplete"),
        ]
        for (range, expected) in rows {
            let request = try Sample.request("GET", Self.url, range.map { ["Range": $0] } ?? [:])
            #expect(Sample.outcome(request, [stored]) == expected, "\(range ?? "")")
        }
        #expect(Sample.outcome(try Sample.request("HEAD"), [stored]) == "forward incomplete")
        let other = try Sample.request("GET", Self.url, ["Range": "bytes=2-5", "If-Range": "\"b\""])
        #expect(Sample.outcome(other, [stored]) == "forward incomplete")
    }
}

@Suite("Vary (section 4.1)")
struct VaryTests {
    @Test(
        "The fields that Vary names have to match, normalized",
        arguments: [
            ("Foo", ["Foo": "1"], ["foo": "1"], true), ("Foo", ["Foo": "1"], ["Foo": "2"], false),
            ("Foo", ["Foo": "1"], [:], false), ("Foo", [:], ["Foo": "1"], false), ("Foo", [:], [:], true),
            ("Foo", [:], ["Foo": ""], false), ("Foo", ["Foo": ""], ["Foo": ""], true),
            ("Foo, BAR", ["Foo": "1", "Bar": "2"], ["Bar": "2", "Foo": "1"], true),
            ("Foo, BAR", ["Foo": "1", "Bar": "2"], ["Foo": "1"], false),
            ("Foo", ["Foo": "1", "X": "1"], ["Foo": "1", "X": "2"], true),
            ("Foo", ["Foo": "1, 2"], ["Foo": "1", "foo": "2"], true), ("Foo", ["Foo": "1,2"], ["Foo": "1 ,  2"], true),
            ("Foo", ["Foo": "a"], ["Foo": "A"], false), ("Foo", ["Foo": "\"a, b\""], ["Foo": "\"a,b\""], false),
            ("Accept-Language", ["Accept-Language": "en, DE"], ["Accept-Language": "EN,de"], true),
            ("Accept-Language", ["Accept-Language": "en, de"], ["Accept-Language": "de, en"], false),
            ("Accept-Encoding", ["Accept-Encoding": "gzip"], ["Accept-Encoding": "GZIP"], true),
            (",", ["Foo": "1"], ["Foo": "2"], true), ("Foo", ["Foo": "a,,b"], ["Foo": "a,b"], false),
            ("Foo", ["Foo": "a,,b"], ["Foo": "a , ,b"], true),
        ] as [(Octets, MessageFields, MessageFields, Bool)])
    func match(vary: Octets, original: MessageFields, presented: MessageFields, matches: Bool) throws {
        let stored = try Sample.stored(["Cache-Control": "max-age=60", "Vary": vary], for: original)
        let request = try Sample.request("GET", "https://shop.example/a", presented)
        #expect(Sample.outcome(request, [stored]) == (matches ? "hit" : "forward vary-mismatch"))
    }

    @Test("A long value is compared to its end")
    func long() throws {
        func value(_ last: Octets) -> Octets { Octets(Array(String(repeating: "a,", count: 2000).utf8) + Array(last)) }
        let stored = try Sample.stored(["Cache-Control": "max-age=60", "Vary": "Foo"], for: ["Foo": value("b")])
        for (last, outcome) in [("b", "hit"), ("c", "forward vary-mismatch")] as [(Octets, String)] {
            let request = try Sample.request("GET", "https://shop.example/a", ["Foo": value(last)])
            #expect(Sample.outcome(request, [stored]) == outcome)
        }
    }

    private func chosen(_ stored: [CachedResponse], _ fields: MessageFields = ["Foo": "1"]) throws -> Int? {
        let request = try Sample.request("GET", "https://shop.example/a", fields)
        return CachingPolicy().lookup(request, among: stored, now: Sample.after(10)).choice?.index
    }

    @Test("The most recent response by Date is chosen, and rather one with Vary")
    func mostRecent() throws {
        func stored(_ date: Int64, vary: Bool = true) throws -> CachedResponse {
            let line: [MessageFields.Field] = vary ? [.init("Vary", "Foo")] : []
            let fields: [MessageFields.Field] = [
                .init("Cache-Control", "max-age=60"), .init("Date", Sample.date(date)),
            ]
            return try Sample.stored(MessageFields(fields + line), for: ["Foo": "1"])
        }
        #expect(try chosen([try stored(1), try stored(3), try stored(2)]) == 1)
        #expect(try chosen([try stored(1), try stored(3, vary: false)]) == 0)
        #expect(try chosen([try stored(1, vary: false), try stored(3, vary: false)]) == 1)
        #expect(try chosen([try stored(1), try stored(3, vary: false)], ["Foo": "2"]) == 1)
        #expect(try chosen([]) == nil)
    }
}
