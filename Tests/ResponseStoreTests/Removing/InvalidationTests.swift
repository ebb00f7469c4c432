import Dispatch
import Foundation
import HTTPCaching
import Synchronization
import Testing
import WebPrimitives

@testable import ResponseStore

extension ResponseCache {
    /// Applies what the response to a POST invalidates.
    func invalidate(
        _ sample: Sample, _ fields: MessageFields = [:], method: Octets = "POST", now: Timestamp = CacheHome.start
    ) throws {
        let request = CacheRequest(method: method, url: try RequestURL(sample.url))
        let response = OriginResponse(status: 200, fields: fields, requestTime: now, responseTime: now)
        apply(Invalidation(by: response, to: request), of: request.url, jar: sample.jar)
    }
}

@Suite("Invalidating and removing responses")
struct InvalidationTests {
    private static let groups: [String: MessageFields] = [
        "/a": ["Cache-Groups": "\"one\""], "/b": ["Cache-Groups": "\"one\", \"two\""],
        "/c": ["Cache-Groups": "\"two\""],
    ]

    /// A message, and the paths whose responses need a validation afterwards.
    struct Row: Sendable {
        let method: Octets
        let path: String
        let fields: MessageFields
        let invalid: Set<String>
    }

    static let rows = [
        Row(method: "GET", path: "/d", fields: [:], invalid: []),
        Row(method: "POST", path: "/d", fields: [:], invalid: ["/d"]),
        Row(method: "POST", path: "/d?q=2", fields: [:], invalid: []),
        Row(
            method: "POST", path: "/x", fields: ["Location": "/d?q=1", "Content-Location": "e"],
            invalid: ["/d?q=1", "/e"]),
        Row(method: "POST", path: "/x", fields: ["Location": "https://other.example/d"], invalid: []),
        // One step from a response to its groups, and none further.
        Row(method: "POST", path: "/a", fields: [:], invalid: ["/a", "/b"]),
        Row(method: "POST", path: "/b", fields: [:], invalid: ["/a", "/b", "/c"]),
        Row(method: "POST", path: "/x", fields: ["Cache-Group-Invalidation": "\"two\""], invalid: ["/b", "/c"]),
        Row(method: "GET", path: "/x", fields: ["Cache-Group-Invalidation": "\"two\""], invalid: []),
    ]

    @Test("A response to an unsafe request marks what it invalidates, for all audiences of the jar", arguments: rows)
    func marks(row: Row) throws {
        let home = CacheHome()
        let cache = home.cache()
        for (jar, host) in [("jar", "shop.example"), ("jar2", "shop.example"), ("jar", "other.example")] {
            for audience: Octets in ["1", "2"] {
                for path in ["/a", "/b", "/c", "/d", "/d?q=1", "/e"] {
                    var sample = Sample()
                    sample.url = "https://\(host)\(path)"
                    (sample.jar, sample.audience) = (Octets(jar), audience)
                    for line in InvalidationTests.groups[path]?.lines ?? [] {
                        sample.fields.append(line.name, line.value)
                    }
                    try cache.store(sample)
                }
            }
        }
        var sample = Sample()
        sample.url = "https://shop.example\(row.path)"
        try cache.invalidate(sample, row.fields, method: row.method)
        let responses = home.cache().all()
        #expect(responses.count == 36)
        for stored in responses {
            let isOfOrigin = stored.jar == "jar" && stored.response.url.host.description == "shop.example"
            let path = stored.response.url.path.description + stored.response.url.query.description
            #expect(stored.response.isInvalid == (isOfOrigin && row.invalid.contains(path)), "\(stored.response.url)")
        }
    }

    @Test(
        "A response that was requested before an invalidation needs a validation when it is stored later",
        arguments: [(5, true), (10, true), (11, false)])
    func onItsWay(requested: Int64, isInvalid: Bool) throws {
        func time(_ seconds: Int64) -> Timestamp { CacheHome.start.advanced(bySeconds: seconds) }
        let home = CacheHome()
        let cache = home.cache()
        try cache.store(Sample())
        try cache.invalidate(Sample(), now: time(10))
        // An older invalidation that is written later changes nothing.
        try cache.invalidate(Sample(), now: time(3))
        try cache.store(Sample(), requested: time(requested), now: time(20))
        // The invalidation outlives the response that it was about.
        try cache.store(Sample(), requested: time(requested), now: time(30))
        let found = try home.cache().candidates(for: Sample(), now: time(30))
        #expect(found.map(\.response.isInvalid) == [isInvalid])
        #expect(found.map(\.response.invalidatedAt) == [time(10)])
    }

    @Test("An invalidation reaches a response whose body is still arriving", arguments: [false, true])
    func arriving(isLate: Bool) throws {
        let home = CacheHome()
        let cache = home.cache()
        try cache.store(Sample())
        let later = CacheHome.start.advanced(bySeconds: 10)
        if !isLate { try cache.invalidate(Sample(), now: later) }
        let writer = try cache.begin(Sample())
        if isLate { try cache.invalidate(Sample(), now: later) }
        // What the response shows to be out of date is removed before its body is complete.
        if !isLate { cache.remove(try cache.candidates(for: Sample())) }
        #expect(cache.all().count == (isLate ? 1 : 0))
        writer?.finish(isComplete: true, now: later)
        #expect(try cache.candidates(for: Sample(), now: later).map(\.response.isInvalid) == [true])
    }

