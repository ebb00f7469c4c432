import Foundation
import HTTPCaching
import TestSupport
import Testing
import WebPrimitives

@testable import ResponseStore

@Suite("A cache and its twin")
struct TwinTests {
    static let steps = ProcessInfo.processInfo.environment["CRUMB_CACHE_STEPS"].flatMap { Int($0) } ?? 1500

    @Test("Random operations have the same effect on both", arguments: [1, 2])
    func random(seed: UInt64) throws {
        var run = TwinRun(seed: seed)
        for step in 0..<TwinTests.steps { try run.step(step) }
        #expect(run.hitCount > TwinTests.steps / 20)
    }
}

/// One run of random operations.
private struct TwinRun {
    private let home = CacheHome()
    /// Two processes, as far as the cache can tell.
    private var caches: [ResponseCache]
    private var twin = CacheTwin()
    private var generator: SeededGenerator
    private var now = CacheHome.start
    private var isRotating = false
    private(set) var hitCount = 0

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        caches = []
        caches = [open(), open()]
    }

    private func open() -> ResponseCache {
        home.cache { $0.variants = CacheTwin.variantLimit }
    }

    mutating func step(_ step: Int) throws {
        now = now.advanced(bySeconds: Int64(1 + generator.below(8)))
        let cache = generator.pick(caches)
        let sample = sample()
        switch generator.below(100) {
        case 0..<35: try store(sample, cache)
        case 35..<75: try look(sample, cache, step)
        case 75..<81: try validate(sample, cache)
        case 81..<87: try invalidate(sample, cache)
        case 87..<90:
            let url = try RequestURL(sample.url)
            cache.remove(url, jar: sample.jar)
            twin.remove {
                $0.jar == sample.jar && $0.response.url.withoutQuery == url.withoutQuery
                    && ($0.query == nil || $0.query == url.query)
            }
        case 90:
            let since = now.advanced(bySeconds: -Int64(generator.below(1000)))
            let site = generator.once(in: 4) ? nil : sample.site
            cache.removeResponses(ofJar: sample.jar, site: site, since: since)
            twin.remove { $0.jar == sample.jar && (site == nil || $0.site == site) && $0.stored >= since }
        case 91: caches[generator.below(2)] = open()
        case 92..<95: cache.maintain(now: now)
        case 95..<97: rotate(cache)
        case 97 where generator.once(in: 20):
            cache.removeAll()
            twin.remove { _ in true }
        case 98 where generator.once(in: 20):
            try? FileManager.default.removeItem(atPath: home.path)
            twin.remove { _ in true }
        default:
            let usage = cache.usage(ofJar: sample.jar)
            // After the key was lost, rows stay until they are looked at.
            #expect(usage.entries >= Int64(twin.entries.count { $0.jar == sample.jar }) || usage.entries == 0)
        }
    }

    private mutating func sample() -> Sample {
        var sample = Sample()
        sample.site = generator.pick(["one.example", "two.example"])
        let host = generator.pick(["", "www."]) + sample.site.description
        sample.url = "https://\(host)/\(generator.below(3))\(generator.pick(["", "", "?q=1", "?q=2&utm=1"]))"
        sample.jar = generator.pick(["jar1", "jar2"])
        sample.audience = generator.pick(["with", "without"])
        sample.requestFields = ["X": Octets("\(generator.below(6))")]
        sample.fields = ["Cache-Control": "max-age=500", "ETag": "\"1\"", "X-Stamp": Octets("\(generator.next())")]
        if generator.once(in: 2) { sample.fields.append("Vary", "X") }
        if generator.once(in: 4) { sample.fields.append("No-Vary-Search", "params=(\"utm\")") }
        for group in ["a", "b", "c"] where generator.once(in: 3) {
            sample.fields.append("Cache-Groups", Octets("\"\(group)\""))
        }
        let length = generator.once(in: 30) ? generator.below(80_000) : generator.below(300)
        sample.body = Sample.octets(length, seed: generator.below(1000))
        return sample
    }

    private mutating func store(_ sample: Sample, _ cache: ResponseCache) throws {
        guard !generator.once(in: 10) else {
            try cache.begin(sample, sample.response(now: now))?.append(sample.body)
            return
        }
        // Invalidations may come while a response is on its way.
        let requested = now.advanced(bySeconds: -Int64(generator.below(100)))
        guard try cache.store(sample, requested: requested, now: now) != nil,
            let response = try sample.response(requested: requested, now: now).received(
                bodyLength: Int64(sample.body.count), isComplete: true)
        else { return }
        twin.store(
            CacheTwin.Entry(
                jar: sample.jar, audience: sample.audience, site: sample.site, response: response, body: sample.body,
                stored: now, used: now), to: try sample.request)
    }

    private mutating func look(_ sample: Sample, _ cache: ResponseCache, _ step: Int) throws {
        var found = try cache.candidates(for: sample, now: now)
        let expected = twin.candidates(for: try RequestURL(sample.url), jar: sample.jar, audience: sample.audience)
        #expect(
            Set(found.map(\.response)) == Set(expected.map { twin.entries[$0].response })
                && found.count == expected.count, "step \(step)")
        hitCount += found.count
        found.shuffle(using: &generator)
        for stored in found.prefix(2) {
            guard let index = expected.first(where: { twin.entries[$0].response == stored.response }) else { continue }
            let body = twin.entries[index].body
            let lower = generator.below(body.count + 1)
            let upper = lower + generator.below(body.count - lower + 1)
            let range = generator.once(in: 2) ? Int64(lower)..<Int64(upper) : nil
            let octets = try cache.body(of: stored, range: range)?.readAll()
            #expect(octets == (range == nil ? body : Array(body[lower..<upper])), "step \(step)")
            cache.noteHit(stored, rule: "protocol", octets: 0, now: now)
            cache.writeNotes()
            twin.use(index, now: now)
        }
    }

    private mutating func validate(_ sample: Sample, _ cache: ResponseCache) throws {
        var request = try sample.request
        request.fields.append("Cache-Control", "no-cache")
        let found = cache.candidates(for: request, jar: sample.jar, audience: sample.audience, now: now)
        let (policy, stored) = (CachingPolicy(), found.map(\.response))
        let decision = policy.lookup(request, among: stored, now: now)
        let response = OriginResponse(
            status: 304, fields: ["ETag": "\"1\"", "X-Validated": Octets("\(generator.next())")],
            requestTime: now.advanced(bySeconds: -Int64(generator.below(100))), responseTime: now)
        let outcome = policy.validated(by: response, after: decision, for: request, stored: stored)
        guard case .freshened(_, _, let updates, _) = outcome else { return }
        for (index, update) in updates {
            let isUpdated = cache.update(found[index], with: update)
            let entry = twin.entries.firstIndex { $0.response == found[index].response }
            #expect(isUpdated == (entry != nil))
            if let entry { twin.update(entry, with: update) }
        }
    }

    private mutating func invalidate(_ sample: Sample, _ cache: ResponseCache) throws {
        let url = try RequestURL(sample.url)
        let clears = generator.once(in: 6)
        let group = generator.once(in: 2) ? generator.pick(["a", "b", "c"]) : nil
        var fields: MessageFields = [:]
        if let group { fields.append("Cache-Group-Invalidation", Octets("\"\(group)\"")) }
        if clears { fields.append("Clear-Site-Data", "\"cache\"") }
        try cache.invalidate(sample, fields, now: now)
        if clears { twin.remove { $0.isOf(url, sample.jar) } }
        twin.invalidate([url], groups: group.map { [Octets($0)] } ?? [], of: url, jar: sample.jar, now: now)
    }

    /// Replaces the key, or goes on with the rotation.
    private mutating func rotate(_ cache: ResponseCache) {
        if isRotating {
            // Former keys are forgotten when nothing needs them.
            guard cache.reseal() else { return }
            home.forgetFormerKeys()
            isRotating = false
        } else if generator.once(in: 10) {
            home.rotateKey(keepsFormer: false)
            twin.remove { _ in true }
        } else {
            home.rotateKey(keepsFormer: true)
            isRotating = true
        }
    }
}
