public import OAuth2
internal import Platform
internal import Synchronization

/// Checks the signature of an ID token with the server's keys.
///
/// Throws `OAuth2Error` with ``OAuth2/OAuth2Error/Code/invalidIDToken`` if no key has signed it.
public typealias IDTokenCheck = @Sendable (_ token: Secret, _ keys: EndpointResponse) async throws -> Void

/// Returns valid access tokens, and refreshes expiring ones only once for all callers in this process and in others.
///
/// A server that rotates refresh tokens accepts each only once, and ends the login if one comes twice (RFC 9700,
/// section 4.14.2). So a refresh holds a lease in the database, which other processes see. The holder reads the tokens
/// again before it asks the server, stores the new refresh token before it reads anything else of the reply, and
/// releases the lease with the last write. If the holder dies, its lease expires, or is ignored as soon as the system
/// reports that the process has ended. A holder that was stopped and continues sends nothing after its lease has
/// expired, but stores the answer to an earlier request.
///
/// Not every failure is a lost login. A network failure, or a server that cannot answer, does not change the tokens. If
/// the server refuses the grant, the refresher first checks whether the store has newer tokens.
public final class TokenRefresher: Sendable {
    /// The durations of a refresh.
    package struct Timing: Sendable, Hashable {
        /// How long before its end an access token is refreshed.
        package var skew: Duration
        /// How long a lease is valid without a renewal. Other processes wait for a dead holder this long.
        package var lease: Duration
        /// How long to wait before checking again whether another process is done.
        package var poll: Duration
        /// How long to wait for a server's answer. If an answer comes too late, its server has already ended the stored
        /// refresh token.
        package var answer: Duration
        /// How long to wait for other processes in total.
        package var patience: Duration

        /// Creates timing that suits nearly all programs.
        ///
        /// - Parameter patience: `nil` for half a minute longer than another process waits for its server.
        package init(
            skew: Duration = .seconds(60), lease: Duration = .seconds(6), poll: Duration = .milliseconds(40),
            answer: Duration = .seconds(120), patience: Duration? = nil
        ) {
            self.skew = skew
            self.lease = lease
            self.poll = poll
            self.answer = answer
            self.patience = patience ?? answer + .seconds(30)
        }
    }

    /// Runs the part of a refresh that must not be interrupted, because the login could be lost: from before the
    /// request is sent until the answer is stored.
    package typealias Shield =
        @Sendable (
            _ exchange: @Sendable () async throws -> StoredToken
        ) async throws -> StoredToken

    let store: TokenStore
    let timing: Timing
    private let transport: any EndpointTransport
    private let checkIDToken: IDTokenCheck?
    private let process: Int32
    private let liveness: ProcessLiveness
    private let shield: Shield
    private let clock: any Clock<Duration>
    private let steadyNow: @Sendable () -> ContinuousClock.Instant
    let now: @Sendable () -> Timestamp
    private let progress = Mutex(Progress())

    /// For how many seconds after a refresh its access token is not renewed if a site rejects it.
    private static let settlingTime: Int64 = 10

    /// The refreshes in progress and those that have just ended, by key: the profile, or one resource of it.
    private struct Progress {
        var flights: [Octets: Task<StoredToken, any Error>] = [:]
        /// The names of the profiles with a request to their server in progress.
        var exchanges: [Octets: String] = [:]
        /// Whether no more requests are sent.
        var isFinishing = false
        var renewals: [Octets: (accessToken: Secret, moment: Timestamp)] = [:]
        /// The errors of servers that ask for a later retry (`Retry-After`), with the time of the retry.
        var pauses: [Octets: (error: OAuth2Error, end: Timestamp, generation: Int64)] = [:]
    }

    /// The longest pause that is accepted from a server, in seconds.
    private static let longestPause = 3600

