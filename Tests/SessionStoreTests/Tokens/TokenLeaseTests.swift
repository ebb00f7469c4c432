import CookieModel
import HTTPTypes
import OAuth2
import Platform
import Synchronization
import TestSupport
import Testing

@testable import SessionStore

/// Holders of a lease that die, are stopped and go on, or lose it while their request is under way.
@Suite("The lease of a refresh")
struct TokenLeaseTests {
    private let folder = TemporaryFolder()
    private let server = RotatingServer()
    private static let timing = TokenRefresher.Timing(
        skew: .seconds(60), lease: .seconds(60), poll: .milliseconds(2), patience: .milliseconds(40))

    private func given() throws -> TokenStore {
        let store = try Given.database(folder.file("crumb.sqlite"), busyTimeout: 120).tokens
        let settings = ProfileSettings(
            grant: .authorizationCode, endpoints: [.token: "https://id.example/token"])
        try store.put(
            TokenSet(
                accessToken: Secret("access-0"), refreshToken: Secret("refresh-0"),
                receivedAt: Given.now.advanced(bySeconds: -3600),
                accessTokenExpiry: Given.now),
            for: Profile(id: ProfileID(issuer: "https://id.example", clientID: "app"), name: "p"),
            credentials: ProfileCredentials(settings: settings), now: Given.now)
        return store
    }

    private func refresher(
        _ store: TokenStore, liveness: ProcessLiveness = .none, now: @escaping @Sendable () -> Timestamp = { Given.now }
    ) -> TokenRefresher {
        TokenRefresher(
            store: store, transport: server, process: 1, liveness: liveness, timing: TokenLeaseTests.timing, now: now)
    }

    /// A refresh whose request has come to the server, and what has the server answer it.
    private func asked(
        _ refresher: TokenRefresher, for resource: String? = nil
    ) async throws -> (token: Task<StoredToken, any Error>, answer: @Sendable () -> Void) {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let (releases, release) = AsyncStream.makeStream(of: Void.self)
        server.state.withLock {
            $0.hold = {
                arrived.yield()
                for await _ in releases { return }
            }
        }
        let token = Task { try await refresher.token("p", for: resource) }
        for await _ in arrivals { break }
        return (token, { release.yield() })
    }

    // MARK: - Holders that have ended

    @Test(
        "A refresh does not wait for a lease holder that has certainly ended; it waits for any other",
        arguments: [
            ("77-dead@boot/1", true), ("78-living@boot/1", false), ("77-dead@other/1", false), ("77-dead", false),
            ("dead@boot/1", false), ("", false),
        ])
    func ended(holder: String, isFree: Bool) async throws {
        let store = try given()
        // Long enough for a server, whose clock goes on.
        let end = Given.now.advanced(bySeconds: 3000)
        _ = try store.takeLease("p", for: LeaseHolder(holder), until: end, now: Given.now)
        let liveness = ProcessLiveness(name: { "boot/\($0)" }, hasEnded: { $0 == 77 && $1.hasPrefix("boot/") })
        let refresher = refresher(store, liveness: liveness)
        if isFree {
            #expect(try await refresher.token("p").tokens.accessToken == Secret("access-1"))
        } else {
            let error = await #expect(throws: TokenRefreshError.self) { try await refresher.token("p") }
            #expect(error?.code == .refreshBusy)
        }
        #expect(server.requestCount == (isFree ? 1 : 0))
    }

    @Test("A lease holder names its process uniquely")
    func name() {
        var generator = SystemRandomNumberGenerator()
        let liveness = ProcessLiveness(name: { "boot/\($0)" }, hasEnded: { _, _ in true })
        let holder = LeaseHolder(process: 4711, liveness: liveness, using: &generator)
        #expect(holder.process == 4711 && holder.description.hasSuffix("@boot/4711"))
        #expect(holder.hasEnded(by: liveness) && !holder.hasEnded(by: .none))
        #expect(!LeaseHolder(process: 4711, using: &generator).hasEnded(by: liveness))
    }

    #if os(Linux)
        @Test("The system distinguishes processes with the same process ID")
        func system() throws {
            let liveness = ProcessLiveness.system
            let own = try #require(liveness.name(getpid()))
            #expect(own == liveness.name(getpid()))
            #expect(!liveness.hasEnded(getpid(), own))
            // The same number since another start, and what another machine says of its processes.
            #expect(liveness.hasEnded(getpid(), own + "0"))
            #expect(!liveness.hasEnded(getpid(), "elsewhere." + own))
            let start = try #require(own.lastIndex(of: "/"))
            #expect(!liveness.hasEnded(.max, "elsewhere" + own[start...]))
            // No process has that number; none of this user's is hidden.
            #expect(liveness.hasEnded(.max, own) && liveness.name(.max) == nil)
            #expect(!liveness.hasEnded(0, own) && !liveness.hasEnded(-1, own))
        }

