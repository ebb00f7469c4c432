import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("A response answers no request that another one could have been meant for")
struct PoisoningTests {
    private static let fresh: MessageFields = ["Cache-Control": "max-age=60"]

    @Test(
        "A field by which a request may have another target or method counts, without Vary",
        arguments: [
            "X-Forwarded-Host", "x-forwarded-host", "X-Forwarded-Proto", "X-Forwarded-Scheme", "X-Forwarded-Port",
            "Forwarded", "X-Host", "X-Original-URL", "X-Rewrite-URL", "X-HTTP-Method-Override", "X-Method-Override",
            "X-Forwarded-Prefix", "X-Forwarded-Server", "X-Original-Host", "X-HTTP-Method",
        ])
    func unkeyedFields(name: String) throws {
        let fields = MessageFields([.init(Octets(name), "evil.example")])
        let poisoned = try Sample.stored(Self.fresh, for: fields)
        #expect(Sample.outcome(try Sample.request(), [poisoned]) == "forward vary-mismatch")
        let other = MessageFields([.init(Octets(name), "b.example")])
        let (url, plain) = ("https://shop.example/a", try Sample.stored(Self.fresh))
        #expect(Sample.outcome(try Sample.request("GET", url, other), [poisoned]) == "forward vary-mismatch")
        #expect(Sample.outcome(try Sample.request("HEAD", url, fields), [poisoned]) == "hit")
        #expect(Sample.outcome(try Sample.request("GET", url, fields), [plain]) == "forward vary-mismatch")
        let decision = CachingPolicy().replacement(
            by: poisoned, to: try Sample.request("GET", url, fields), among: [plain, poisoned])
        #expect(decision.superseded == [1])
        #expect(poisoned.nominated.values == [Octets(name).lowercased: "evil.example"])
    }

    @Test("A validation for a request with such a field does not make the response one for others")
    func validated() throws {
        let fields: MessageFields = ["X-Forwarded-Host": "evil.example"]
        let stored = try Sample.stored(["Cache-Control": "max-age=1", "ETag": "\"v\""], for: fields)
        let request = try Sample.request("GET", "https://shop.example/a", fields)
        let decision = CachingPolicy().lookup(request, among: [stored], now: Sample.after(9))
        let outcome = CachingPolicy().validated(
            by: Sample.response(304, ["ETag": "\"v\"", "Cache-Control": "max-age=60"]), after: decision, for: request,
            stored: [stored])
        guard case .freshened(_, _, let updates, _) = outcome, let update = updates[0] else {
            Issue.record("\(outcome)")
            return
        }
        #expect(Sample.outcome(try Sample.request(), [update]) == "forward vary-mismatch")
    }

    @Test(
        "URLs that a server may take for others are others",
        arguments: [
            ("/a", "//a"), ("/a", "/a/"), ("/a", "/A"), ("/a", "/%61"), ("/a/b", "/a%2Fb"), ("/a%2fb", "/a%2Fb"),
            ("/a?b", "/a%3Fb"), ("/a", "/a;b"), ("/a", "/a.css"), ("/a", "/a%00"), ("/a?", "/a?&"),
            ("/a?x=1&x=2", "/a?x=2&x=1"), ("/a?x=1", "/a?x=1&x=2"), ("/a?x=1&y=2", "/a?y=2&x=1"),
            ("/a?x=1;y=2", "/a?x=1&y=2"), ("/a?x=%31", "/a?x=1"), ("/a?x=1", "/a?X=1"), ("/a?x=+", "/a?x=%20"),
        ])
    func targets(first: String, second: String) throws {
        for (first, second) in [(first, second), (second, first)] {
            let stored = try Sample.stored(Self.fresh, "https://shop.example\(first)")
            let request = try Sample.request("GET", "https://shop.example\(second)")
            #expect(Sample.outcome(request, [stored]) == "forward not-stored", "\(first) \(second)")
        }
    }

    @Test(
        "Neither do other origins answer",
        arguments: [
            "http://shop.example/a", "https://shop.example:444/a", "https://www.shop.example/a",
            "https://shop.example.evil/a", "https://shop.example./a",
        ])
    func origins(url: String) throws {
        let stored = try Sample.stored(["Cache-Control": "max-age=60", "No-Vary-Search": "except=()"], url)
        #expect(Sample.outcome(try Sample.request(), [stored]) == "forward not-stored")
    }

    @Test(
        "Vary with a star in any line, or with too many names, is not stored",
        arguments: [
            (["*"], 0), (["Cookie", "*"], 0), (["Cookie, *, X"], 0), (["*", "*"], 0), (["**"], 1), (["x*"], 1),
            (["COOKIE, cookie", "Cookie"], 1), ([", ,"], 0),
        ] as [([Octets], Int)])
    func vary(values: [Octets], count: Int) throws {
        let response = Sample.response(200, MessageFields(values.map { .init("Vary", $0) }))
        let decision = CachingPolicy().storing(response, for: try Sample.request())
        let isStar = values.contains { FieldList.members([$0]).contains("*") }
        #expect(decision.obstacles == (isStar ? [.variesOnAll] : []))
        #expect(decision.response?.nominated.values.count == (isStar ? nil : count))
    }

    @Test("The last of a thousand names counts")
    func manyNames() throws {
        let names = FieldList.joined((0..<1000).map { Octets("x-\($0)") })
        let stored = try Sample.stored(["Cache-Control": "max-age=60", "Vary": names])
        #expect(Sample.outcome(try Sample.request(), [stored]) == "hit")
        let request = try Sample.request("GET", "https://shop.example/a", ["X-999": "1"])
        #expect(Sample.outcome(request, [stored]) == "forward vary-mismatch")
    }

    @Test("Parts of equivalent URLs, or with tags that differ by case or quotation marks, are not spliced")
    func splice() throws {
        func part(_ tag: Octets, _ range: Octets, _ length: Int64, url: String = "/a") throws -> CachedResponse {
            let fields: MessageFields = [
                "Cache-Control": "max-age=60", "ETag": tag, "Content-Range": range, "No-Vary-Search": "except=()",
            ]
            let request = try Sample.request("GET", "https://shop.example\(url)")
            let storable = CachingPolicy().storing(Sample.response(206, fields), for: request).response
            return try #require(storable?.received(bodyLength: length, isComplete: true))
        }
        let first = try part("\"v\"", "bytes 0-3/10", 4)
        #expect(first.combined(with: try part("\"v\"", "bytes 4-9/10", 6))?.response.extent == .whole(length: 10))
        let others = [
            try part("\"V\"", "bytes 4-9/10", 6), try part("v", "bytes 4-9/10", 6),
            try part("\"v\"", "bytes 4-9/10", 6, url: "/a?x"),
        ]
        for other in others { #expect(first.combined(with: other) == nil, "\(other.fields)") }
    }
}
