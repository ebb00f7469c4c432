import CookieModel
import HTTPTypes
import OAuth2
import Synchronization
import Testing

@testable import SessionStore

/// Answers of a server that lose nothing.
extension TokenRefresherTests {
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

    @Test("A failed refresh is a clear error, loses nothing and reveals nothing", arguments: faults.indices)
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

    @Test("A failed refresh returns a token that is still valid", arguments: faults.indices)
    func stillAlive(index: Int) async throws {
        let store = try given(left: 30)
        server.state.withLock { $0.faults = [(TokenRefresherTests.faults[index].1, false)] }
        #expect(try await refresher(store).token("p").tokens.accessToken == Secret("access-0"))
    }

    @Test(
        "A rotated refresh token is stored even if the rest of the reply is damaged",
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
        "An error states the server's pause in a suitable unit, and does not repeat an absurd one",
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
        "A retry time of the server that is past or invalid causes no delay",
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

    @Test("The error for a missing refresh token does not call a valid access token expired")
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

    @Test("A quarantined login is used while it is valid, and is renewed only on request")
    func quarantined() async throws {
        let store = try given(left: 30)
        try store.put(
            TokenSet(accessToken: Secret("a"), receivedAt: Given.now),
            for: Profile(id: ProfileID(issuer: "https://other.example"), name: "q"), now: Given.now)
        #expect(try store.quarantine(now: Given.now) == ["p"])
        #expect(try store.quarantine(now: Given.now) == [])
        #expect(try await refresher(store).token("p").tokens.accessToken == Secret("access-0"))
        #expect(try await refresher(store).token("q").tokens.accessToken == Secret("a"))
        let late = refresher(store, now: Given.now.advanced(bySeconds: 31))
        let error = await #expect(throws: TokenRefreshError.self) { try await late.token("p") }
        #expect(error?.code == .loginRequired)
        let renewal = await #expect(throws: TokenRefreshError.self) {
            try await late.renewed("p", insteadOf: Secret("access-0"))
        }
        #expect(renewal?.code == .loginRequired && server.requestCount == 0)
        #expect(try await late.refreshed("p").tokens.accessToken == Secret("access-1"))
        #expect(try await late.token("p").tokens.accessToken == Secret("access-1"))
        #expect(server.requestCount == 1)
        #expect(try causes(store) == ["stored", "stored", "quarantined", "rotated", "refreshed"])
    }
}