        @Test("A zombie process counts as ended")
        func zombie() throws {
            var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("600"), nil]
            defer { arguments.forEach { free($0) } }
            var child = pid_t()
            #expect(posix_spawnp(&child, "sleep", nil, nil, &arguments, environ) == 0)
            let name = try #require(ProcessLiveness.system.name(child))
            #expect(!ProcessLiveness.system.hasEnded(child, name))
            kill(child, SIGKILL)
            var information = siginfo_t()
            waitid(P_PID, id_t(child), &information, WEXITED | WNOWAIT)
            #expect(ProcessLiveness.system.hasEnded(child, name))
            var status: Int32 = 0
            waitpid(child, &status, 0)
            #expect(ProcessLiveness.system.hasEnded(child, name))
        }
    #endif

    // MARK: - Holders that were stopped

    @Test("A refresh sends nothing after another process has taken the lease, and returns that process's tokens")
    func stopped() async throws {
        let store = try given()
        let looks = Mutex(0)
        // The last look at the clock before the request: as if the program had slept through everything until then.
        let refresher = refresher(store) {
            let look = looks.withLock { looks in
                looks += 1
                return looks
            }
            if (try? store.lease("p", now: Given.now)) != nil, look > 1 {
                try? store.database.execute("UPDATE token_lease SET holder = '99-other', expires_at = 0")
                _ = try? store.put(
                    TokenSet(
                        accessToken: Secret("others"), refreshToken: Secret("refresh-9"),
                        receivedAt: Given.now,
                        accessTokenExpiry: Given.now.advanced(bySeconds: 600)),
                    for: store.get("p").profile, now: Given.now)
            }
            return Given.now
        }
        #expect(try await refresher.token("p").tokens.accessToken == Secret("others"))
        #expect(server.requestCount == 0)
    }

    @Test("The latest time to send a refresh is counted from before the lease's renewal, with a monotonic clock")
    func latestSending() async throws {
        let store = try given()
        let start = ContinuousClock.now
        // Each look at the clock is ten seconds after the one before.
        let looks = Mutex(0)
        let refresher = TokenRefresher(
            store: store, transport: server, process: 1, timing: TokenLeaseTests.timing,
            steadyNow: {
                looks.withLock { looks in
                    looks += 1
                    return start + .seconds(10 * (looks - 1))
                }
            }, now: { Given.now })
        _ = try await refresher.token("p")
        #expect(server.state.withLock { $0.latestSendings } == [start + .seconds(60)])
    }

    @Test("A refresh waits two minutes for a slow server, and other processes wait even longer")
    func slowServer() async throws {
        let store = try given()
        _ = try await refresher(store).token("p")
        #expect(server.state.withLock { $0.answerTimeouts } == [.seconds(120)])
        #expect(TokenRefresher.Timing().patience > TokenRefresher.Timing().answer)
        #expect(TokenRefresher.Timing(answer: .seconds(300)).patience > .seconds(300))
    }

    @Test(
        "A refresher that finishes stores the pending answer, and sends no more requests",
        arguments: [nil, "https://api.example/"])
    func finishing(resource: String?) async throws {
        let store = try given()
        let refresher = refresher(store)
        let (token, answer) = try await asked(refresher, for: resource)
        #expect(refresher.refreshing == ["p"])
        async let end: Void = refresher.finish()
        answer()
        await end
        #expect(try store.get("p").tokens.refreshToken == Secret("refresh-1"))
        #expect(try await token.value.tokens.accessToken == Secret("access-1"))
        #expect(refresher.refreshing.isEmpty)
        await #expect(throws: CancellationError.self) { try await refresher.refreshed("p") }
        #expect(server.requestCount == 1)
        // The lease is free: another process need not wait for it.
        #expect(try store.lease("p", now: Given.now) == nil)
    }

    @Test("A refresh is shielded from its request to its response")
    func shield() async throws {
        let store = try given()
        let counts = Mutex<[Int]>([])
        let server = server
        let refresher = TokenRefresher(
            store: store, transport: server, process: 1, timing: TokenLeaseTests.timing,
            shield: { exchange in
                counts.withLock { $0.append(server.requestCount) }
                let stored = try await exchange()
                // The answer is stored by now.
                if try store.get("p").tokens.refreshToken == Secret("refresh-1") {
                    counts.withLock { $0.append(server.requestCount) }
                }
                return stored
            }, now: { Given.now })
        _ = try await refresher.token("p")
        #expect(counts.withLock { $0 } == [0, 1])
        _ = try await refresher.token("p")
        #expect(counts.withLock { $0 } == [0, 1])
    }

    @Test("A refresh stores the tokens of a response even if the lease was lost meanwhile")
    func lostWhileUnderWay() async throws {
        let store = try given()
        let (token, answer) = try await asked(refresher(store))
        try store.database.execute("UPDATE token_lease SET holder = '99-other'")
        answer()
        #expect(try await token.value.tokens.accessToken == Secret("access-1"))
        #expect(try store.get("p").tokens.refreshToken == Secret("refresh-1"))
    }

    @Test(
        "A refresh stores its result even if the server has rejected the same refresh token of another process meanwhile",
        arguments: [nil, #"{"access_token":"access-1","expires_in":600}"#])
    func refusedMeanwhile(unrotated: String?) async throws {
        let store = try given()
        let isOver = Mutex(false)
        server.state.withLock { state in
            state.isHolding = { !isOver.withLock { $0 } }
            if let unrotated { state.faults = [(RotatingServer.reply(unrotated), false)] }
        }
        let refresher = refresher(store)
        let renewal = Task { try await refresher.token("p") }
        try await renewal.wait { server.requestCount > 0 }
        #expect(
            try store.refuse("p", expectedGeneration: 1, releasing: LeaseHolder("99-other"), now: Given.now))
        isOver.withLock { $0 = true }
        #expect(try await renewal.value.tokens.accessToken == Secret("access-1"))
        let stored = try store.get("p")
        #expect(stored.refusal == nil && stored.tokens.accessToken == Secret("access-1"))
        #expect(stored.tokens.refreshToken == Secret(unrotated == nil ? "refresh-1" : "refresh-0"))
    }
}
