import CookieModel
import Dispatch
import HTTPTypes
import OAuth2
import Platform
import Synchronization
import TestSupport
import Testing

@testable import SessionStore

@Suite("Refreshing tokens")
struct TokenRefresherTests {
    let folder = TemporaryFolder()
    let server = RotatingServer()
    static let timing = TokenRefresher.Timing(
        skew: .seconds(60), lease: .seconds(60), poll: .milliseconds(2), patience: .seconds(3600))

    func store(_ path: String? = nil) throws -> TokenStore {
        try Given.database(path ?? folder.file("crumb.sqlite"), busyTimeout: 120).tokens
    }

    func refresher(
        _ store: TokenStore, timing: TokenRefresher.Timing = timing, now: Timestamp = Given.now
    ) -> TokenRefresher {
        TokenRefresher(store: store, transport: server, process: 1, timing: timing, now: { now })
    }

    /// A profile whose access token has so many seconds left.
    @discardableResult
    func given(
        left seconds: Int64 = 0, refreshToken: String? = "refresh-0", grant: ProfileSettings.Grant = .authorizationCode
    ) throws -> TokenStore {
        let store = try store()
        let tokens = TokenSet(
            accessToken: Secret("access-0"), refreshToken: refreshToken.map { Secret($0) },
            receivedAt: Given.now.advanced(bySeconds: -3600),
            accessTokenExpiry: Given.now.advanced(bySeconds: seconds))
        let settings = ProfileSettings(
            grant: grant, endpoints: [.token: "https://id.example/token"],
            authenticationMethod: .clientSecretPost)
        try store.put(
            tokens, for: Profile(id: ProfileID(issuer: "https://id.example", clientID: "app"), name: "p"),
            credentials: ProfileCredentials(settings: settings, clientSecret: Secret("client-s3cret")), now: Given.now)
        return store
    }

    func causes(_ store: TokenStore) throws -> [String] {
        try store.changes(after: 0).map(\.cause.identifier)
    }

    // MARK: - Once

    @Test("A valid token is returned without a request to the server", arguments: [61, 3600] as [Int64])
    func valid(left: Int64) async throws {
        let store = try given(left: left)
        #expect(try await refresher(store).token("p").tokens.accessToken == Secret("access-0"))
        #expect(server.requestCount == 0)
    }

    @Test("A token that is due is refreshed; the new refresh token is stored first", arguments: [60, 0, -9] as [Int64])
    func due(left: Int64) async throws {
        let store = try given(left: left)
        let token = try await refresher(store).token("p")
        #expect(token.tokens.accessToken == Secret("access-1") && token.tokens.refreshToken == Secret("refresh-1"))
        #expect(try store.get("p").tokens == token.tokens)
        #expect(try causes(store) == ["stored", "rotated", "refreshed"])
        #expect(try store.lease("p", now: Given.now) == nil)
        let request = server.state.withLock { $0.requests[0] }
        #expect(request.contains("client_id=app&client_secret=client-s3cret"))
    }

    @Test(
        "The lease begins when it is written, and not when its writing was queued",
        .enabled(if: TestServer.shared == nil, "The queue is that of a file"))
    func queuedLease() async throws {
        let store = try given()
        let lane = try #require(store.database.writers as? WorkerLane)
        let now = Mutex(Given.now)
        let ends = Mutex<[Int64?]>([])
        server.state.withLock { state in
            state.hold = {
                let end = try? store.database.number("SELECT expires_at FROM token_lease")
                ends.withLock { $0.append(end) }
            }
        }
        let refresher = TokenRefresher(
            store: store, transport: server, process: 1, timing: Self.timing, now: { now.withLock { $0 } })
        let mayGoOn = DispatchSemaphore(value: 0)
        await withCheckedContinuation { hasBegun in
            lane.add {
                hasBegun.resume()
                mayGoOn.wait()
            }
        }
        let token = Task { try await refresher.token("p") }
        try await token.wait { lane.waitingCount > 0 }
        let later = Given.now.advanced(bySeconds: 3600)
        now.withLock { $0 = later }
        mayGoOn.signal()
        _ = try await token.value
        #expect(ends.withLock { $0 } == [later.advanced(bySeconds: 60).microseconds])
    }

