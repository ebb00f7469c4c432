import CookieModel
import HTTPCaching
import NIOCore
import NIOPosix
import PublicSuffix
import ResponseStore
import SessionStore
import Synchronization
import WebPrimitives

/// The stored responses of a gateway's jar, and the rules by which they answer requests.
final class GatewayCache: Sendable {
    typealias Destination = ForwardedRequest.Destination

    let policy: CachingPolicy
    /// The ID of the jar, which no other jar gets.
    let jar: Octets
    let suffixes: PublicSuffixList
    private let responses: ResponseCache
    /// The servers that could not be reached, and when that was.
    private let losses = Mutex<[Destination: NIODeadline]>([:])
    /// The stored responses that are being validated while no client waits.
    private let validations = Mutex<Set<Int64>>([])

    /// How many bodies are being stored.
    private let storings = Mutex(0)

    /// How long a server counts as out of reach before it is tried again.
    private static let lossTime = TimeAmount.seconds(1)
    private static let lossLimit = 1000
    private static let validationLimit = 64
    private static let storingLimit = 1000

    init(_ responses: ResponseCache, of jar: CookieJar, by rules: CachingRules) {
        self.responses = responses
        self.jar = jar.cacheName
        suffixes = jar.policy.publicSuffixes
        var policy = CachingPolicy(rules: rules)
        // A page of yesterday is better than none.
        policy.servesStaleWhenDisconnected = true
        self.policy = policy
    }

    /// Uses the stored responses on a thread that may block; `nil` if the process ends.
    func using<Result: Sendable>(_ work: @escaping @Sendable (ResponseCache) -> Result) async -> Result? {
        // A detached task, because this one is cancelled when the gateway stops, and an invalidation would be lost.
        await Task.detached { [responses] in
            try? await NIOThreadPool.singleton.runIfActive { work(responses) }
        }.value
    }

    /// Reads what is stored: at once, as the cookies of a jar are read, unless it would have to wait.
    func reading<Result: Sendable>(_ read: @escaping @Sendable (ResponseCache) -> Result) async -> Result? {
        responses.isReady ? read(responses) : await using(read)
    }

    /// Notes that a stored response has answered a request.
    func noteHit(_ stored: StoredResponse, _ rule: AppliedRule, now: Timestamp) {
        guard responses.noteHit(stored, rule: rule.description, now: now) else { return }
        Task.detached { await self.maintain(now: now) }
    }

    /// Writes down what was noted, and does other work that no request waits for.
    func maintain(now: Timestamp) async {
        _ = await using { $0.maintain(now: now) }
    }

    // MARK: - Network loss

    /// Whether a server could not be reached a moment ago.
    func isLost(_ server: Destination, at time: NIODeadline) -> Bool {
        losses.withLock { losses in losses[server].map { time < $0 + GatewayCache.lossTime } ?? false }
    }

    func noteLoss(of server: Destination, at time: NIODeadline) {
        losses.withLock { losses in
            if losses.count >= GatewayCache.lossLimit { losses = losses.filter { time < $0.value + Self.lossTime } }
            if losses.count < GatewayCache.lossLimit { losses[server] = time }
        }
    }

    func noteAnswer(of server: Destination) {
        losses.withLock { losses in
            if !losses.isEmpty { losses[server] = nil }
        }
    }

    // MARK: - Limits

    /// Whether one more body may be stored at the same time. If so, it has to end with ``endStoring()``.
    func beginStoring() -> Bool {
        storings.withLock { count in
            guard count < GatewayCache.storingLimit else { return false }
            count += 1
            return true
        }
    }

    func endStoring() {
        storings.withLock { $0 -= 1 }
    }

    /// Whether a validation of a stored response may begin. If so, it has to end with ``endValidation(of:)``.
    func beginValidation(of stored: StoredResponse) -> Bool {
        validations.withLock { running in
            running.count < GatewayCache.validationLimit && running.insert(stored.id).inserted
        }
    }

    func endValidation(of stored: StoredResponse) {
        validations.withLock { _ = $0.remove(stored.id) }
    }
}
