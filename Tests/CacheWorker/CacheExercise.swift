import HTTPCaching
import ResponseStore
import SessionStore
import TestSupport
import WebPrimitives

/// Random operations on a cache that other processes use, too, and checks of what it returns.
///
/// Some URLs are shared by all workers: their responses must be whole and belong to the request. Others are the worker's
/// own. For these, the last change is known, and an older response must not come back.
struct CacheExercise {
    /// 2026-11-21T00:00:00Z.
    private static let start = Timestamp(seconds: 1_795_219_200)

    /// What is known of one of the worker's own responses. It may always be missing, because the cache is small or busy.
    private enum Knowledge: Equatable {
        case absent
        case stored(stamp: Int, isInvalid: Bool)
    }

    private struct Place: Hashable {
        let url: String
        let jar: Octets
        let audience: Octets
    }

    private let cache: ResponseCache
    private let worker: Int
    private let steps: Int
    private var generator: SeededGenerator
    private var known: [Place: Knowledge] = [:]
    private var stamp = 0
    private var now = CacheExercise.start

    struct Mistake: Error {
        let message: String
    }

    init(folder: String, worker: Int, steps: Int, seed: UInt64) throws {
        guard let key = SealingKey(bytes: (0..<32).map { UInt8($0) }) else { throw Mistake(message: "no key") }
        var limits = CacheLimits()
        (limits.size, limits.jarSize, limits.variants) = (1 << 21, 1 << 20, 4)
        cache = ResponseCache(CacheFolder(folder), limits: limits) { Sealer(key, id: 1) }
        (self.worker, self.steps) = (worker, steps)
        generator = SeededGenerator(seed: seed)
    }

    mutating func run() throws {
        for _ in 0..<steps {
            now = now.advanced(bySeconds: Int64(generator.below(100)))
            let isOwn = generator.once(in: 2)
            let name = isOwn ? "own-\(worker)" : "shared"
            let place = Place(
                url: "https://\(name).example/\(generator.below(8))", jar: Octets("jar\(generator.below(2))"),
                audience: Octets("audience\(generator.below(2))"))
            switch generator.below(20) {
            case 0..<6: try store(place, isOwn: isOwn)
            case 6..<16: try look(place)
            case 16: try invalidate(place)
            case 17:
                cache.remove(try RequestURL(place.url), jar: place.jar)
                forget { $0.url == place.url && $0.jar == place.jar }
            case 18: cache.maintain(now: now)
            default:
                guard generator.once(in: 20) else { continue }
                cache.removeResponses(ofJar: place.jar)
                forget { $0.jar == place.jar }
            }
        }
    }

    private mutating func store(_ place: Place, isOwn: Bool) throws {
        stamp += 1
        let mark = worker * 1_000_000 + stamp
        let response = OriginResponse(
            status: 200,
            fields: [
                "Cache-Control": "max-age=100000", "X-Stamp": Octets("\(mark)"), "X-Jar": place.jar,
                "X-Audience": place.audience,
            ], requestTime: now, responseTime: now)
        let request = CacheRequest(url: try RequestURL(place.url))
        guard let storable = CachingPolicy().storing(response, for: request).response else { return }
        let writer = cache.begin(
            storable, to: request, policy: CachingPolicy(), jar: place.jar, audience: place.audience, site: "example")
        let body = CacheExercise.body(mark)
        var rest = body[...]
        while !rest.isEmpty {
            let piece = rest.prefix(1 + generator.below(50_000))
            writer?.append(piece)
            rest = rest[piece.endIndex...]
        }
        guard !generator.once(in: 10) else { return }
        let isStored = writer?.finish(isComplete: true, now: now) != nil
        if isStored, isOwn { known[place] = .stored(stamp: mark, isInvalid: false) }
    }

    private mutating func invalidate(_ place: Place) throws {
        let request = CacheRequest(method: "POST", url: try RequestURL(place.url))
        let response = OriginResponse(status: 200, fields: [:], requestTime: now, responseTime: now)
        cache.apply(Invalidation(by: response, to: request), of: request.url, jar: place.jar)
        for (other, knowledge) in known where other.url == place.url && other.jar == place.jar {
            if case .stored(let stamp, _) = knowledge { known[other] = .stored(stamp: stamp, isInvalid: true) }
        }
    }

    private mutating func forget(where isRemoved: (Place) -> Bool) {
        for place in known.keys where isRemoved(place) { known[place] = .absent }
    }

    private mutating func look(_ place: Place) throws {
        let request = CacheRequest(url: try RequestURL(place.url))
        let found = cache.candidates(for: request, jar: place.jar, audience: place.audience, now: now)
        guard found.count <= 1 else { throw Mistake(message: "\(found.count) responses for \(place)") }
        // It may have been evicted, or the index may be busy.
        guard let stored = found.first else { return }
        let fields = stored.response.fields
        guard fields.values("x-jar") == [place.jar], fields.values("x-audience") == [place.audience],
            stored.response.url == request.url,
            let mark = fields.values("x-stamp").first.flatMap({ Int($0.description) })
        else { throw Mistake(message: "the response of another request: \(stored.response)") }
        switch known[place] {
        case nil: break
        case .absent: throw Mistake(message: "a removed response came back: \(place)")
        case .stored(let stamp, let isInvalid):
            guard mark == stamp, stored.response.isInvalid || !isInvalid else {
                throw Mistake(message: "an older response came back: \(place)")
            }
        }
        guard generator.once(in: 2), let reader = cache.body(of: stored) else { return }
        guard try reader.readAll() == CacheExercise.body(mark) else {
            throw Mistake(message: "the body of another response: \(place)")
        }
        cache.noteHit(stored, rule: "protocol", octets: 0, now: now)
    }

    /// The body that belongs to a mark: often short, sometimes of several chunks.
    private static func body(_ mark: Int) -> [UInt8] {
        let length = mark % 5 == 0 ? mark % 150_000 : mark % 3000
        return (0..<length).map { UInt8(truncatingIfNeeded: ($0 &+ mark) &* 2_654_435_761 >> 13) }
    }
}