    @Test("Callers that ask one refresher at once share one refresh")
    func singleFlight() async throws {
        let store = try given()
        server.state.withLock { $0.pause = .milliseconds(50) }
        let refresher = refresher(store)
        let tokens = try await withThrowingTaskGroup(of: StoredToken.self) { group in
            for _ in 0..<40 { group.addTask { try await refresher.token("p") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(tokens.count == 40 && tokens.allSatisfy { $0.tokens.accessToken == Secret("access-1") })
        #expect(server.requestCount == 1)
        // What was joined is over: the next refresh is one of its own.
        #expect(try await refresher.refreshed("p").tokens.accessToken == Secret("access-2"))
    }

    @Test("A caller with tokens that were refreshed since gets the new ones, without a request to the server")
    func refreshedSince() async throws {
        let store = try given()
        let seen = try store.get("p")
        #expect(try await refresher(store).refreshed("p").tokens.accessToken == Secret("access-1"))
        #expect(try await refresher(store).refreshed(insteadOf: seen).tokens.accessToken == Secret("access-1"))
        #expect(server.requestCount == 1)
    }

    @Test("Refreshers with their own connections, as in several processes, share one refresh")
    func lease() async throws {
        try given()
        for round in 1...5 {
            let stores = try (0..<8).map { _ in try store() }
            if round > 1 {
                let stored = try stores[0].get("p")
                var tokens = stored.tokens
                tokens.accessTokenExpiry = Given.now
                try stores[0].put(tokens, for: stored.profile, now: Given.now)
            }
            let tokens = try await withThrowingTaskGroup(of: StoredToken.self) { group in
                for store in stores {
                    let refresher = refresher(store)
                    group.addTask { try await refresher.token("p") }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(tokens.allSatisfy { $0.tokens.accessToken == Secret("access-\(round)") })
            #expect(server.requestCount == round && server.state.withLock { $0.isAlive })
        }
    }

    @Test("A dead holder's lease expires, and a lease with an impossibly late end is ignored")
    func deadHolder() async throws {
        let store = try given()
        for end in [Given.now, Given.now.advanced(bySeconds: -1), Given.now.advanced(bySeconds: 100_000)] {
            let outcome = try store.takeLease(
                "p", for: LeaseHolder("77-dead"), until: Given.now.advanced(bySeconds: 5), now: Given.now)
            guard case .taken = outcome else {
                Issue.record("The lease is not free.")
                return
            }
            try store.database.execute("UPDATE token_lease SET expires_at = \(end.microseconds)")
            _ = try await refresher(store).refreshed("p")
            #expect(try store.lease("p", now: Given.now) == nil)
        }
        #expect(server.requestCount == 3 && server.state.withLock { $0.isAlive })
    }

    @Test("A refresh waits for a live lease holder, but not forever")
    func patience() async throws {
        let store = try given()
        _ = try store.takeLease(
            "p", for: LeaseHolder("77-slow"), until: Given.now.advanced(bySeconds: 3000), now: Given.now)
        var timing = TokenRefresherTests.timing
        timing.patience = .milliseconds(20)
        let refresher = refresher(store, timing: timing)
        let error = await #expect(throws: TokenRefreshError.self) { try await refresher.token("p") }
        #expect(error?.code == .refreshBusy && server.requestCount == 0)
        #expect(try store.lease("p", now: Given.now)?.process == 77)
    }

    @Test("A refresh renews its lease until the server has answered", .timeLimit(.minutes(2)))
    func renewing() async throws {
        let store = try given()
        var timing = TokenRefresherTests.timing
        timing.lease = .milliseconds(30)
        let times = Mutex(Int64(0))
        // The server takes until the lease was renewed again and again.
        server.state.withLock { $0.isHolding = { times.withLock { $0 } <= 8 } }
        // A clock of its own: each look at it is a millisecond later, so that the lease ends unless it is renewed.
        let refresher = TokenRefresher(
            store: store, transport: server, process: 1, timing: timing,
            now: {
                Timestamp(
                    microseconds: Given.now.microseconds + times.withLock {
                        $0 += 1; return $0
                    } * 1000)
            })
        _ = try await refresher.token("p")
        #expect(server.requestCount == 1 && times.withLock { $0 } > 8)
    }

    // MARK: - What is a loss

    @Test("A rejected grant is recorded once, and not requested again until the next login")
    func refused() async throws {
        let store = try given()
        server.state.withLock { $0.isAlive = false }
        let refresher = refresher(store)
        for _ in 0..<3 {
            let error = await #expect(throws: TokenRefreshError.self) { try await refresher.token("p") }
            #expect(error?.code == .loginRequired)
        }
        #expect(server.requestCount == 1)
        #expect(try store.get("p").refusal == Given.now && store.get("p").tokens.refreshToken == Secret("refresh-0"))
        #expect(try causes(store) == ["stored", "refused"])
        // Who insists may ask.
        await #expect(throws: TokenRefreshError.self) { try await refresher.refreshed("p") }
        #expect(server.requestCount == 2)
        try given()
        server.state.withLock { $0.isAlive = true }
        #expect(try await refresher.token("p").tokens.accessToken == Secret("access-1"))
    }

    @Test("Of many callers that wait while the server rejects the grant, none asks again")
    func refusedForAll() async throws {
        try given()
        server.state.withLock {
            $0.isAlive = false; $0.pause = .milliseconds(100)
        }
        let refreshers = try (0..<6).map { _ in refresher(try store()) }
        await withTaskGroup(of: Void.self) { group in
            for refresher in refreshers {
                group.addTask {
                    await #expect(throws: TokenRefreshError.self) { try await refresher.token("p") }
                }
            }
        }
        #expect(server.requestCount == 1)
    }

    @Test("If the server rejects the grant and a new login took place meanwhile, the new login counts")
    func changedMeanwhile() async throws {
        let store = try given()
        let hasLoggedIn = Mutex(false)
        server.state.withLock {
            $0.isAlive = false
            $0.isHolding = { !hasLoggedIn.withLock { $0 } }
        }
        let refresher = refresher(store)
        let renewal = Task { try await refresher.token("p") }
        try await renewal.wait { server.requestCount > 0 }
        let fresh = TokenSet(
            accessToken: Secret("fresh"), receivedAt: Given.now,
            accessTokenExpiry: Given.now.advanced(bySeconds: 500))
        try store.put(fresh, for: try store.get("p").profile, now: Given.now)
        hasLoggedIn.withLock { $0 = true }
        #expect(try await renewal.value.tokens.accessToken == Secret("fresh"))
        #expect(try store.get("p").refusal == nil)
    }

    @Test("The error for a missing refresh token or missing settings names the next step")
    func nothingToRenewWith() async throws {
        let store = try given(refreshToken: nil)
        let refresher = refresher(store)
        let expired = await #expect(throws: TokenRefreshError.self) { try await refresher.token("p") }
        #expect(expired?.code == .tokenExpired)
        try store.put(
            TokenSet(
                accessToken: Secret("a"), refreshToken: Secret("r"), receivedAt: .epoch,
                accessTokenExpiry: Timestamp(microseconds: 1)),
            for: Profile(id: ProfileID(issuer: "https://other.example"), name: "p"), now: Given.now)
        // Another server's settings do not stay: its endpoints would get these tokens.
        #expect(try store.credentials("p") == nil)
        let unknown = await #expect(throws: TokenRefreshError.self) { try await refresher.token("p") }
        #expect(unknown?.code == .settingsMissing && server.requestCount == 0)
    }

    @Test("A client's own tokens are requested again when they are due")
    func clientCredentials() async throws {
        let store = try given(refreshToken: nil, grant: .clientCredentials)
        #expect(try await refresher(store).token("p").tokens.accessToken == Secret("cc-1"))
        #expect(try store.get("p").tokens.refreshToken == nil)
    }

    @Test("A new assertion replaces a refresh token, and its key is stored sealed")
    func assertion() async throws {
        let store = try given(refreshToken: nil, grant: .jwtBearer)
        let stored = try store.get("p")
        var credentials = try #require(try store.credentials("p"))
        let missing = await #expect(throws: OAuth2Error.self) { try await refresher(store).token("p") }
        #expect(missing?.code == .invalidKey && server.requestCount == 0)
        credentials.grantKey = SigningKey().secret
        try store.put(stored.tokens, for: stored.profile, credentials: credentials, now: Given.now)
        #expect(try await refresher(store).token("p").tokens.accessToken == Secret("cc-1"))
        #expect(try await refresher(store).refreshed("p").tokens.accessToken == Secret("cc-2"))
        let assertions = server.state.withLock { $0.requests }.map { $0.firstMatch(of: /&assertion=([^&]+)/)?.1 }
        #expect(assertions.count == 2 && assertions[0] != nil && assertions[0] != assertions[1])
        #expect(try store.credentials("p")?.grantKey == credentials.grantKey)
        try store.database.execute("UPDATE token_profile SET grant_key = access_token")
        #expect(errorCode { try store.credentials("p") } == .valueDamaged)
    }

    // MARK: - What is kept

    @Test("A profile's settings and secrets can be read, and a damaged secret is a clear error")
    func credentials() throws {
        let store = try given()
        let credentials = try #require(try store.credentials("p"))
        #expect(credentials.clientSecret == Secret("client-s3cret") && credentials.proofKey == nil)
        #expect(credentials.settings.endpoints == [.token: "https://id.example/token"])
        #expect(try store.database.text("SELECT settings FROM token_profile").contains("s3cret") == false)
        try store.database.execute("UPDATE token_profile SET client_secret = access_token")
        #expect(errorCode { try store.credentials("p") } == .valueDamaged)
    }

    @Test("The tokens' journal keeps the last thousand changes, and no token")
    func journal() throws {
        let store = try given()
        let tokens = try store.get("p")
        for _ in 0..<1100 { try store.put(tokens.tokens, for: tokens.profile, now: Given.now) }
        let changes = try store.changes(after: 0, count: 5000)
        #expect(changes.count == 1000 && changes.last?.generation == 1101)
        #expect(try store.remove("p", now: Given.now))
        #expect(try store.changes(after: changes.last?.position ?? 0).map(\.cause) == [.removed])
    }
}
