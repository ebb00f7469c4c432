import Foundation
import TestSupport
import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("A literal transcription of RFC 9111 decides as the rules do")
struct TwinTests {
    /// As many messages as the environment says, or few enough to be quick.
    private static let count =
        ProcessInfo.processInfo.environment["CRUMB_TWIN_SCENARIOS"].flatMap { Int($0) } ?? 8_000

    @Test("Random responses are stored, and their freshness calculated, alike")
    func storing() throws {
        let policy = CachingPolicy()
        var storedCount = 0
        for seed in 0..<Self.count {
            var random = SeededGenerator(seed: UInt64(seed))
            let (request, response) = (TwinMessage.request(&random), TwinMessage.response(&random))
            let decision = policy.storing(response.originResponse, for: try request.cacheRequest())
            try #require(
                (decision.response != nil) == TwinCache.stores(response, for: request),
                "seed \(seed): \(request) \(response) \(decision.obstacles)")
            guard let stored = decision.response else { continue }
            storedCount += 1
            let now = random.below(90)
            let freshness = policy.freshness(of: stored, now: Sample.after(Int64(now)))
            let twin = (TwinCache.lifetime(response), TwinCache.age(response, now: now))
            try #require(
                freshness.lifetime == Int64(twin.0) && freshness.age == Int64(twin.1),
                "seed \(seed): \(response) \(freshness), twin \(twin)")
        }
        #expect(storedCount > Self.count / 5)
    }

    @Test("Random requests are answered alike, from the same stored response")
    func lookup() throws {
        let policy = CachingPolicy()
        var counts: [String: Int] = [:]
        for seed in 0..<Self.count {
            var random = SeededGenerator(seed: UInt64(seed) + 1_000_000)
            var entries: [TwinCache.Entry] = []
            var stored: [CachedResponse] = []
            for _ in 0..<(1 + random.below(3)) {
                var (original, response) = (TwinMessage.request(&random), TwinMessage.response(&random))
                // Most of them are stored, and some are fresh.
                original.method = "GET"
                original.path = random.pick(["/a", "/a", "/a", "/a?b"])
                if random.once(in: 2) { original.fields.removeAll { $0.name == "Cache-Control" } }
                if random.once(in: 2) {
                    response.status = 200
                    response.fields = [("Cache-Control", TwinMessage.lifetime(&random)), ("ETag", "\"a\"")]
                }
                let decision = policy.storing(response.originResponse, for: try original.cacheRequest())
                guard let candidate = decision.response?.received(bodyLength: 4, isComplete: true) else { continue }
                entries.append(TwinCache.Entry(request: original, response: response))
                stored.append(candidate)
            }
            var request = TwinMessage.request(&random)
            if let entry = entries.first, random.once(in: 2) { request.fields = entry.request.fields }
            let now = random.below(60)
            let decision = policy.lookup(try request.cacheRequest(), among: stored, now: Sample.after(Int64(now)))
            let word = Sample.outcome(try request.cacheRequest(), stored, after: Int64(now)).split(separator: " ").first
            let twin = TwinCache.lookup(request, entries, now: now)
            counts[twin.word, default: 0] += 1
            try #require(
                word.map(String.init) == twin.word, "seed \(seed): \(request) \(entries) \(decision), twin \(twin)")
            guard let chosen = twin.chosen, let choice = decision.choice else {
                try #require(twin.chosen == nil && decision.choice == nil, "seed \(seed)")
                continue
            }
            try #require(choice.index == chosen, "seed \(seed): \(decision), twin \(twin)")
        }
        #expect(counts.count == 5 && counts.values.allSatisfy { $0 > Self.count / 400 }, "\(counts)")
    }
}
