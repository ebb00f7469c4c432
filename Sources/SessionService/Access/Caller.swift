import CookieModel
import NIOCore
import SessionStore
import Synchronization

/// The sender of a request.
struct Caller: Sendable, Hashable {
    /// The name of the access token, or of the listener; it appears in the audit log.
    var name: String
    var grant: AccessGrant
    /// The number of the access token; `nil` for the listener. Names are given again after a token was revoked, numbers
    /// never.
    var tokenID: Int64?

    /// Creates a caller with a grant.
    init(name: String, grant: AccessGrant, tokenID: Int64? = nil) {
        self.name = name
        self.grant = grant
        self.tokenID = tokenID
    }

    /// The bearer of an access token.
    init(_ token: ServiceToken) {
        self.init(name: token.name, grant: token.grant, tokenID: token.id)
    }

    /// Whether a caller that was admitted once would be admitted again.
    func isStillAdmitted(by tokens: ServiceTokenStore, now: Timestamp) throws(SessionStoreError) -> Bool {
        guard let tokenID else { return true }
        return try tokens.isValid(tokenID, now: now)
    }

    /// A caller without any rights.
    static let nobody = Caller(name: "nobody", grant: AccessGrant(verbs: [], jars: .named([])))

    /// The caller on a socket that only its owner can reach. An access token can have the same name and meaning.
    static let owner = Caller(name: "owner", grant: .everything)
}

/// When access tokens were used last, until someone writes it down.
final class TokenUses: Sendable {
    /// How exactly that is known: a write an hour is enough.
    private static let granularity: Int64 = 3600

    private struct State {
        var pending: [String: Timestamp] = [:]
        var written: [String: Timestamp] = [:]
    }

    private let state = Mutex(State())

    /// A token was used.
    func note(_ name: String, _ now: Timestamp) {
        state.withLock { state in
            if let last = state.written[name], now < last.advanced(bySeconds: TokenUses.granularity), last <= now {
                return
            }
            state.written[name] = now
            state.pending[name] = now
        }
    }

    /// Returns the uses to record. Each is returned once.
    func take() -> [String: Timestamp] {
        state.withLock { state in
            defer { state.pending = [:] }
            return state.pending
        }
    }

    /// Keeps uses that could not be recorded, so that ``take()`` returns them again.
    func putBack(_ moments: [String: Timestamp]) {
        state.withLock { $0.pending.merge(moments) { max($0, $1) } }
    }
}

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
    /// - Returns: `nil` if it may, else how long to wait.
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