    /// Creates a refresher for the tokens of one store. Create one for a process: its callers share requests.
    ///
    /// - Parameters:
    ///   - transport: what sends requests to servers.
    ///   - checkIDToken: checks the signatures of ID tokens that come with a refresh, with the server's keys; `nil` if
    ///     TLS suffices.
    public convenience init(
        store: TokenStore, transport: any EndpointTransport, checkingIDTokens checkIDToken: IDTokenCheck? = nil
    ) {
        self.init(store: store, transport: transport, checkingIDTokens: checkIDToken, process: getpid())
    }

    /// Creates a refresher for the tokens of one store.
    ///
    /// - Parameters:
    ///   - transport: what sends requests to servers.
    ///   - checkIDToken: checks the signatures of ID tokens that come with a refresh, with the server's keys; `nil` if
    ///     TLS suffices.
    ///   - process: the process ID of this process, which messages show for the holder of a lease.
    ///   - liveness: determines which processes have ended, so that no caller waits for their leases.
    ///   - shield: keeps signals and the like from ending the process between a request and the storing of its answer.
    ///   - clock: the clock that measures waits.
    ///   - steadyNow: returns the time of a monotonic clock, which cannot be set. It decides whether a request is too late to
    ///     be sent.
    ///   - now: returns the time that decides when tokens and leases end; `nil` for that of the store's database.
    package init(
        store: TokenStore, transport: any EndpointTransport, checkingIDTokens checkIDToken: IDTokenCheck? = nil,
        process: Int32, liveness: ProcessLiveness = .system, timing: Timing = Timing(),
        shield: @escaping Shield = { try await $0() }, clock: any Clock<Duration> = ContinuousClock(),
        steadyNow: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock().now },
        now: (@Sendable () -> Timestamp)? = nil
    ) {
        self.store = store
        self.transport = transport
        self.checkIDToken = checkIDToken
        self.process = process
        self.liveness = liveness
        self.timing = timing
        self.shield = shield
        self.clock = clock
        self.steadyNow = steadyNow
        self.now = now ?? { [clock = store.clock] in clock.now }
    }

    /// The tokens of a profile, refreshed if they are due.
    ///
    /// If a refresh fails and the access token is still valid, it is returned all the same.
    ///
    /// - Parameters:
    ///   - resource: The URL of what the access token is for (RFC 8707); `nil` for the login's own. Each resource has a
    ///     token of its own, and all come from one refresh token under one lease.
    ///   - skew: How long before its end the token is refreshed; the refresher's own skew if `nil`.
    /// - Throws: `SessionStoreError`, `OAuth2Error`, or ``TokenRefreshError``.
    public func token(
        _ name: String, for resource: String? = nil, skew: Duration? = nil
    ) async throws -> StoredToken {
        if let resource { try ResourceIndicator.check(resource) }
        let stored = try await store.reading { try $0.get(name, for: resource) }
        let validity = stored.tokens.validity(at: now(), skew: skew ?? timing.skew)
        guard validity.isDue else { return stored }
        guard stored.refusal == nil else {
            guard validity == .due else { throw TokenRefreshError(.loginRequired, name) }
            return stored
        }
        do {
            return try await refreshed(insteadOf: stored)
        } catch {
            let latest = try await store.reading { try $0.get(name, for: resource) }
            guard latest.tokens.validity(at: now()) != .expired else { throw error }
            return latest
        }
    }

    /// The tokens of a profile after a refresh, whether they were due or not.
    ///
    /// A refresh that another process completes meanwhile counts.
    ///
    /// - Throws: `SessionStoreError`, `OAuth2Error`, or ``TokenRefreshError``.
    public func refreshed(_ name: String, for resource: String? = nil) async throws -> StoredToken {
        if let resource { try ResourceIndicator.check(resource) }
        return try await refreshed(insteadOf: try await store.reading { try $0.get(name, for: resource) })
    }

    /// The tokens of a profile that replace an access token which a site rejects although it has not expired: it was
    /// revoked.
    ///
    /// If another process has received a new one since, it is returned, and the server is not asked.
    ///
    /// - Returns: `nil` if this refresher has only just received the rejected one: another token would not help.
    /// - Throws: `SessionStoreError`, `OAuth2Error`, or ``TokenRefreshError``.
    package func renewed(_ name: String, insteadOf refused: Secret) async throws -> StoredToken? {
        let stored = try await store.reading { try $0.get(name) }
        guard stored.tokens.accessToken == refused else { return try await token(name) }
        guard stored.refusal == nil else { throw TokenRefreshError(.loginRequired, name) }
        if let renewal = progress.withLock({ $0.renewals[Octets(name)] }), renewal.accessToken == refused,
            now() < renewal.moment.advanced(bySeconds: TokenRefresher.settlingTime)
        {
            return nil
        }
        return try await refreshed(insteadOf: stored)
    }

    /// The profiles whose server has a request and has not answered yet, in order.
    package var refreshing: [String] {
        progress.withLock { Set($0.exchanges.values).sorted() }
    }

    /// Waits until the answers to the requests in progress are stored, and sends no more requests.
    ///
    /// Call it before the process ends: when a server that rotates refresh tokens answers, it has already ended the
    /// stored one.
    public func finish() async {
        let flights = progress.withLock { progress in
            progress.isFinishing = true
            return progress.exchanges.keys.compactMap { progress.flights[$0] }
        }
        for flight in flights { _ = try? await flight.value }
    }

    /// The tokens that replace those of the caller: refreshed, unless another caller or process has done so since.
    ///
    /// Callers of this refresher join a refresh in progress.
    ///
    /// - Throws: `SessionStoreError`, `OAuth2Error`, or ``TokenRefreshError``.
    package func refreshed(insteadOf stored: StoredToken) async throws -> StoredToken {
        let name = stored.flight
        let flight = progress.withLock { progress in
            if let flight = progress.flights[name] { return flight }
            if let pause = progress.pauses[name], now() < pause.end, pause.generation == stored.generation {
                return Task<StoredToken, any Error> { throw pause.error }
            }
            let flight = Task {
                defer { self.removeFlight(name) }
                return try await self.fly(from: stored)
            }
            progress.flights[name] = flight
            return flight
        }
        return try await flight.value
    }

    /// Takes the lease, or waits for the tokens that its holder receives.
    private func fly(from seen: StoredToken) async throws -> StoredToken {
        let name = seen.profile.name
        var generator = SystemRandomNumberGenerator()
        let holder = LeaseHolder(process: process, liveness: liveness, using: &generator)
        var waited = Duration.zero
        while true {
            let outcome = try await store.writing { [self] in
                // The job may have waited for its turn.
                try $0.takeLease(
                    name, resource: seen.resource, for: holder, until: leaseEnd(), liveness: liveness, now: now())
            }
            switch outcome {
            case .taken(let current):
                do {
                    return try await exchange(holder, of: current, seen: seen)
                } catch is LeaseLost {
                    // Nothing was sent. Another process is refreshing, or is done.
                    break
                }
            case .held(let current, _):
                if isDone(current, since: seen) { return current }
                if let refusal = refusal(of: current, since: seen) { throw refusal }
            }
            guard waited < timing.patience else { throw TokenRefreshError(.refreshBusy, name) }
            // Waiting processes were often started together, so they must not all continue at once.
            repeat {
                let pause = timing.poll * Int.random(in: 50...150, using: &generator) / 100
                try await clock.sleep(for: pause)
                waited += pause
                // This only reads, which blocks no other process, while the holder refreshes.
            } while try await isHeld(name) && waited < timing.patience
        }
    }

    /// Whether another process is refreshing, so that this one has to wait.
    private func isHeld(_ name: String) async throws -> Bool {
        guard let holder = try await store.reading({ [self] in try $0.lease(name, now: now()) })
        else { return false }
        return !holder.hasEnded(by: liveness)
    }

    /// Whether another process has received the required tokens. A rotated refresh token alone does not suffice.
    private func isDone(_ current: StoredToken, since seen: StoredToken) -> Bool {
        current.generation != seen.generation && current.refusal == nil
            && current.tokens.accessToken != seen.tokens.accessToken
            && current.tokens.validity(at: now(), skew: timing.skew) != .expired
    }

    /// The reason not to ask the server: it has rejected another process's request.
    private func refusal(of current: StoredToken, since seen: StoredToken) -> TokenRefreshError? {
        current.refusal != nil && current.generation != seen.generation
            ? TokenRefreshError(.loginRequired, current.profile.name) : nil
    }

    private func leaseEnd() -> Timestamp {
        now().advanced(by: timing.lease)
    }

    // MARK: - With the lease

    /// Asks the server, without interruption.
    private func exchange(
        _ holder: LeaseHolder, of current: StoredToken, seen: StoredToken
    ) async throws -> StoredToken {
        let name = current.profile.name
        let mayBegin = progress.withLock { progress in
            if !progress.isFinishing { progress.exchanges[current.flight] = name }
            return !progress.isFinishing
        }
        guard mayBegin else {
            await release(holder, of: name)
            throw CancellationError()
        }
        defer { progress.withLock { $0.exchanges[current.flight] = nil } }
        return try await shield { [self] in try await withLease(holder, of: current, seen: seen) }
    }

    private func withLease(
        _ holder: LeaseHolder, of current: StoredToken, seen: StoredToken
    ) async throws -> StoredToken {
        let name = current.profile.name
        do {
            // Tokens that were read before the lease was taken may be outdated.
            if isDone(current, since: seen) {
                try await store.writing { try $0.releaseLease(name, of: holder) }
                return current
            }
            if let refusal = refusal(of: current, since: seen) { throw refusal }
            let leased = LeasedTransport(
                transport, timeout: timing.answer, lease: timing.lease, steadyNow: steadyNow
            ) { [self] in try await renewLease(holder, of: name) }
            let renewal = TokenRenewal(
                store: store, holder: holder, transport: leased, checkIDToken: checkIDToken, keyTransport: transport,
                now: now
            ) { [self] name in try await token(name).tokens }
            let renewed = try await renewing(holder, of: name) { try await renewal.run(current) }
            progress.withLock { $0.renewals[current.flight] = (renewed.tokens.accessToken, now()) }
            return renewed
        } catch {
            if let error = error as? OAuth2Error, let seconds = error.retryAfter {
                let end = now().advanced(bySeconds: Int64(min(seconds, TokenRefresher.longestPause)))
                progress.withLock { $0.pauses[current.flight] = (error, end, current.generation) }
            }
            await release(holder, of: name)
            throw error
        }
    }

    /// Renews the lease as long as `body` runs. If the lease is lost, the request that `body` has sent still counts.
    private func renewing(
        _ holder: LeaseHolder, of name: String, _ body: @escaping @Sendable () async throws -> StoredToken
    ) async throws -> StoredToken {
        try await withThrowingTaskGroup(of: StoredToken?.self) { group in
            group.addTask { try await body() }
            group.addTask { [self] in
                repeat {
                    try await clock.sleep(for: timing.lease / 3)
                    // If the database is busy for a moment, the lease is not lost.
                } while (try? await renewLease(holder, of: name)) ?? true
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    private func renewLease(_ holder: LeaseHolder, of name: String) async throws -> Bool {
        try await store.writing { [self] in
            try $0.renewLease(name, of: holder, until: leaseEnd(), now: now())
        }
    }

    /// Releases a lease. If this fails, the lease expires.
    private func release(_ holder: LeaseHolder, of name: String) async {
        try? await store.writing { try $0.releaseLease(name, of: holder) }
    }

    private func removeFlight(_ name: Octets) {
        progress.withLock { _ = $0.flights.removeValue(forKey: name) }
    }
}

extension StoredToken {
    /// The key of a refresh in progress: the name and the resource, separated by a character that no name contains.
    fileprivate var flight: Octets { Octets(resource.map { "\(profile.name)\n\($0)" } ?? profile.name) }
}

extension Timestamp {
    /// The time after a duration.
    fileprivate func advanced(by duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        return Timestamp(microseconds: microseconds + seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
    }
}
