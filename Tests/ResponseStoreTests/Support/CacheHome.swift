import Foundation
import HTTPCaching
import Synchronization
import WebPrimitives

@testable import ResponseStore
@testable import SessionStore

/// A folder for one cache, and the keys of the database that it belongs to. The folder is removed at the end.
final class CacheHome: Sendable {
    /// 2026-11-21T00:00:00Z.
    static let start = Timestamp(seconds: 1_795_219_200)

    let path = FileManager.default.temporaryDirectory.path + "/crumb-cache-\(UUID().uuidString)"
    private let sealer: Mutex<Sealer>

    init(keyID: UInt32 = 1) {
        sealer = Mutex(Sealer(SealingKey(), id: keyID, marks: [keyID: "mark"]))
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    var folder: CacheFolder { CacheFolder(path) }

    /// Opens the cache, as another process would.
    func cache(_ change: (inout CacheLimits) -> Void = { _ in }) -> ResponseCache {
        var limits = CacheLimits()
        change(&limits)
        return ResponseCache(folder, limits: limits) { self.sealer.withLock { $0 } }
    }

    /// Replaces the key. The former one is kept or forgotten.
    func rotateKey(keepsFormer: Bool) {
        sealer.withLock { sealer in
            let id = sealer.keyID + 1
            let former: [UInt32: SealingKey] = keepsFormer ? [sealer.keyID: sealer.newestKey] : [:]
            let marks: [UInt32: Octets] = keepsFormer ? [sealer.keyID: "mark", id: "mark"] : [id: "mark"]
            sealer = Sealer(SealingKey(), id: id, olderKeys: former, marks: marks)
        }
    }

    /// Forgets the former keys.
    func forgetFormerKeys() {
        sealer.withLock { $0 = Sealer($0.newestKey, id: $0.keyID, marks: [$0.keyID: "mark"]) }
    }

    /// Makes the same key that of another database.
    func replaceDatabase() {
        sealer.withLock { $0 = Sealer($0.newestKey, id: $0.keyID, marks: [$0.keyID: "another mark"]) }
    }

    /// The files below the folder, without those of SQLite beside the index.
    var bodyFiles: [String] {
        (FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? [])
            .filter { $0.hasPrefix("bodies/") && $0.count > 10 }.map { "\(path)/\($0)" }
    }
}

/// What a request and the response to it are, for tests.
struct Sample {
    var url = "https://shop.example/a"
    var requestFields: MessageFields = [:]
    var status = 200
    var fields: MessageFields = ["Cache-Control": "max-age=3600"]
    var body: [UInt8] = Array("body".utf8)
    var jar: Octets = "jar"
    var audience: Octets = "audience"
    var site: Octets = "shop.example"

    var request: CacheRequest {
        get throws { CacheRequest(url: try RequestURL(url), fields: requestFields) }
    }

    /// The response as it is when its header section has arrived.
    ///
    /// - Parameter requested: When the request was sent; `nil` for `now`.
    func response(requested: Timestamp? = nil, now: Timestamp = CacheHome.start) throws -> CachedResponse {
        let response = OriginResponse(
            status: status, fields: fields, requestTime: requested ?? now, responseTime: now)
        let decision = CachingPolicy().storing(response, for: try request)
        guard let stored = decision.response else { throw Rejection(obstacles: decision.obstacles) }
        return stored
    }

    struct Rejection: Error {
        let obstacles: [StoringObstacle]
    }

    /// Octets that differ at each position, so that no two chunks are the same.
    static func octets(_ count: Int, seed: Int = 0) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: ($0 &+ seed) &* 2_654_435_761 >> 13) }
    }
}

extension ResponseCache {
    /// Begins to store a response to the request of a sample.
    ///
    /// - Parameter response: The response; `nil` for that of the sample.
    func begin(_ sample: Sample, _ response: CachedResponse? = nil) throws -> ResponseWriter? {
        begin(
            try response ?? sample.response(), to: try sample.request, policy: CachingPolicy(), jar: sample.jar,
            audience: sample.audience, site: sample.site)
    }

    @discardableResult
    func store(
        _ sample: Sample, isComplete: Bool = true, requested: Timestamp? = nil, now: Timestamp = CacheHome.start
    ) throws -> Int64? {
        let writer = try begin(sample, sample.response(requested: requested, now: now))
        writer?.append(sample.body)
        return writer?.finish(isComplete: isComplete, now: now)
    }

    func candidates(for sample: Sample, now: Timestamp = CacheHome.start) throws -> [StoredResponse] {
        candidates(for: try sample.request, jar: sample.jar, audience: sample.audience, now: now)
    }

    /// The body that a request gets from the cache; `nil` for a miss.
    func answer(_ sample: Sample, now: Timestamp = CacheHome.start) throws -> [UInt8]? {
        let request = try sample.request
        let found = try candidates(for: sample, now: now)
        let decision = CachingPolicy().lookup(request, among: found.map(\.response), now: now)
        guard case .hit(let answer) = decision.outcome, let index = decision.choice?.index else { return nil }
        return try body(of: found[index], range: answer.body)?.readAll()
    }

    /// All responses, page by page.
    func all(now: Timestamp = CacheHome.start) -> [StoredResponse] {
        var (responses, last): ([StoredResponse], Int64?) = ([], 0)
        while let id = last {
            let page = page(after: id, count: 7, now: now)
            responses += page.responses
            last = page.last
        }
        return responses
    }
}
