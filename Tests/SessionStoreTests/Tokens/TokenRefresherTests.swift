import CookieModel
import HTTPTypes
import OAuth2
import Synchronization
import Testing

@testable import SessionStore

@Suite("Refreshing tokens")
struct TokenRefresherTests {
    private let folder = TemporaryFolder()
    private let server = RotatingServer()
    private static let timing = TokenRefresher.Timing(
        skew: .seconds(60), lease: .seconds(60), poll: .milliseconds(2), patience: .seconds(60))

    private func store(_ path: String? = nil) throws -> TokenStore {
        try Given.database(path ?? folder.file("crumb.sqlite"), busyTimeout: 120).tokens
    }

    private func refresher(
        _ store: TokenStore, timing: TokenRefresher.Timing = timing, now: Timestamp = Given.now
    ) -> TokenRefresher {
        TokenRefresher(store: store, transport: server, process: 1, timing: timing, now: { now })
    }

    /// A profile whose access token has so many seconds left.
    @discardableResult
    private func given(
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

    private func causes(_ store: TokenStore) throws -> [String] {
        try store.changes(after: 0).map(\.cause.identifier)
    }

    // MARK: - Once

    @Test("A token that lives is given without a word to the server", arguments: [61, 3600] as [Int64])
    func valid(left: Int64) async throws {
        let store = try given(left: left)
        #expect(try await refresher(store).token("p").tokens.accessToken == Secret("access-0"))
        #expect(server.requestCount == 0)
    }

    @Test("A token that is due is refreshed; the new refresh token is kept first", arguments: [60, 0, -9] as [Int64])
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

    @Test("Many that ask one refresher at once share one refresh")
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

    @Test("Who has seen tokens that were refreshed since gets the new ones, without a word to the server")
    func refreshedSince() async throws {
        let store = try given()
        let seen = try store.get("p")
        #expect(try await refresher(store).refreshed("p").tokens.accessToken == Secret("access-1"))
        #expect(try await refresher(store).refreshed(insteadOf: seen).tokens.accessToken == Secret("access-1"))
        #expect(server.requestCount == 1)
    }

    @Test("Refreshers with connections of their own, as processes have, share one refresh")
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

    @Test("A dead holder's lease runs out, and one from a future that cannot be counts for nothing")
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

    @Test("A living holder is waited for, but not for ever")
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

    @Test("The lease is renewed for as long as the server takes", .timeLimit(.minutes(2)))
    func renewing() async throws {
        let store = try given()
        var timing = TokenRefresherTests.timing
        timing.lease = .milliseconds(30)
        let times = Mutex(Int64(0))
        // The server takes until the lease was renewed again and again.
        server.state.withLock { $0.isHolding = { times.withLock { $0 } <= 8 } }
        // A clock of its own: each look at it is a millisecond later, so that the lease ends unless it is renewed.
        let refresher = TokenRefresher(store: store, transport: server, process: 1, timing: timing) {
            Timestamp(
                microseconds: Given.now.microseconds + times.withLock {
                    $0 += 1; return $0
                } * 1000)
        }
        _ = try await refresher.token("p")
        #expect(server.requestCount == 1 && times.withLock { $0 } > 8)
    }

    // MARK: - What is no loss

    /// Replies that end no login, whatever they look like.
    private static let faults: [(String, EndpointResponse?, String)] = [
        ("cut cable", nil, "unreachable"),
        ("empty 500", RotatingServer.reply("", .internalServerError), "server_unavailable"),
        ("HTML 502", RotatingServer.reply("<html>refresh-0</html>", .badGateway), "server_unavailable"),
        ("rate limit", RotatingServer.reply(#"{"error":"invalid_grant"}"#, .tooManyRequests), "server_unavailable"),
        ("HTML 200", RotatingServer.reply("<html>log in</html>"), "markup"),
        ("empty 200", RotatingServer.reply(""), "empty"),
        ("no token", RotatingServer.reply("{}"), "missing_access_token"),
        ("array", RotatingServer.reply("[1]"), "not_an_object"),
        ("broken off", RotatingServer.reply(#"{"access_token":"access-9","expi"#), "not_json"),
        ("oversized", RotatingServer.reply(String(repeating: " ", count: 1_048_577)), "too_large"),
        ("empty 400", RotatingServer.reply("", .badRequest), "unexpected_status"),
        ("redirect", RotatingServer.reply("", .found), "unexpected_status"),
        (
            "wrong client", RotatingServer.reply(#"{"error":"invalid_client"}"#, .unauthorized), "invalid_client"
        ),
        (
            "echo",
            RotatingServer.reply(
                #"{"error":"x","error_description":"refresh-0 client-s3cret"}"#, .badRequest), "refused"
        ),
    ]

    @Test("A fault is a clear error, loses nothing and tells nothing", arguments: faults.indices)
    func fault(index: Int) async throws {
        let (_, response, code) = TokenRefresherTests.faults[index]
        let store = try given()
        let before = try store.get("p")
        server.state.withLock { $0.faults = [(response, false)] }
        let refresher = refresher(store)
        let error = await #expect(throws: OAuth2Error.self) { try await refresher.token("p") }
        #expect(error?.code.rawValue == code)
        for secret in ["refresh-0", "access-0", "client-s3cret"] {
            #expect(error.map { "\($0) \(String(reflecting: $0))".contains(secret) } == false)
        }
        let after = try store.get("p")
        #expect(after.tokens == before.tokens && after.generation == before.generation && after.refusal == nil)
        #expect(try store.lease("p", now: Given.now) == nil)
        // Later all is well.
        #expect(try await refresher.token("p").tokens.accessToken == Secret("access-1"))
    }

    @Test("A token that still lives is given where the refresh fails", arguments: faults.indices)
    func stillAlive(index: Int) async throws {
        let store = try given(left: 30)
        server.state.withLock { $0.faults = [(TokenRefresherTests.faults[index].1, false)] }
        #expect(try await refresher(store).token("p").tokens.accessToken == Secret("access-0"))
    }

    @Test(
        "A rotated refresh token is kept even where the rest of the reply is damaged",
        arguments: [
            #"{"refresh_token":"refresh-1","access_token":"acc"#, #"{"refresh_token":"refresh-1"}"#,
            #"{"refresh_token":"refresh-1","access_token":7}"#,
        ])
    func damagedReply(body: String) async throws {
        let store = try given()
        server.state.withLock { $0.faults = [(RotatingServer.reply(body), true)] }
        let refresher = refresher(store)
        await #expect(throws: OAuth2Error.self) { try await refresher.token("p") }
        #expect(try store.get("p").tokens.refreshToken == Secret("refresh-1"))
        #expect(try await refresher.token("p").tokens.accessToken == Secret("access-2"))
        #expect(server.state.withLock { $0.isAlive })
    }

    @Test(
        "A reply without a refresh token keeps the old one, and a strange expiry loses nothing",
        arguments: [
            (#""expires_in":"soon""#, nil), (#""expires_in":"60""#, 60), (#""expires_in":-5"#, 0),
            (#""expires_in":1e300"#, Int64.max), (#""expires_in":null"#, nil), (#""expires_in":[1]"#, nil),
        ] as [(String, Int64?)])
    func strangeExpiry(members: String, seconds: Int64?) async throws {
        let store = try given()
        server.state.withLock {
            $0.faults = [(RotatingServer.reply(#"{"access_token":"access-5",\#(members)}"#), false)]
        }
        let token = try await refresher(store).refreshed("p")
        #expect(token.tokens.accessToken == Secret("access-5") && token.tokens.refreshToken == Secret("refresh-0"))
        let expected = seconds.map { Given.now.advanced(bySeconds: $0) }
        #expect(token.tokens.accessTokenExpiry == expected)
    }

    @Test(
        "An ID token of another login that comes with a refresh is not kept; the tokens are",
        arguments: [
            (#"{"iss":"https://id.example","sub":"me","aud":"app","exp":4000000000}"#, true),
            (#"{"iss":"https://id.example","sub":"you","aud":"app","exp":4000000000}"#, false),
            (#"{"iss":"https://other.example","sub":"me","aud":"app","exp":4000000000}"#, false),
            (#"{"iss":"https://id.example","sub":"me","aud":"other","exp":4000000000}"#, false),
            (#"{"iss":"https://id.example","sub":"me","aud":"app","exp":5}"#, false), ("nonsense", false),
        ])
    func refreshedIDToken(claims: String, isKept: Bool) async throws {
        let store = try given()
        let before = try store.get("p")
        var tokens = before.tokens
        let earlier = RotatingServer.idToken(#"{"iss":"https://id.example","sub":"me","aud":"app","exp":3000000000}"#)
        tokens.idToken = Secret(earlier)
        try store.put(tokens, for: before.profile, now: Given.now)
        let later = RotatingServer.idToken(claims)
        server.state.withLock {
            $0.faults = [
                (
                    RotatingServer.reply(
                        #"{"access_token":"access-5","refresh_token":"refresh-1","id_token":"\#(later)"}"#), true
                )
            ]
        }
        let token = try await refresher(store).token("p")
        #expect(token.tokens.accessToken == Secret("access-5") && token.tokens.refreshToken == Secret("refresh-1"))
        #expect(token.tokens.idToken == Secret(isKept ? later : earlier))
        #expect((token.idTokenRefusal == nil) == isKept)
        #expect(token.idTokenRefusal?.description.contains(later) != true)
        #expect(
            try causes(store).last == (isKept ? "refreshed" : "refreshed-without-id-token")
                && store.get("p").tokens == token.tokens)
    }

    @Test(
        "A refreshed ID token that names its own algorithm, or another access token, is not kept",
        arguments: [
            ("RS256", "", true), ("HS256", "", false), ("none", "", false), ("RS256", #","at_hash":"wrong""#, false),
            ("RS256", #","nbf":3999999999"#, false), ("RS256", #","iat":3999999999"#, false),
        ])
    func forgedIDToken(algorithm: String, more: String, isKept: Bool) async throws {
        let store = try given()
        let token = RotatingServer.idToken(
            #"{"iss":"https://id.example","sub":"me","aud":"app","exp":4000000000\#(more)}"#, algorithm: algorithm)
        server.state.withLock {
            $0.faults = [(RotatingServer.reply(#"{"access_token":"a","id_token":"\#(token)"}"#), false)]
        }
        let stored = try await refresher(store).token("p")
        #expect(stored.tokens.accessToken == Secret("a") && stored.tokens.idToken == (isKept ? Secret(token) : nil))
        #expect((stored.idTokenRefusal == nil) == isKept)
    }

    @Test(
        "A refreshed ID token that no key of the server has signed is not kept; unavailable keys cause no delay",
        arguments: [
            ("RS256", RotatingServer.reply("right"), true, 1), ("RS256", RotatingServer.reply("wrong"), false, 1),
            ("RS256", RotatingServer.reply("broken"), true, 1), ("RS256", nil, true, 1),
            ("RS256", RotatingServer.reply("wrong", .serviceUnavailable), true, 1),
            ("RS256", RotatingServer.reply("wrong", .notFound), true, 1),
            // The client's own secret has to have signed this one.
            ("HS256", RotatingServer.reply("right"), false, 0),
        ] as [(String, EndpointResponse?, Bool, Int)])
    func signedIDToken(algorithm: String, keys: EndpointResponse?, isKept: Bool, asked: Int) async throws {
        let store = try given()
        #expect(try store.changeSettings(of: "p") { $0.endpoints[.keys] = "https://id.example/keys" })
        let token = RotatingServer.idToken(
            #"{"iss":"https://id.example","sub":"me","aud":"app","exp":4000000000}"#, algorithm: algorithm)
        server.state.withLock {
            $0.keys = keys
            $0.faults = [
                (
                    RotatingServer.reply(#"{"access_token":"a","refresh_token":"refresh-1","id_token":"\#(token)"}"#),
                    true
                )
            ]
        }
        struct Broken: Error {}
        let refresher = TokenRefresher(
            store: store, transport: server,
            checkingIDTokens: { checked, keys in
                #expect(checked == Secret(token))
                switch String(decoding: keys.exposedBody, as: UTF8.self) {
                case "right": return
                case "wrong": throw OAuth2Error(invalidIDToken: "it is not signed with a key of the server")
                default: throw Broken()
                }
            }, process: 1, timing: Self.timing, now: { Given.now })
        let stored = try await refresher.token("p")
        #expect(stored.tokens.accessToken == Secret("a") && stored.tokens.refreshToken == Secret("refresh-1"))
        #expect(stored.tokens.idToken == (isKept ? Secret(token) : nil))
        #expect((stored.idTokenRefusal == nil) == isKept)
        #expect(server.state.withLock { $0.keyRequestCount } == asked)
    }

    /// An ID token that was issued an hour ago and has so many seconds left.
    private static func idToken(left: Int64, _ id: String = "old") -> String {
        let now = Given.now.seconds
        return RotatingServer.idToken(
            #"{"iss":"https://id.example","sub":"me","aud":"app","jti":"\#(id)","iat":\#(now - 3600),"#
                + #""exp":\#(now + left)}"#)
    }

    @Test(
        "An ID token is renewed by its own expiry, not by that of the access token",
        arguments: [(61, 3600, false), (60, 3600, true), (-1, 3600, true), (61, -1, false)] as [(Int64, Int64, Bool)])
    func idTokenExpiry(left: Int64, accessLeft: Int64, isRenewed: Bool) async throws {
        let store = try given(left: accessLeft)
        let before = try store.get("p")
        var tokens = before.tokens
        tokens.idToken = Secret(Self.idToken(left: left))
        try store.put(tokens, for: before.profile, now: Given.now)
        let renewed = Self.idToken(left: 3600, "new")
        let reply = RotatingServer.reply(#"{"access_token":"a","refresh_token":"refresh-1","id_token":"\#(renewed)"}"#)
        server.state.withLock { $0.faults = [(reply, true)] }
        let token = try await refresher(store).idToken("p")
        #expect(token.token == (isRenewed ? Secret(renewed) : tokens.idToken))
        #expect(server.requestCount == (isRenewed ? 1 : 0))
    }

    @Test("A server without ID tokens at refreshes is asked once while the old one lives, and then a login is needed")
    func idTokenWithoutRenewal() async throws {
        let store = try given(left: 3600)
        let before = try store.get("p")
        var tokens = before.tokens
        tokens.idToken = Secret(Self.idToken(left: 30))
        try store.put(tokens, for: before.profile, now: Given.now)
        for _ in 0..<3 { #expect(try await refresher(store).idToken("p").token == tokens.idToken) }
        #expect(server.requestCount == 1)
        let later = refresher(store, now: Given.now.advanced(bySeconds: 31))
        await #expect {
            try await later.idToken("p")
        } throws: { error in
            (error as? TokenRefreshError)?.code == .loginRequired && "\(error)".contains("ID token has expired")
        }
    }

    @Test("A login without an ID token is told apart from one that has ended")
    func noIDToken() async throws {
        let store = try given(left: 3600)
        await #expect {
            try await refresher(store).idToken("p")
        } throws: { error in
            (error as? TokenRefreshError)?.code == .settingsMissing && "\(error)".contains("openid")
        }
        #expect(server.requestCount == 0)
    }

    @Test(
        "A server that wants to be asked later is not asked again before, whether it names seconds or a date",
        arguments: [
            [.retryAfter: "30"],
            // By the server's clock, in each form of a date (RFC 9110, section 5.6.7).
            [.date: "Sun, 06 Nov 1994 08:49:37 GMT", .retryAfter: "Sun, 06 Nov 1994 08:50:07 GMT"],
            [.date: "Sun, 06 Nov 1994 08:49:37 GMT", .retryAfter: "Sunday, 06-Nov-94 08:50:07 GMT"],
            [.date: "Sun Nov  6 08:49:37 1994", .retryAfter: "Sun Nov  6 08:50:07 1994"],
        ] as [HTTPFields])
    func retryAfter(fields: HTTPFields) async throws {
        let store = try given(left: -1)
        let busy = EndpointResponse(status: .tooManyRequests, fields: fields, body: [])
        server.state.withLock { $0.faults = [(busy, false)] }
        let refresher = refresher(store)
        for _ in 0..<3 {
            let error = await #expect(throws: OAuth2Error.self) { try await refresher.token("p") }
            #expect(error?.retryAfter == 30 && error?.description.contains("30 seconds") == true)
        }
        #expect(server.requestCount == 1)
    }

    @Test(
        "A wait is said in a unit that fits; one of absurd length is not repeated",
        arguments: [
            ("1", "Try again in 1 second."), ("120", "Try again in 120 seconds."), ("121", "Try again in 3 minutes."),
            ("7201", "Try again in 3 hours."), ("604800", "Try again in 7 days."), ("2592001", "more than 30 days"),
            ("999999999", "more than 30 days"),
        ])
    func longWait(seconds: String, advice: String) async throws {
        let store = try given(left: -1)
        let busy = EndpointResponse(status: .tooManyRequests, fields: [.retryAfter: seconds], body: [])
        server.state.withLock { $0.faults = [(busy, false)] }
        let error = await #expect(throws: OAuth2Error.self) { try await refresher(store).token("p") }
        #expect(error?.description.contains(advice) == true, "\(error?.description ?? "")")
        if seconds == "999999999" { #expect(error?.description.contains(seconds) == false) }
    }

    @Test(
        "A time to ask again that is past or invalid causes no delay",
        arguments: [
            ([.date: "Sun, 06 Nov 1994 08:49:37 GMT", .retryAfter: "Sun, 06 Nov 1994 08:49:07 GMT"], 0),
            ([.retryAfter: "Sun, 06 Nov 1994 08:50:07 GMT"], nil),
            ([.date: "x", .retryAfter: "Sun, 06 Nov 1994"], nil),
            ([.retryAfter: "-1"], nil), ([.retryAfter: "+30"], nil), ([.retryAfter: "1.5"], nil),
            ([.retryAfter: ""], nil),
            ([.retryAfter: "99999999999999999999"], nil),
        ] as [(HTTPFields, Int?)])
    func noRetryAfter(fields: HTTPFields, seconds: Int?) async throws {
        let store = try given(left: -1)
        let busy = EndpointResponse(status: .tooManyRequests, fields: fields, body: [])
        server.state.withLock { $0.faults = [(busy, false)] }
        let refresher = refresher(store)
        let error = await #expect(throws: OAuth2Error.self) { try await refresher.token("p") }
        #expect(error?.retryAfter == seconds)
        _ = try? await refresher.token("p")
        #expect(server.requestCount == 2)
    }

    @Test("Without a refresh token it is not said that a living access token has expired")
    func notExpired() async throws {
        let store = try given()
        let before = try store.get("p")
        for (expiry, says) in [(nil, false), (Given.now.advanced(bySeconds: 600), false), (Given.now, true)] {
            let tokens = TokenSet(
                accessToken: Secret("a"), receivedAt: Given.now.advanced(by: .microseconds(-1)),
                accessTokenExpiry: expiry)
            try store.put(tokens, for: before.profile, now: Given.now)
            let error = await #expect(throws: TokenRefreshError.self) { try await refresher(store).refreshed("p") }
            #expect(error?.code == .tokenExpired && error?.description.contains("expired") == says)
        }
    }

    @Test("The first ID token that a refresh brings has to be the profile's own", arguments: [true, false])
    func firstIDToken(isOwn: Bool) async throws {
        let store = try given()
        let token = RotatingServer.idToken(
            #"{"iss":"https://id.example","sub":"me","aud":"\#(isOwn ? "app" : "other")","exp":4000000000}"#)
        server.state.withLock {
            $0.faults = [(RotatingServer.reply(#"{"access_token":"a","id_token":"\#(token)"}"#), false)]
        }
        #expect(try await refresher(store).token("p").tokens.idToken == (isOwn ? Secret(token) : nil))
    }

    // MARK: - What is a loss

    @Test("A rejected grant is noted once, and not requested again until the next login")
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

    @Test("Of many that wait while the server refuses, none asks again")
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
        async let token = refresher.token("p")
        while server.requestCount == 0 { try await Task.sleep(for: .milliseconds(2)) }
        let fresh = TokenSet(
            accessToken: Secret("fresh"), receivedAt: Given.now,
            accessTokenExpiry: Given.now.advanced(bySeconds: 500))
        try store.put(fresh, for: try store.get("p").profile, now: Given.now)
        hasLoggedIn.withLock { $0 = true }
        #expect(try await token.tokens.accessToken == Secret("fresh"))
        #expect(try store.get("p").refusal == nil)
    }

    @Test("Without a refresh token or settings the error names the next step")
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

    @Test("The client's own tokens are got anew")
    func clientCredentials() async throws {
        let store = try given(refreshToken: nil, grant: .clientCredentials)
        #expect(try await refresher(store).token("p").tokens.accessToken == Secret("cc-1"))
        #expect(try store.get("p").tokens.refreshToken == nil)
    }

    @Test("A new assertion takes the place of a refresh token, and its key is kept sealed")
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

    @Test("An exchanged token is renewed by another exchange, after the login that it comes from")
    func exchange() async throws {
        let store = try given()
        func exchange(_ name: String, of subject: String, actor: String? = nil) throws {
            var settings = ProfileSettings(grant: .tokenExchange, endpoints: [.token: "https://id.example/token"])
            settings.exchange = ProfileSettings.Exchange(subject: subject, actor: actor, audiences: ["api"])
            let tokens = TokenSet(
                accessToken: Secret("old"), receivedAt: .epoch, accessTokenExpiry: Given.now)
            let id = ProfileID(issuer: "https://id.example", clientID: "app", account: "for \(name)")
            try store.put(
                tokens, for: Profile(id: id, name: name), credentials: ProfileCredentials(settings: settings),
                now: Given.now)
        }
        try exchange("api", of: "p")
        #expect(try await refresher(store).token("api").tokens.accessToken == Secret("cc-2"))
        let requests = server.state.withLock { $0.requests }
        #expect(requests.count == 2 && requests[0].contains("refresh_token=refresh-0"))
        #expect(requests[1].contains("subject_token=access-1&") && requests[1].contains("audience=api"))
        #expect(try store.get("p").tokens.accessToken == Secret("access-1"))
        // The login that it comes from is not asked for again while it is valid.
        #expect(try await refresher(store).refreshed("api").tokens.accessToken == Secret("cc-3"))
        #expect(server.state.withLock { $0.requests.last }?.contains("subject_token=access-1&") == true)
        // Neither a loop of exchanges nor a login that is gone is waited for.
        try exchange("a", of: "b")
        try exchange("b", of: "api", actor: "a")
        #expect(await code(refresher(store), "a") == .nameInvalid)
        #expect(await code(refresher(store), "b") == .nameInvalid)
        try exchange("c", of: "nowhere")
        #expect(await code(refresher(store), "c") == .tokenNotFound)
        #expect(server.requestCount == 3)
    }

    private func code(_ refresher: TokenRefresher, _ name: String) async -> SessionStoreError.Code? {
        do {
            _ = try await refresher.token(name)
            return nil
        } catch {
            return (error as? SessionStoreError)?.code
        }
    }

    @Test("An exchange that takes ever more logins is refused after 16 of them", arguments: [16, 17])
    func longChain(length: Int) throws {
        let store = try given()
        for number in 1...length {
            var settings = ProfileSettings(grant: .tokenExchange, endpoints: [:])
            settings.exchange = ProfileSettings.Exchange(subject: number == 1 ? "p" : "p\(number - 1)")
            try store.put(
                TokenSet(accessToken: Secret("t"), receivedAt: .epoch),
                for: Profile(id: ProfileID(clientID: "c\(number)"), name: "p\(number)"),
                credentials: ProfileCredentials(settings: settings), now: Given.now)
        }
        let settings = try #require(try store.credentials("p\(length)")).settings
        let error = errorCode { try store.checkExchange(settings, of: "p\(length)") }
        #expect(error == (length > 16 ? .nameInvalid : nil))
    }

    // MARK: - Several resources

    @Test("Each resource has a token of its own, and all come from one chain of refresh tokens")
    func resources() async throws {
        let store = try given(left: 3600)
        let refresher = refresher(store)
        let (first, second) = ("https://a.example/", "api://b")
        #expect(try await refresher.token("p", for: first).tokens.accessToken == Secret("access-1"))
        #expect(try await refresher.token("p", for: second).tokens.accessToken == Secret("access-2"))
        // They are kept, and the login's own token is as it was.
        #expect(try await refresher.token("p", for: first).tokens.accessToken == Secret("access-1"))
        #expect(try store.get("p").tokens.accessToken == Secret("access-0"))
        #expect(try store.get("p").tokens.refreshToken == Secret("refresh-2"))
        #expect(try store.credential("p", for: second).tokens.accessToken == Secret("access-2"))
        let requests = server.state.withLock { $0.requests }
        #expect(requests.count == 2 && requests[0].contains("&resource=https%3A%2F%2Fa.example%2F&"))
        #expect(requests[1].contains("refresh_token=refresh-1&resource=api%3A%2F%2Fb&"))
        #expect(try causes(store) == ["stored", "rotated", "refreshed", "rotated", "refreshed"])
        // The login's own refresh keeps them; a new login does not.
        #expect(try await refresher.refreshed("p").tokens.accessToken == Secret("access-3"))
        #expect(try store.get("p", for: first).tokens.accessToken == Secret("access-1"))
        let sealed = try store.database.text("SELECT resource_tokens FROM token_profile")
        #expect(!sealed.isEmpty && !sealed.contains("access-"))
        let stored = try store.get("p")
        try store.put(stored.tokens, for: stored.profile, now: Given.now)
        #expect(try store.get("p", for: first).tokens.accessToken.isEmpty)
    }

    @Test("Refreshers in many processes that want different resources use each refresh token once")
    func resourcesAtOnce() async throws {
        try given(left: 3600)
        let stores = try (0..<12).map { _ in try store() }
        let tokens = try await withThrowingTaskGroup(of: (Int, String?).self) { group in
            for (index, store) in stores.enumerated() {
                let refresher = refresher(store)
                let resource = "https://r\(index % 3).example"
                group.addTask {
                    (index % 3, try await refresher.token("p", for: resource).tokens.accessToken.exposedText)
                }
            }
            return try await group.reduce(into: [:] as [Int: Set<String?>]) { $0[$1.0, default: []].insert($1.1) }
        }
        #expect(server.requestCount == 3 && server.state.withLock { $0.isAlive })
        #expect(tokens.count == 3 && tokens.values.allSatisfy { $0.count == 1 })
    }

    @Test("A rejection of one resource loses nothing, and an invalid resource is not requested")
    func refusedResource() async throws {
        let store = try given(left: 3600)
        server.state.withLock {
            $0.faults = [(RotatingServer.reply(#"{"error":"invalid_target"}"#, .badRequest), false)]
        }
        let error = await #expect(throws: OAuth2Error.self) {
            try await refresher(store).token("p", for: "https://other.example")
        }
        #expect(error?.serverCode == "invalid_target" && server.requestCount == 1)
        #expect(try store.get("p").refusal == nil && store.lease("p", now: Given.now) == nil)
        for resource in ["", "api", "https://a/#b", "https://a b", ":x", "1:x", "h\u{e4}:x"] {
            let error = await #expect(throws: OAuth2Error.self) { try await refresher(store).token("p", for: resource) }
            #expect(error?.code == .invalidEndpoint, "\(resource)")
        }
        #expect(server.requestCount == 1)
        #expect(try await refresher(store).token("p", for: "https://a").tokens.accessToken == Secret("access-1"))
        try store.database.execute("UPDATE token_profile SET resource_tokens = access_token")
        #expect(errorCode { try store.get("p", for: "https://a") } == .valueDamaged)
        #expect(try store.get("p").tokens.accessToken == Secret("access-0"))
    }

    @Test("No more than 64 resources are remembered: the one that expires first goes")
    func manyResources() throws {
        var tokens = try #require(ResourceTokens(nil))
        for number in 0..<200 {
            let token = TokenSet(
                accessToken: Secret("t\(number)"), receivedAt: .epoch,
                accessTokenExpiry: Timestamp(microseconds: Int64(1000 - number)))
            tokens.put(token, for: "r\(number)")
        }
        let stored = try #require(ResourceTokens(try tokens.stored()))
        let none = TokenSet(accessToken: Secret("own"), receivedAt: .epoch)
        let kept = (0..<200).filter { !stored.tokens(none, for: "r\($0)").accessToken.isEmpty }
        #expect(kept == Array(0..<63) + [199])
    }

    // MARK: - What is kept

    @Test("Settings and secrets come back, and a damaged secret is one clear error")
    func credentials() throws {
        let store = try given()
        let credentials = try #require(try store.credentials("p"))
        #expect(credentials.clientSecret == Secret("client-s3cret") && credentials.proofKey == nil)
        #expect(credentials.settings.endpoints == [.token: "https://id.example/token"])
        #expect(try store.database.text("SELECT settings FROM token_profile").contains("s3cret") == false)
        try store.database.execute("UPDATE token_profile SET client_secret = access_token")
        #expect(errorCode { try store.credentials("p") } == .valueDamaged)
    }

    @Test("The journal keeps the last thousand changes, and no token")
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
