import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("Invalidation (section 4.4)")
struct InvalidationTests {
    private func affected(
        _ method: Octets, _ status: Int, _ fields: MessageFields, _ url: String = "https://shop.example/a"
    ) throws -> [Int] {
        let max = MessageFields.Field("Cache-Control", "max-age=60")
        func stored(_ url: String, _ groups: Octets? = nil) throws -> CachedResponse {
            let lines: [MessageFields.Field] = groups.map { [.init("Cache-Groups", $0)] } ?? []
            return try Sample.stored(MessageFields([max] + lines), url)
        }
        let all = [
            try stored("https://shop.example/a", "\"x\""), try stored("https://shop.example/b"),
            try stored("https://shop.example/c", "\"x\", \"y\""), try stored("https://other.example/a", "\"x\""),
            try stored("https://shop.example/d", "\"y\""),
        ]
        return Invalidation(by: Sample.response(status, fields), to: try Sample.request(method, url)).affected(
            among: all)
    }

    @Test(
        "A non-error response to an unsafe request invalidates its target, and what shares a group with it",
        arguments: [
            ("POST", 200, [0, 2]), ("PUT", 204, [0, 2]), ("DELETE", 302, [0, 2]), ("M-SEARCH", 200, [0, 2]),
            ("get", 200, [0, 2]),
            ("POST", 404, []), ("POST", 500, []), ("POST", 199, []), ("GET", 200, []), ("HEAD", 200, []),
            ("OPTIONS", 200, []),
            ("TRACE", 200, []),
        ] as [(Octets, Int, [Int])])
    func targets(method: Octets, status: Int, expected: [Int]) throws {
        #expect(try affected(method, status, [:]) == expected)
    }

    @Test(
        "Location and Content-Location are invalidated within the origin",
        arguments: [
            (["Location": "/b"], [1]), (["Content-Location": "b"], [1]), (["Location": "https://shop.example/b"], [1]),
            (["Location": "https://other.example/a"], []), (["Location": "http://shop.example/b"], []),
            (["Location": "https://shop.example:8443/b"], []), (["Location": "::"], []),
            (["Location": "/b", "location": "/b"], []),
            (["Location": "/d"], [2, 4]),
        ] as [(MessageFields, [Int])])
    func locations(fields: MessageFields, expected: [Int]) throws {
        #expect(try affected("POST", 201, fields, "https://shop.example/z") == expected)
        #expect(try affected("GET", 200, fields, "https://shop.example/z") == [])
        let invalidation = Invalidation(
            by: Sample.response(201, fields), to: try Sample.request("POST", "https://shop.example/z"))
        #expect(invalidation.urls.count <= 2 && invalidation.urls.allSatisfy { $0.origin == "https://shop.example" })
    }

    @Test("Groups are invalidated within the origin, without further groups (RFC 9875)")
    func groups() throws {
        let url = "https://shop.example/z"
        #expect(try affected("POST", 200, ["Cache-Group-Invalidation": "\"x\""], url) == [0, 2])
        #expect(try affected("POST", 500, ["Cache-Group-Invalidation": "\"y\", \"q\";p=1"], url) == [2, 4])
        #expect(try affected("GET", 200, ["Cache-Group-Invalidation": "\"x\""], url) == [])
        #expect(try affected("POST", 200, ["Cache-Group-Invalidation": "x"], url) == [])
        #expect(try affected("POST", 200, ["Cache-Group-Invalidation": "\"X\""], url) == [])
    }

