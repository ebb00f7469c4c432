import HTTPCaching
import Testing
import WebPrimitives

@testable import ResponseStore

@Suite("Rotation of the key")
struct RotationTests {
    @Test("Rows are found under both keys, resealed without their bodies, and found under the new key alone")
    func rotation() throws {
        let home = CacheHome()
        let cache = home.cache()
        let samples = (0..<600).map { number in
            var sample = Sample()
            sample.url = "https://shop.example/\(number)"
            sample.fields.append("Cache-Groups", Octets("\"\(number % 3)\""))
            sample.body = Sample.octets(number % 50 == 0 ? 20_000 : 10, seed: number)
            return sample
        }
        for sample in samples { try cache.store(sample) }
        #expect(cache.reseal() == false)
        #expect((0..<100).contains { _ in cache.reseal() })
        let files = Set(home.bodyFiles)
        home.rotateKey(keepsFormer: true)
        let other = home.cache()
        for sample in samples.prefix(20) { #expect(try cache.candidates(for: sample).count == 1) }
        // An invalidation reaches the rows under both keys.
        try other.invalidate(samples[6], ["Cache-Group-Invalidation": "\"1\""])
        #expect((0..<100).contains { _ in cache.reseal() })
        home.forgetFormerKeys()
        for (number, sample) in samples.enumerated() {
            let found = try other.candidates(for: sample)
            #expect(found.count == 1)
            #expect(found.first?.response.isInvalid == (number % 3 != 2))
            #expect(try found.first.map { try other.body(of: $0)?.readAll() } == sample.body)
        }
        #expect(Set(home.bodyFiles) == files)
        try other.invalidate(samples[8], ["Cache-Group-Invalidation": "\"2\""])
        #expect(other.all().allSatisfy { $0.response.isInvalid })
    }

    @Test("Rows whose key is gone are misses, and are removed")
    func lostKey() throws {
        let home = CacheHome()
        let cache = home.cache()
        var sample = Sample()
        sample.body = Sample.octets(20_000)
        try cache.store(sample)
        home.rotateKey(keepsFormer: false)
        #expect(try cache.candidates(for: sample).isEmpty)
        #expect(cache.all().isEmpty)
        cache.maintain(now: CacheHome.start)
        #expect(cache.usage().entries == 0)
        #expect(home.bodyFiles.isEmpty)
        try cache.store(sample)
        #expect(try cache.answer(sample) == sample.body)
    }

    @Test("A process that has not seen the new key yet leaves the rows under it alone")
    func laggard() throws {
        let home = CacheHome()
        let old = home.cache().keys.sealer
        home.rotateKey(keepsFormer: true)
        let cache = home.cache()
        try cache.store(Sample())
        let laggard = ResponseCache(home.folder, limits: CacheLimits()) { old }
        #expect((0..<100).contains { _ in laggard.reseal() })
        #expect(try laggard.candidates(for: Sample()).isEmpty)
        #expect(try cache.answer(Sample()) == Sample().body)
    }

    @Test("A new database at the same path, with the same key file, finds nothing of the former one")
    func newDatabase() throws {
        let home = CacheHome()
        let cache = home.cache()
        try cache.store(Sample())
        home.replaceDatabase()
        #expect(try cache.candidates(for: Sample()).isEmpty)
        #expect(home.cache().all().isEmpty)
    }
}