    @Test("Clear-Site-Data removes the responses of the origin")
    func clearing() throws {
        let home = CacheHome()
        let cache = home.cache()
        for url in [
            "https://shop.example/a", "https://shop.example/b", "https://www.shop.example/", "http://shop.example/",
        ] {
            var sample = Sample()
            sample.url = url
            try cache.store(sample)
        }
        try cache.invalidate(Sample(), ["Clear-Site-Data": "\"cache\""], method: "GET")
        #expect(
            Set(cache.all().map(\.response.url.description)) == ["https://www.shop.example/", "http://shop.example/"])
    }

    @Test("Responses are removed by URL, site, time and jar, and all of them")
    func removing() throws {
        let home = CacheHome()
        let cache = home.cache()
        for (number, jar) in ["1", "2"].enumerated() {
            for (step, site) in ["a.example", "b.example"].enumerated() {
                for path in ["/x", "/y", "/y?q"] {
                    var sample = Sample()
                    sample.url = "https://\(site)\(path)"
                    (sample.jar, sample.site) = (Octets(jar), Octets(site))
                    sample.body = Sample.octets(20_000, seed: number)
                    try cache.store(sample, now: CacheHome.start.advanced(bySeconds: Int64(step * 100)))
                }
            }
        }
        func left() -> [String] { cache.all().map { "\($0.jar) \($0.response.url)" } }
        #expect(left().count == 12)
        cache.remove(try RequestURL("https://a.example/y"), jar: "1")
        #expect(left().filter { $0.hasPrefix("1 https://a.example/y") } == ["1 https://a.example/y?q"])
        cache.removeResponses(ofJar: "1", site: "a.example", since: CacheHome.start.advanced(bySeconds: 1))
        #expect(left().count == 11)
        cache.removeResponses(ofJar: "1", site: "a.example")
        #expect(left().count == 9)
        cache.removeResponses(ofJar: "2", since: CacheHome.start.advanced(bySeconds: 50))
        #expect(left().count == 6)
        cache.removeResponses(ofJar: "1")
        #expect(left() == ["2 https://a.example/x", "2 https://a.example/y", "2 https://a.example/y?q"])
        #expect(cache.usage() == cache.usage(ofJar: "2"))
        #expect(home.bodyFiles.count == 3)
        let other = home.cache()
        #expect(other.all().count == 3)
        cache.removeAll()
        #expect(left().isEmpty)
        #expect(other.all().isEmpty)
        #expect(cache.usage() == CacheUsage(entries: 0, size: 0))
        #expect(home.bodyFiles.isEmpty)
        // Both go on.
        try other.store(Sample())
        #expect(try cache.answer(Sample()) == Sample().body)
    }

    @Test("Without a writable index, an invalidation makes every lookup a miss until it is written")
    func pending() throws {
        let home = CacheHome()
        let cache = home.cache()
        try cache.store(Sample())
        let other = home.cache()
        #expect(try other.answer(Sample()) == Sample().body)
        // Another process writes for a while.
        _ = other.write { _ in
            try cache.invalidate(Sample())
            #expect(try cache.candidates(for: Sample()).isEmpty)
            #expect(try cache.store(Sample()) == nil)
        }
        #expect(try cache.candidates(for: Sample()).map(\.response.isInvalid) == [true])
        #expect(try other.candidates(for: Sample()).map(\.response.isInvalid) == [true])
    }

    @Test("A removal is not lost either, and an open body can still be read")
    func pendingRemoval() throws {
        let home = CacheHome()
        let cache = home.cache()
        for path in ["/a", "/b", "/c"] {
            var sample = Sample()
            sample.url = "https://shop.example\(path)"
            sample.body = Sample.octets(20_000)
            try cache.store(sample)
        }
        let all = cache.all()
        let body = try #require(cache.body(of: all[0]))
        let other = home.cache()
        _ = other.write { _ in
            cache.remove(Array(all.prefix(2)))
            let found = try cache.candidates(for: Sample())
            #expect(found.isEmpty)
        }
        #expect(try cache.candidates(for: Sample()).isEmpty)
        #expect(other.all().map(\.id) == [all[2].id])
        #expect(try body.readAll() == Sample.octets(20_000))
        #expect(home.bodyFiles.count == 1)
    }

    @Test("An invalidation that comes while others are written waits for its turn")
    func late() throws {
        let home = CacheHome()
        let cache = home.cache()
        try cache.store(Sample())
        @Sendable func add(_ change: @escaping CacheMemory.Change) {
            cache.memory.withLock { memory in
                memory.invalidationCount += 1
                memory.invalidations.append((memory.invalidationCount, change))
            }
        }
        add { _, _ in add { writer, _ in try writer.invalidate(at: CacheHome.start, where: "?", [1]) } }
        #expect(!cache.applyInvalidations())
        #expect(try home.cache().candidates(for: Sample()).map(\.response.isInvalid) == [false])
        #expect(try cache.candidates(for: Sample()).map(\.response.isInvalid) == [true])
    }

    @Test("No invalidation is lost if many threads invalidate while another process writes")
    func threads() throws {
        let home = CacheHome()
        let cache = home.cache()
        let samples = (0..<64).map { number in
            var sample = Sample()
            sample.url = "https://shop.example/\(number)"
            return sample
        }
        for sample in samples { try cache.store(sample) }
        let other = home.cache()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            if thread == 0 {
                for _ in 0..<4 { _ = other.write { _ in Thread.sleep(forTimeInterval: 0.1) } }
            } else {
                for number in stride(from: thread - 1, to: 63, by: 7) { try? cache.invalidate(samples[number]) }
            }
        }
        _ = try cache.candidates(for: Sample())
        for (number, sample) in samples.enumerated() {
            let found = try other.candidates(for: sample)
            #expect(found.map(\.response.isInvalid) == [number < 63], "\(number)")
        }
    }
}
