import NIOCore
import Synchronization

/// Lets each key do something so often, on average, and a few times at once (a token bucket each).
final class RateLimiter: Sendable {
    private struct Bucket {
        /// When it is full again.
        var full: NIODeadline
    }

    /// How many keys are remembered. Buckets that are full again are forgotten first; then all are.
    private static let keyLimit = 10_000

    private let interval: TimeAmount
    private let burst: TimeAmount
    private let buckets = Mutex<[String: Bucket]>([:])

    /// - Parameters:
    ///   - rate: how often in a second.
    ///   - burst: how often at once; at least 1.
    init(rate: Double, burst: Int) {
        interval = .nanoseconds(Int64(1_000_000_000 / rate))
        self.burst = .nanoseconds(interval.nanoseconds * Int64(max(1, burst)))
    }

    /// How many keys are remembered at present.
    var keyCount: Int { buckets.withLock { $0.count } }

    /// Counts once for a key.
    ///
    /// - Returns: `nil` where it may, else how long to wait.
    func take(_ key: String, _ now: NIODeadline) -> TimeAmount? {
        buckets.withLock { buckets in
            let full = max(buckets[key]?.full ?? now, now) + interval
            guard full - now <= burst else { return full - now - burst }
            if buckets[key] == nil, buckets.count >= RateLimiter.keyLimit {
                buckets = buckets.filter { $0.value.full > now }
                if buckets.count >= RateLimiter.keyLimit { buckets = [:] }
            }
            buckets[key] = Bucket(full: full)
            return nil
        }
    }
}
