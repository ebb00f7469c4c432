import HTTPCaching
import SQLiteEngine
import TestSupport
import Testing
import WebPrimitives

@testable import ResponseStore

@Suite("Limits of a cache")
struct EvictionTests {
    @Test("The least recently used responses go first, by jar and in all, and the sums are right")
    func leastRecentlyUsed() throws {
        let home = CacheHome()
        let cache = home.cache {
            $0.size = 200_000
            $0.jarSize = 100_000
        }
        var generator = SeededGenerator(seed: 7)
        var now = CacheHome.start
        // Jar, URL, use and size, the least recently used first.
        var twin: [(id: Int64, jar: Octets, url: String, size: Int64)] = []
        for step in 0..<400 {
            now = now.advanced(bySeconds: 20)
            if generator.once(in: 3), let used = twin.randomElement(using: &generator) {
                var sample = Sample()
                (sample.jar, sample.url) = (used.jar, used.url)
                let stored = try #require(try cache.candidates(for: sample, now: now).first)
                cache.noteHit(stored, rule: "test", octets: 0, now: now)
                // What is not written yet is with the next response.
                if generator.once(in: 2) { cache.writeNotes() }
                twin.removeAll { $0.id == used.id }
                twin.append(used)
                continue
            }
            var sample = Sample()
            sample.url = "https://shop.example/\(step)"
            sample.jar = Octets("jar\(generator.below(4))")
            sample.body = Sample.octets(generator.below(30_000))
            let id = try #require(try cache.store(sample, now: now))
            let stored = try #require(try cache.candidates(for: sample, now: now).first)
            twin.append((id, sample.jar, sample.url, stored.size))
            while twin.filter({ $0.jar == sample.jar }).map(\.size).reduce(0, +) > 100_000 {
                if let oldest = twin.firstIndex(where: { $0.jar == sample.jar }) { twin.remove(at: oldest) }
            }
            while twin.map(\.size).reduce(0, +) > 200_000 { twin.removeFirst() }
            #expect(cache.usage() == CacheUsage(entries: Int64(twin.count), size: twin.map(\.size).reduce(0, +)))
        }
        #expect(Set(cache.all().map(\.id)) == Set(twin.map(\.id)))
        for jar in 0..<4 {
            let own = twin.filter { $0.jar == Octets("jar\(jar)") }
            #expect(
                cache.usage(ofJar: Octets("jar\(jar)"))
                    == CacheUsage(entries: Int64(own.count), size: own.map(\.size).reduce(0, +)))
        }
        #expect(home.bodyFiles.count == cache.all().count { $0.file != nil })
        let bodies = cache.readAll { try $0.rows("SELECT response FROM body") { $0.int64(0) } }
        #expect(Set(bodies ?? []) == Set(cache.all().filter { $0.file == nil }.map(\.id)))
    }

    @Test("A large response makes room for itself in several steps")
    func manySmallOnes() throws {
        let home = CacheHome()
        let cache = home.cache { $0.size = 600_000 }
        var sample = Sample()
        for number in 0..<700 {
            sample.url = "https://shop.example/\(number)"
            try cache.store(sample)
        }
        #expect(cache.usage().entries > 600)
        sample.body = Sample.octets(590_000)
        try cache.store(sample)
        #expect(cache.usage().size <= 600_000)
        #expect(try cache.answer(sample) == sample.body)
    }

    @Test("A response that alone is larger than the limit is not kept")
    func largerThanAll() throws {
        let home = CacheHome()
        let cache = home.cache { $0.size = 50_000 }
        var sample = Sample()
        sample.body = Sample.octets(60_000)
        try cache.store(sample)
        #expect(try cache.answer(sample) == nil)
        #expect(cache.usage() == CacheUsage(entries: 0, size: 0))
        #expect(home.bodyFiles.isEmpty)
    }

    @Test("Hits are noted until they are written together, and the first one tells that it is time to see to that")
    func uses() throws {
        let home = CacheHome()
        let cache = home.cache()
        try cache.store(Sample())
        let stored = try #require(try cache.candidates(for: Sample()).first)
        func used() throws -> Timestamp? { try home.cache().candidates(for: Sample()).first?.used }
        var time = CacheHome.start
        for seconds in [1, 2, -1_000_000] as [Int64] {
            time = CacheHome.start.advanced(bySeconds: seconds)
            #expect(cache.noteHit(stored, rule: "static", octets: 1 << 40, now: time) == (seconds == 1))
        }
        #expect(try used() == CacheHome.start)
        cache.writeNotes()
        #expect(try used() == time)
        #expect(home.cache().hits() == ["static": CacheHits(count: 3, octets: 3 << 40)])
        #expect(cache.noteHit(stored, rule: "static", octets: 0, now: CacheHome.start))
        cache.maintain(now: CacheHome.start)
        #expect(try used() == CacheHome.start)
    }

    @Test("A use that is written late does not replace a later one, and no use is in the future")
    func lateUses() throws {
        let home = CacheHome()
        let (cache, other) = (home.cache(), home.cache())
        try cache.store(Sample())
        let stored = try #require(try cache.candidates(for: Sample()).first)
        func time(_ seconds: Int64) -> Timestamp { CacheHome.start.advanced(bySeconds: seconds) }
        func used() throws -> Timestamp? { try home.cache().candidates(for: Sample()).first?.used }
        cache.noteHit(stored, rule: "static", octets: 0, now: time(1))
        other.noteHit(stored, rule: "static", octets: 0, now: time(10))
        other.writeNotes(now: time(11))
        cache.writeNotes(now: time(12))
        #expect(try used() == time(10))
        cache.noteHit(stored, rule: "static", octets: 0, now: time(1_000_000))
        cache.maintain(now: time(13))
        #expect(try used() == time(13))
    }

    @Test("What was used a second ago stays, although that is not written yet")
    func recentUse() throws {
        let home = CacheHome()
        let cache = home.cache { $0.jarSize = 10_000 }
        var sample = Sample()
        sample.body = Sample.octets(3000)
        for (number, path) in ["a", "b"].enumerated() {
            sample.url = "https://shop.example/\(path)"
            try cache.store(sample, now: CacheHome.start.advanced(bySeconds: Int64(number)))
        }
        sample.url = "https://shop.example/a"
        let first = try #require(try cache.candidates(for: sample).first)
        cache.noteHit(first, rule: "static", octets: 0, now: CacheHome.start.advanced(bySeconds: 2))
        sample.url = "https://shop.example/c"
        try cache.store(sample, now: CacheHome.start.advanced(bySeconds: 3))
        #expect(cache.all().map(\.response.url.path.description) == ["/a", "/c"])
    }
}
