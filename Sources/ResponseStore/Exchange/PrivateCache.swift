import CookieModel
public import HTTPCaching
import Platform
import PublicSuffix
public import SessionStore
import Synchronization
public import WebPrimitives

/// The responses that one jar has stored, and the rules by which they answer requests: the cache of a gateway or a client.
public final class PrivateCache: Sendable {
    /// The rules of storing and reuse.
    let policy: CachingPolicy
    /// The ID of the jar, which no other jar gets.
    let jar: Octets
    let suffixes: PublicSuffixList
    let portals: PortalWatch
    private let responses: ResponseCache
    private let threads = WorkerThreads.shared
    /// The stored responses that are being validated while no client waits.
    private let validations = Mutex<Set<Int64>>([])
    /// How many bodies are being stored.
    private let storings = Mutex(0)

    private static let validationLimit = 64
    private static let storingLimit = 1000

    /// The cache of a jar.
    ///
    /// - Parameters:
    ///   - responses: The cache of the jar's database.
    ///   - rules: What comes before the protocol.
    public init(_ responses: ResponseCache, of jar: CookieJar, rules: CachingRules = .standard) {
        self.responses = responses
        self.jar = jar.cacheName
        suffixes = jar.policy.publicSuffixes
        portals = PortalWatch(suffixes)
        var policy = CachingPolicy(rules: rules)
        // A page of yesterday is better than none.
        policy.servesStaleWhenDisconnected = true
        self.policy = policy
    }

    /// Uses the stored responses on a thread that may block. That goes on if the task is cancelled, or an invalidation would
    /// be lost.
    func using<Result: Sendable>(_ work: @escaping @Sendable (ResponseCache) -> Result) async -> Result {
        await threads.run { [responses] in work(responses) }
    }

    /// Reads what is stored: at once, as the cookies of a jar are read, unless it would have to wait.
    func reading<Result: Sendable>(_ read: @escaping @Sendable (ResponseCache) -> Result) async -> Result {
        responses.isReady ? read(responses) : await using(read)
    }

    /// Has the stored responses validated that the response to a request invalidates, or removes them.
    ///
    /// That is all that the cache does about a response that is not stored, to a request that was not looked up.
    package func invalidate(by response: OriginResponse, to request: CacheRequest) async {
        let invalidation = Invalidation(by: response, to: request)
        guard !invalidation.isEmpty else { return }
        await using { [jar] in $0.apply(invalidation, of: request.url, jar: jar) }
    }

    /// Notes that a stored response has answered a request.
    func noteHit(_ stored: StoredResponse, _ rule: AppliedRule, octets: Int64, now: Timestamp) {
        guard responses.noteHit(stored, rule: rule.description, octets: octets, now: now) else { return }
        Task.detached { [weak self] in
            try? await Task.sleep(for: PrivateCache.noteDelay)
            await self?.using { $0.writeNotes(now: now.advanced(bySeconds: PrivateCache.noteDelay.components.seconds)) }
        }
    }

    /// How long notes wait for others, so that a page with many resources is one transaction.
    private static let noteDelay = Duration.seconds(3)

    /// Writes down what was noted, and does other work that no request waits for.
    public func maintain(now: Timestamp) async {
        await using { $0.maintain(now: now) }
    }

    // MARK: - Limits

    /// Whether one more body may be stored at the same time. If so, it has to end with ``endStoring()``.
    func beginStoring() -> Bool {
        storings.withLock { count in
            guard count < PrivateCache.storingLimit else { return false }
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
            running.count < PrivateCache.validationLimit && running.insert(stored.id).inserted
        }
    }

    func endValidation(of stored: StoredResponse) {
        validations.withLock { _ = $0.remove(stored.id) }
    }
}
