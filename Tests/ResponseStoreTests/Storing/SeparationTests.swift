import HTTPCaching
import Testing
import WebPrimitives

@testable import ResponseStore

@Suite("What a lookup tells about the responses of others")
struct SeparationTests {
    /// How many rows each search of a lookup reads.
    private static func reads(_ sample: Sample, _ cache: ResponseCache) throws -> [Int] {
        let lookup = RowLookup(
            url: try RequestURL(sample.url), jar: sample.jar, audience: sample.audience, keys: cache.keys,
            limits: cache.limits)
        let numbers = lookup.numbers
        let counts = cache.read { reader in try numbers.map { try reader.rows($0).count } }
        return try #require(counts)
    }

    @Test("A lookup of a URL reads the same, whether or not another jar or audience has stored it", arguments: [1, 20])
    func work(count: Int) throws {
        let home = CacheHome()
        let cache = home.cache()
        func sample(_ jar: Octets, _ audience: Octets, _ number: Int) -> Sample {
            var sample = Sample()
            (sample.jar, sample.audience) = (jar, audience)
            sample.fields = ["Cache-Control": "max-age=60", "Vary": "X", "No-Vary-Search": "except=()"]
            sample.requestFields = ["X": Octets("\(number)")]
            return sample
        }
        let others = [sample("jar2", "audience", 0), sample("jar", "audience2", 0), sample("jar2", "audience2", 0)]
        var unrelated = Sample()
        unrelated.url = "https://shop.example/other"
        try cache.store(unrelated)
        let before = try others.map { try Self.reads($0, cache) }
        #expect(before == [[0], [0], [0]])
        for number in 0..<count { try cache.store(sample("jar", "audience", number)) }
        #expect(try others.map { try Self.reads($0, cache) } == before)
        #expect(try Self.reads(sample("jar", "audience", 0), cache) == [min(count, cache.limits.variants)])
        for other in others { #expect(try cache.candidates(for: other).isEmpty) }
    }
}
