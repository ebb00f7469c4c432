import CookieModel
import HTTPTypes
import OAuth2
import Synchronization
import Testing

@testable import SessionStore

/// ID tokens that a refresh brings, or does not.
extension TokenRefresherTests {
    @Test(
        "An ID token of another login that comes with a refresh is not stored; the other tokens are",
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
        "A refreshed ID token that names its own algorithm, or another access token, is not stored",
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
        "A refreshed ID token that no key of the server has signed is not stored; unavailable keys cause no delay",
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

    @Test(
        "A server without ID tokens at refreshes is asked once while the old one is valid, and then a login is needed")
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
        #expect(server.requestCount == 1)
    }

    @Test("The error for a login without an ID token differs from that for an ended one")
    func noIDToken() async throws {
        let store = try given(left: 3600)
        await #expect {
            try await refresher(store).idToken("p")
        } throws: { error in
            (error as? TokenRefreshError)?.code == .settingsMissing && "\(error)".contains("openid")
        }
        #expect(server.requestCount == 0)
    }

    @Test("The first ID token that a refresh returns has to belong to the profile", arguments: [true, false])
    func firstIDToken(isOwn: Bool) async throws {
        let store = try given()
        let token = RotatingServer.idToken(
            #"{"iss":"https://id.example","sub":"me","aud":"\#(isOwn ? "app" : "other")","exp":4000000000}"#)
        server.state.withLock {
            $0.faults = [(RotatingServer.reply(#"{"access_token":"a","id_token":"\#(token)"}"#), false)]
        }
        #expect(try await refresher(store).token("p").tokens.idToken == (isOwn ? Secret(token) : nil))
    }
}
