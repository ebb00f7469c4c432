import HTTPCaching
import Testing
import WebPrimitives

@testable import ResponseStore

@Suite("Combining the parts of a response")
struct CombiningTests {
    private let whole = Sample.octets(100_000)

    private func part(_ positions: Range<Int>) -> Sample {
        var sample = Sample()
        sample.status = 206
        sample.fields = [
            "Cache-Control": "max-age=60", "ETag": "\"a\"",
            "Content-Range": Octets("bytes \(positions.lowerBound)-\(positions.upperBound - 1)/\(whole.count)"),
        ]
        sample.body = Array(whole[positions])
        return sample
    }

    /// Writes a combination as a driver does, piece by piece.
    private func store(
        _ combination: CachedResponse.Combination, of stored: StoredResponse, in cache: ResponseCache
    ) throws -> Int64? {
        let writer = try #require(try cache.begin(Sample(), combination.response))
        for piece in combination.pieces {
            switch piece.source {
            case .stored:
                let body = try #require(cache.body(of: stored, range: piece.positions))
                while let octets = try body.next() { writer.append(octets) }
            case .newer: writer.append(whole[Int(piece.positions.lowerBound)..<Int(piece.positions.upperBound)])
            }
        }
        return writer.finish(isComplete: true, now: CacheHome.start)
    }

    /// Stores the beginning of a response that broke off, and combines it with the rest.
    private func broken(_ length: Int, _ cache: ResponseCache) throws -> (
        stored: StoredResponse, combination: CachedResponse.Combination
    ) {
        var sample = Sample()
        sample.fields = [
            "Cache-Control": "max-age=60", "ETag": "\"a\"", "Content-Length": Octets("\(whole.count)"),
        ]
        sample.body = Array(whole.prefix(length))
        try cache.store(sample, isComplete: false)
        let (found, policy) = (try cache.candidates(for: sample), CachingPolicy())
        let stored = try #require(found.first)
        let decision = policy.lookup(try sample.request, among: found.map(\.response), now: CacheHome.start)
        let rest = OriginResponse(
            status: 206, fields: part(length..<whole.count).fields, requestTime: CacheHome.start,
            responseTime: CacheHome.start)
        let outcome = policy.validated(
            by: rest, after: decision, for: try sample.request, stored: found.map(\.response))
        var combination: CachedResponse.Combination?
        if case .completed(let part, _) = outcome { combination = stored.response.combined(with: part) }
        return (stored, try #require(combination))
    }

    @Test("A response that broke off is completed", arguments: [1, 16_384, 65_536, 70_000, 99_999])
    func completing(length: Int) throws {
        let home = CacheHome()
        let cache = home.cache()
        let (stored, combination) = try broken(length, cache)
        #expect(try store(combination, of: stored, in: cache) != nil)
        #expect(cache.all().map(\.response.extent) == [.whole(length: Int64(whole.count))])
        #expect(try cache.answer(Sample()) == whole)
        #expect(home.bodyFiles.count == 1)
    }

    @Test("If a piece is missing, the part stays as it was")
    func missingPiece() throws {
        let home = CacheHome()
        let cache = home.cache()
        let (stored, combination) = try broken(70_000, cache)
        let writer = try #require(try cache.begin(Sample(), combination.response))
        writer.append(whole.prefix(99_999))
        #expect(writer.finish(isComplete: true, now: CacheHome.start) == nil)
        #expect(cache.all().map(\.response) == [stored.response])
        #expect(try cache.body(of: stored)?.readAll() == Array(whole.prefix(70_000)))
        #expect(home.bodyFiles.count == 1)
    }

    @Test(
        "A part is extended at its ends, and the parts of it are removed",
        arguments: [(50, 150), (150, 250), (50, 250), (200, 70_000), (0, 100_000)])
    func extending(lower: Int, upper: Int) throws {
        let home = CacheHome()
        let cache = home.cache()
        try cache.store(part(100..<200))
        let stored = try #require(try cache.candidates(for: Sample()).first)
        let combination = try #require(stored.response.combined(with: try part(lower..<upper).response()))
        #expect(try store(combination, of: stored, in: cache) != nil)
        let all = cache.all()
        let (first, end) = (min(lower, 100), max(upper, 200))
        let isWhole = first == 0 && end == whole.count
        #expect(
            all.map(\.response.extent) == [
                isWhole
                    ? .whole(length: Int64(whole.count))
                    : .part(Int64(first)..<Int64(end), total: Int64(whole.count))
            ])
        #expect(try all.first.flatMap { try cache.body(of: $0)?.readAll() } == Array(whole[first..<end]))
    }
}
