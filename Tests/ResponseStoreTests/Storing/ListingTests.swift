import HTTPCaching
import Testing
import WebPrimitives

@testable import ResponseStore

@Suite("Lists of stored responses, and the counts of what is removed")
struct ListingTests {
    private func store(
        _ url: String, jar: Octets = "1", site: Octets = "a.example", audience: Octets = "one",
        _ fields: MessageFields = ["Cache-Control": "max-age=3600"], in cache: ResponseCache, at seconds: Int64 = 0
    ) throws {
        var sample = Sample()
        (sample.url, sample.jar, sample.site, sample.audience) = (url, jar, site, audience)
        sample.fields = fields
        try cache.store(sample, now: CacheHome.start.advanced(bySeconds: seconds))
    }

    @Test("A page has the responses of a jar and a site, also after a rotation of the key")
    func pages() throws {
        let home = CacheHome()
        #expect(!home.folder.hasCache)
        let cache = home.cache()
        for number in 0..<5 { try store("https://a.example/\(number)", in: cache) }
        try store("https://b.example/", site: "b.example", in: cache)
        try store("https://a.example/other", jar: "2", in: cache)
        #expect(home.folder.hasCache)
        home.rotateKey(keepsFormer: true)
        try store("https://a.example/new", in: cache)
        func paths(_ site: Octets?) -> [String] {
            var (paths, last): ([String], Int64?) = ([], 0)
            while let id = last {
                let page = cache.page(ofJar: "1", site: site, after: id, count: 2, now: CacheHome.start)
                paths += page.responses.map(\.response.url.path.description)
                last = page.last
            }
            return paths
        }
        #expect(paths("a.example") == ["/0", "/1", "/2", "/3", "/4", "/new"])
        #expect(paths(nil) == ["/0", "/1", "/2", "/3", "/4", "/", "/new"])
        #expect(paths("none.example").isEmpty)
    }

    @Test("The responses to a URL are those of all audiences of the jar, also by No-Vary-Search")
    func ofURL() throws {
        let home = CacheHome()
        let cache = home.cache()
        let url = "https://a.example/x?q=1"
        for audience: Octets in ["one", "two"] { try store(url, audience: audience, in: cache) }
        try store("https://a.example/x?q=2", in: cache)
        try store(url, jar: "2", in: cache)
        try store(
            "https://a.example/x?q=3", ["Cache-Control": "max-age=3600", "No-Vary-Search": "params"], in: cache)
        home.rotateKey(keepsFormer: true)
        let found = cache.responses(to: try RequestURL(url), jar: "1", now: CacheHome.start)
        #expect(found.map(\.response.url.query) == ["?q=1", "?q=1", "?q=3"])
        #expect(found.map(\.audience) == ["one", "two", "one"])
        #expect(cache.responses(to: try RequestURL("https://a.example/y"), jar: "1", now: CacheHome.start).isEmpty)
    }

    @Test("A removal returns how many responses and octets it has removed")
    func counts() throws {
        let home = CacheHome()
        let cache = home.cache()
        for number in 0..<(ResponseCache.batchSize + 10) {
            try store("https://a.example/\(number)", in: cache, at: Int64(number))
        }
        try store("https://b.example/", site: "b.example", in: cache)
        let start = cache.usage()
        let one = cache.remove(try RequestURL("https://a.example/0"), jar: "1")
        #expect(one.entries == 1 && one.size == start.size - cache.usage().size)
        let late = cache.remove(
            try RequestURL("https://a.example/1"), jar: "1", since: CacheHome.start.advanced(bySeconds: 2))
        #expect(late == .nothing)
        let site = cache.removeResponses(ofJar: "1", site: "a.example")
        #expect(site.entries == Int64(ResponseCache.batchSize + 9))
        #expect(cache.removeAll() + site + one == start)
        #expect(throws: Never.self) { try cache.finishRemovals() }
        #expect(cache.usage() == .nothing)
    }

    @Test("The IDs of removed responses are not used again")
    func ids() throws {
        let cache = CacheHome().cache()
        var last: Int64 = 0
        for _ in 0..<3 {
            for path in ["a", "b"] {
                var sample = Sample()
                sample.url = "https://shop.example/\(path)"
                let id = try #require(try cache.store(sample))
                #expect(id > last)
                last = id
            }
            cache.removeAll()
            // Also if there was nothing to remove.
            cache.removeAll()
        }
    }

    @Test("A database in memory has no folder, and neither has one without a home")
    func folders() {
        #expect(CacheFolder(database: "") { _ in "/home/me" } == nil)
        #expect(CacheFolder(database: "/db.sqlite") { _ in nil } == nil)
        #expect(CacheFolder(database: "/db.sqlite") { $0 == "HOME" ? "/home/me" : nil } != nil)
    }
}
