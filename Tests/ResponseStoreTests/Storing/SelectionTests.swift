import HTTPCaching
import Testing
import WebPrimitives

@testable import ResponseStore

@Suite("Finding responses")
struct SelectionTests {
    /// A request that is like the first, but for one thing, and whether it finds the response.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let isFound: Bool
        let change: @Sendable (inout Sample) -> Void

        init(_ name: String, _ isFound: Bool, _ change: @escaping @Sendable (inout Sample) -> Void) {
            testDescription = name
            self.isFound = isFound
            self.change = change
        }
    }

    static let rows = [
        Row("the same", true) { _ in },
        Row("another jar", false) { $0.jar = "jar2" },
        Row("the jar and audience exchanged", false) { ($0.jar, $0.audience) = ($0.audience, $0.jar) },
        Row("octets moved from jar to audience", false) { ($0.jar, $0.audience) = ("ja", "raudience") },
        Row("another audience", false) { $0.audience = "audience2" },
        Row("no audience", false) { $0.audience = "" },
        Row("another site, which is not part of the key", true) { $0.site = "other.example" },
        Row("another scheme", false) { $0.url = "http://shop.example/a?q=1" },
        Row("another port", false) { $0.url = "https://shop.example:8443/a?q=1" },
        Row("the default port", true) { $0.url = "https://shop.example:443/a?q=1" },
        Row("another host", false) { $0.url = "https://www.shop.example/a?q=1" },
        Row("another path", false) { $0.url = "https://shop.example/a/?q=1" },
        Row("another query", false) { $0.url = "https://shop.example/a?q=2" },
        Row("no query", false) { $0.url = "https://shop.example/a" },
        Row("a fragment", true) { $0.url = "https://shop.example/a?q=1#f" },
    ]

    @Test("A response is found by its jar, audience and URL", arguments: rows)
    func keys(row: Row) throws {
        let home = CacheHome()
        let cache = home.cache()
        var sample = Sample()
        sample.url = "https://shop.example/a?q=1"
        try cache.store(sample)
        row.change(&sample)
        #expect(try cache.candidates(for: sample).count == (row.isFound ? 1 : 0))
    }

    @Test("The sealed names are compared as well, in case that digests are equal by chance", arguments: rows)
    func names(row: Row) throws {
        var sample = Sample()
        sample.url = "https://shop.example/a?q=1"
        let head = StoredHead(
            jar: sample.jar, audience: sample.audience, site: sample.site, response: try sample.response(),
            body: BodySeal())
        row.change(&sample)
        let url = try RequestURL(sample.url)
        #expect(head.isFor(url, jar: sample.jar, audience: sample.audience) == row.isFound)
    }

    @Test("A response for another audience of the jar is noticed, also when another process stores or removes it")
    func others() throws {
        let home = CacheHome()
        let (cache, otherProcess) = (home.cache(), home.cache())
        let sample = Sample()
        let url = try RequestURL(sample.url)
        func isForOthers(_ audience: Octets, jar: Octets? = nil, url: RequestURL = url) throws -> Bool {
            // A lookup comes before, as in an exchange. The second answer is remembered.
            _ = try cache.candidates(for: sample)
            let (first, second) = (
                cache.isStoredForOthers(url, jar: jar ?? sample.jar, audience: audience),
                cache.isStoredForOthers(url, jar: jar ?? sample.jar, audience: audience)
            )
            #expect(first == second)
            return second
        }
        #expect(try !isForOthers("other"))
        try otherProcess.store(sample)
        #expect(try isForOthers("other"))
        #expect(try !isForOthers(sample.audience))
        #expect(try !isForOthers("other", jar: "jar2"))
        #expect(try !isForOthers("other", url: RequestURL(sample.url + "?another=query")))
        otherProcess.remove(url, jar: sample.jar)
        #expect(try !isForOthers("other"))
    }

    @Test("Other queries find a response with No-Vary-Search, and the policy decides")
    func noVarySearch() throws {
        let home = CacheHome()
        let cache = home.cache()
        var sample = Sample()
        sample.url = "https://shop.example/a?q=1&utm=x"
        sample.fields = ["Cache-Control": "max-age=60", "No-Vary-Search": "params=(\"utm\")"]
        try cache.store(sample)
        sample.url = "https://shop.example/a?utm=y&q=1"
        #expect(try cache.answer(sample) == sample.body)
        sample.url = "https://shop.example/a?q=2"
        #expect(try cache.candidates(for: sample).count == 1)
        #expect(try cache.answer(sample) == nil)
        sample.audience = "other"
        #expect(try cache.candidates(for: sample).isEmpty)
    }

    @Test("Variants lie side by side, and each is replaced by its own successor")
    func variants() throws {
        let home = CacheHome()
        let cache = home.cache()
        func sample(_ language: Octets?, _ body: String) -> Sample {
            var sample = Sample()
            sample.fields = ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
            sample.requestFields = language.map { ["Accept-Language": $0] } ?? [:]
            sample.body = Array(body.utf8)
            return sample
        }
        for language: Octets? in ["de", "en", "", nil] { try cache.store(sample(language, "1\(language ?? "-")")) }
        try cache.store(sample("de", "2de"))
        #expect(cache.all().count == 4)
        for (language, body) in [("de", "2de"), ("en", "1en"), ("", "1"), (nil, "1-")] as [(Octets?, String)] {
            #expect(try cache.answer(sample(language, "")) == Array(body.utf8))
        }
    }

    @Test("A response supersedes all that its request could get, and no others")
    func superseding() throws {
        let home = CacheHome()
        let cache = home.cache()
        func sample(_ body: String, query: String = "", _ fields: MessageFields, x: Octets = "1") -> Sample {
            var sample = Sample()
            sample.url += query
            sample.fields = fields
            sample.fields.append("Cache-Control", "max-age=60")
            sample.requestFields = ["X": x]
            sample.body = Array(body.utf8)
            return sample
        }
        let samples = [
            sample("2", ["Vary": "X"], x: "2"), sample("plain", [:]), sample("other query", query: "?q=1", [:]),
            sample("equivalent", query: "?utm=1", ["No-Vary-Search": "params=(\"utm\")"], x: "2"),
            sample("not equivalent", query: "?q=2", ["No-Vary-Search": "params=(\"utm\")"]),
        ]
        for sample in samples { try cache.store(sample) }
        #expect(cache.all().count == 5)
        var other = samples[1]
        other.audience = "other"
        try cache.store(other)
        try cache.store(sample("new", ["Vary": "X"]))
        let bodies = try cache.all().map { String(decoding: try cache.body(of: $0)?.readAll() ?? [], as: UTF8.self) }
        #expect(bodies == ["2", "other query", "not equivalent", "plain", "new"])
    }

    @Test("The variants of one URL are limited, the least recently used ones go first")
    func tooManyVariants() throws {
        let home = CacheHome()
        let cache = home.cache { $0.variants = 3 }
        var sample = Sample()
        sample.fields = ["Cache-Control": "max-age=60", "Vary": "X"]
        for number in 0..<6 {
            sample.requestFields = ["X": Octets("\(number)")]
            try cache.store(sample, now: CacheHome.start.advanced(bySeconds: Int64(number)))
        }
        let found = try cache.candidates(for: sample)
        #expect(found.map { $0.response.nominated.values["x"] } == ["3", "4", "5"])
        sample.url = "https://shop.example/b"
        try cache.store(sample)
        #expect(cache.all().count == 4)
    }

    @Test("The folder of a database depends on its path and the platform's folder")
    func folder() {
        func path(_ database: String, _ variables: [String: String]) -> String? {
            CacheFolder(database: database) { variables[$0] }?.path
        }
        let cache = path("/data/crumb.sqlite", ["XDG_CACHE_HOME": "/cache", "HOME": "/home/me"])
        #expect(cache?.hasPrefix("/cache/crumb/responses-2/") == true)
        #expect(path("/data/./x/../crumb.sqlite", ["XDG_CACHE_HOME": "/cache"])?.count == cache?.count)
        #expect(path("/data/other.sqlite", ["XDG_CACHE_HOME": "/cache"]) != cache)
        #if os(Linux)
            #expect(path("/data/crumb.sqlite", ["HOME": "/home/me"])?.hasPrefix("/home/me/.cache/crumb/") == true)
        #endif
        // The XDG specification has relative paths ignored.
        #expect(path("/data/crumb.sqlite", ["XDG_CACHE_HOME": "cache"]) == nil)
        // The name of a database on a server is no path of the current folder.
        let served = path("postgresql://db1,db2/crumb", ["XDG_CACHE_HOME": "/cache"])
        #expect(served != nil && served != path("postgresql://db1/crumb", ["XDG_CACHE_HOME": "/cache"]))
        #expect(served?.hasSuffix("/25098fceba418ba270f78bd57dc3471d") == true)
    }
}
