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
        var statuses: [Int: Int] = [:]
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
                if random.once(in: 6) {
                    response.status = 206
                    response.fields.removeAll { $0.name == "Content-Range" }
                    response.fields.append(("Content-Range", random.pick(TwinMessage.contentRanges)))
                }
                let decision = policy.storing(response.originResponse, for: try original.cacheRequest())
                guard let candidate = decision.response?.received(bodyLength: 4, isComplete: true) else { continue }
                let isInvalid = random.once(in: 10)
                entries.append(TwinCache.Entry(request: original, response: response, isInvalid: isInvalid))
                stored.append(isInvalid ? candidate.invalidated : candidate)
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
            guard case .hit(let answer) = decision.outcome else { continue }
            let status = TwinCache.status(entries[chosen].response, for: request)
            try #require(answer.status == status, "seed \(seed): \(request) \(entries) \(decision), twin \(status)")
            statuses[status, default: 0] += 1
        }
        for status in [200, 206, 304, 416] { #expect(statuses[status, default: 0] > 3, "\(statuses)") }
        #expect(counts.count == 6 && counts.values.allSatisfy { $0 > Self.count / 400 }, "\(counts)")
    }

    @Test("Random failures of a server are answered alike")
    func failures() throws {
        var policy = CachingPolicy()
        policy.servesStaleWhenDisconnected = true
        var counts: [Bool: Int] = [:]
        for seed in 0..<Self.count {
            var random = SeededGenerator(seed: UInt64(seed) + 3_000_000)
            var (original, response) = (TwinMessage.request(&random), TwinMessage.response(&random))
            (original.method, original.fields) = ("GET", [])
            if random.once(in: 2) { response.status = 200 }
            let added = ["stale-if-error=\(random.below(60))", "proxy-revalidate", "s-maxage=1", "x"]
            response.fields.append(("Cache-Control", random.pick(added)))
            let decision = policy.storing(response.originResponse, for: try original.cacheRequest())
            guard let candidate = decision.response?.received(bodyLength: 4, isComplete: true) else { continue }
            let isInvalid = random.once(in: 10)
            let entry = TwinCache.Entry(request: original, response: response, isInvalid: isInvalid)
            var request = TwinMessage.request(&random)
            if random.once(in: 4) { request.fields.append(("Cache-Control", "stale-if-error=\(random.below(60))")) }
            let (now, isOutOfReach) = (random.below(90), random.once(in: 2))
            let answer = policy.staleAnswer(
                isInvalid ? candidate.invalidated : candidate, to: try request.cacheRequest(),
                now: Sample.after(Int64(now)), isOutOfReach ? .unreachable : .error)
            let twin = TwinCache.answersFailure(entry, request, now: now, isOutOfReach: isOutOfReach)
            counts[twin, default: 0] += 1
            try #require((answer != nil) == twin, "seed \(seed): \(request) \(entry) \(isOutOfReach), twin \(twin)")
        }
        #expect(counts.count == 2 && counts.values.allSatisfy { $0 > Self.count / 50 }, "\(counts)")
    }

    @Test("Random answers to HEAD requests update and invalidate alike")
    func head() throws {
        let policy = CachingPolicy()
        var counts: [String: Int] = [:]
        for seed in 0..<Self.count {
            var random = SeededGenerator(seed: UInt64(seed) + 2_000_000)
            var (original, response) = (TwinMessage.request(&random), TwinMessage.response(&random))
            (original.method, original.fields) = ("GET", [])
            if random.once(in: 2) { response.status = 200 }
            let decision = policy.storing(response.originResponse, for: try original.cacheRequest())
            guard let candidate = decision.response?.received(bodyLength: 4, isComplete: true),
                candidate.extent.total == 4
            else { continue }
            let isInvalid = random.once(in: 3)
            let entry = TwinCache.Entry(request: original, response: response, isInvalid: isInvalid)
            var head = TwinMessage.response(&random)
            head.status = random.pick([200, 200, 200, 404])
            head.fields.removeAll { $0.name == "Vary" || $0.name == "Content-Range" || $0.name == "Last-Modified" }
            if random.once(in: 2) { head.fields.append(("ETag", response.values("etag").first ?? "\"a\"")) }
            if random.once(in: 4) { head.fields.append(("Content-Length", random.pick(["4", "4", "5", "x"]))) }
            var request = TwinMessage(method: random.pick(["HEAD", "HEAD", "HEAD", "GET"]))
            request.path = random.pick(["/a", "/a?b"])
            let updates = policy.freshened(
                byHead: head.originResponse, to: try request.cacheRequest(),
                among: [isInvalid ? candidate.invalidated : candidate])
            let isTarget = request.method == "HEAD" && head.status == 200 && response.status == 200
            let isChoosable = isTarget && !TwinCache.matching(request, [entry]).isEmpty
            let twin = isChoosable ? TwinCache.head(head, entry) : "kept"
            counts[twin, default: 0] += 1
            let word = updates[0].map { $0.isInvalid ? "invalid" : "updated" } ?? "kept"
            try #require(word == twin, "seed \(seed): \(request) \(head) \(entry), twin \(twin)")
        }
        #expect(counts.count == 3 && counts.values.allSatisfy { $0 > Self.count / 100 }, "\(counts)")
    }
}