    @Test("What answers for the URL by No-Vary-Search is invalidated, and its groups")
    func equivalent() throws {
        func stored(_ url: String, _ fields: MessageFields) throws -> CachedResponse {
            try Sample.stored(MessageFields([.init("Cache-Control", "max-age=60")] + fields.lines), url)
        }
        let all = [
            try stored("https://shop.example/a?u=2", ["No-Vary-Search": "params=(\"u\")", "Cache-Groups": "\"x\""]),
            try stored("https://shop.example/a?u=2", [:]),
            try stored("https://shop.example/c", ["Cache-Groups": "\"x\""]),
            try stored("https://shop.example/a?v=2", ["No-Vary-Search": "params=(\"u\")"]),
        ]
        let post = try Sample.request("POST", "https://shop.example/a?u=1")
        #expect(Invalidation(by: Sample.response(), to: post).affected(among: all) == [0, 2])
        let other = try Sample.request("POST", "https://shop.example/z")
        let located = Sample.response(201, ["Location": "/a?u=1"])
        #expect(Invalidation(by: located, to: other).affected(among: all) == [0, 2])
        #expect(Invalidation(by: located, to: other).time == Sample.start)
    }

    @Test("32 groups with 32 characters are read")
    func limits() throws {
        let names = (0..<32).map { "\"\(String(repeating: "g", count: 30))\($0 + 10)\"" }
        let stored = try Sample.stored(["Cache-Groups": Octets(names.joined(separator: ", "))])
        #expect(stored.groups.count == 32 && stored.groups.allSatisfy { $0.count == 32 })
    }

    @Test("Clear-Site-Data removes all of the origin, over a secure connection")
    func clearSiteData() throws {
        #expect(try affected("GET", 200, ["Clear-Site-Data": "\"cookies\", \"cache\""]) == [0, 1, 2, 4])
        #expect(try affected("GET", 404, ["Clear-Site-Data": "\"*\""]) == [0, 1, 2, 4])
        #expect(try affected("GET", 200, ["Clear-Site-Data": "\"cookies\""]) == [])
        #expect(try affected("GET", 200, ["Clear-Site-Data": "cache"]) == [])
        #expect(try affected("GET", 200, ["Clear-Site-Data": "\"cache\""], "http://shop.example/a") == [])
    }
}

@Suite("Cache-Status (RFC 9211)")
struct CacheStatusTests {
    private func value(
        _ request: CacheRequest, _ stored: [CachedResponse], after seconds: Int64, isOffline: Bool = false
    ) -> String {
        let decision = CachingPolicy().lookup(request, among: stored, now: Sample.after(seconds), isOffline: isOffline)
        return CacheStatus(decision).value.description
    }

    @Test("A member tells a hit, or why the request was forwarded, and the rule")
    func members() throws {
        let stored = try Sample.stored(["Cache-Control": "max-age=60", "ETag": "\"a\"", "Vary": "Foo"])
        let request = try Sample.request()
        #expect(value(request, [stored], after: 20) == "crumb; hit; ttl=40; detail=protocol")
        #expect(value(request, [stored], after: 70) == "crumb; fwd=stale; detail=protocol")
        #expect(value(request, [], after: 0) == "crumb; fwd=uri-miss; detail=protocol")
        #expect(value(try Sample.request("POST"), [stored], after: 0) == "crumb; fwd=method; detail=protocol")
        #expect(value(request, [stored], after: 70, isOffline: true) == "crumb; hit; ttl=-10; detail=offline")
        #expect(value(request, [], after: 0, isOffline: true) == "crumb; detail=offline")
        let other = try Sample.request("GET", "https://shop.example/a", ["Foo": "1"])
        #expect(value(other, [stored], after: 0) == "crumb; fwd=vary-miss; detail=protocol")
        let reload = try Sample.request("GET", "https://shop.example/a", ["Cache-Control": "no-cache"])
        #expect(value(reload, [stored], after: 0) == "crumb; fwd=request; detail=protocol")
    }

    @Test("A member is a structured field, whatever its name and detail")
    func syntax() throws {
        var status = CacheStatus(
            CachingPolicy().lookup(try Sample.request(), among: [], now: Sample.start), cache: "a \"b\\ü")
        status.forwardedStatus = 304
        status.isStored = true
        status.timeToLive = -5
        status.detail = "1 rule"
        #expect(
            status.value == #""a \"b\\??"; fwd=uri-miss; fwd-status=304; stored; ttl=-5; detail="1 rule""#)
        #expect(StructuredField.list([status.value]) == [.item(.string("a \"b\\??"))])
    }
}
