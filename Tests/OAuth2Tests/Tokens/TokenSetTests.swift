import HTTPTypes
import OAuth2
import Testing

@Suite("TokenSet")
struct TokenSetTests {
    private func tokens(_ expiry: Timestamp?, receivedAt: Timestamp = after(-3600)) -> TokenSet {
        TokenSet(accessToken: Secret("a"), receivedAt: receivedAt, accessTokenExpiry: expiry)
    }

    @Test(
        "A token set reports whether the access token can be used, with a skew of a minute",
        arguments: [
            (nil, .unknown),
            (after(3600), .valid), (after(61), .valid), (after(60).advanced(by: .microseconds(1)), .valid),
            (after(60), .due), (after(1), .due), (now.advanced(by: .microseconds(1)), .due),
            (now, .expired), (now.advanced(by: .microseconds(-1)), .expired), (after(-3600), .expired),
            (.distantFuture, .valid), (.distantPast, .expired), (.epoch, .expired),
        ] as [(Timestamp?, TokenValidity)])
    func validity(_ expiry: Timestamp?, _ expected: TokenValidity) {
        #expect(tokens(expiry).validity(at: now) == expected)
    }

    @Test(
        "A token set accepts any skew",
        arguments: [
            (.zero, .valid), (.seconds(-5), .valid), (.seconds(99), .valid), (.seconds(100), .due),
            (.microseconds(99_999_999), .valid), (.milliseconds(100_000), .due), (.seconds(Int64.max), .due),
            (.seconds(Int64.min), .valid),
        ] as [(Duration, TokenValidity)])
    func skew(_ skew: Duration, _ expected: TokenValidity) {
        #expect(tokens(after(100)).validity(at: now, skew: skew) == expected)
    }

    @Test(
        "A token set is not due in the first half of a lifetime that is shorter than the skew",
        arguments: [(0, .valid), (14, .valid), (15, .due), (29, .due), (30, .expired)] as [(Int64, TokenValidity)])
    func shortLife(_ age: Int64, _ expected: TokenValidity) {
        #expect(tokens(after(30), receivedAt: now).validity(at: after(age)) == expected)
    }

    @Test(
        "A token set does not overflow at the earliest and latest times",
        arguments: [.distantPast, .epoch, now, .distantFuture] as [Timestamp],
        [.distantPast, .epoch, .distantFuture] as [Timestamp])
    func extremes(_ moment: Timestamp, _ expiry: Timestamp) {
        for receivedAt in [Timestamp.distantPast, .epoch, .distantFuture] {
            let validity = tokens(expiry, receivedAt: receivedAt).validity(at: moment, skew: .seconds(60))
            #expect((validity == .expired) == (moment >= expiry))
        }
    }

    @Test("A token set can be refreshed with a refresh token that has not expired")
    func refreshable() {
        var tokens = tokens(after(60))
        #expect(!tokens.isRefreshable(at: now))
        tokens.refreshToken = Secret("r")
        #expect(tokens.isRefreshable(at: now))
        tokens.refreshTokenExpiry = after(1)
        #expect(tokens.isRefreshable(at: now))
        #expect(!tokens.isRefreshable(at: after(1)))
    }

    @Test(
        "A token set can be refreshed until its refresh token or its grant ends, whichever is earlier",
        arguments: [(nil, 5), (5, nil), (5, 9), (9, 5), (5, 5)] as [(Int64?, Int64?)])
    func refreshable(_ refreshToken: Int64?, _ grant: Int64?) {
        var tokens = tokens(after(60))
        tokens.refreshToken = Secret("r")
        (tokens.refreshTokenExpiry, tokens.grantExpiry) = (refreshToken.map(after), grant.map(after))
        #expect(tokens.isRefreshable(at: after(4)) && !tokens.isRefreshable(at: after(5)))
    }

    @Test(
        "A token set presents a Bearer token in a field that is never indexed",
        arguments: ["Bearer", "bearer", "BEARER"])
    func authorization(_ type: String) {
        var tokens = tokens(nil)
        tokens.accessToken = Secret("mF_9.B5f-4.1JqM")
        tokens.tokenType = TokenType(type)
        let field = tokens.exposedAuthorizationField
        #expect(field?.name == .authorization)
        #expect(field?.value == "Bearer mF_9.B5f-4.1JqM")
        #expect(field?.indexingStrategy == .disallow)
    }

    @Test("A token set presents no token of another type, nor one that would be changed in transit")
    func noAuthorization() {
        for type in ["DPoP", "mac", "N_A", ""] {
            var tokens = tokens(nil)
            tokens.tokenType = TokenType(type)
            #expect(tokens.exposedAuthorizationField == nil)
        }
        for token in ["", "a b", "a\r\nX: y", "é", "a\u{0}"] {
            let tokens = TokenSet(accessToken: Secret(token), receivedAt: now)
            #expect(tokens.exposedAuthorizationField == nil)
        }
    }

    @Test("Token types are compared without case")
    func tokenTypes() {
        #expect(TokenType("bearer") == .bearer)
        #expect(TokenType("dpop") == .dpop)
        #expect(TokenType("bearer") != .dpop)
        #expect(Set([TokenType("Bearer"), TokenType("BEARER")]).count == 1)
        #expect("\(TokenType("bEARER"))" == "bEARER")
    }
}

@Suite("Scopes")
struct ScopesTests {
    @Test(
        "Scopes are divided at spaces, and at commas if there is no space",
        arguments: [
            ("", []), ("   ", []), ("read", ["read"]), ("read write", ["read", "write"]),
            ("  read \t write\r\n", ["read", "write"]), ("repo,gist", ["repo", "gist"]),
            ("a,b c", ["a,b", "c"]), ("read read", ["read"]), ("Read read", ["Read", "read"]),
            ("openid https://api.example/x", ["openid", "https://api.example/x"]),
            ("ok b\"ad b\\ad bäd", ["ok"]),
        ] as [(String, [String])])
    func parsing(_ text: String, _ expected: [String]) {
        #expect(Scopes(parsing: text).values == expected)
    }

    @Test("Scopes are a set without an order")
    func sets() {
        #expect(Scopes(parsing: "a b") == ["b", "a"])
        #expect(Scopes(parsing: "a b").hashValue == Scopes(parsing: "b a").hashValue)
        #expect(Scopes(parsing: "a") != ["a", "b"])
        #expect(Scopes(parsing: "b a").description == "b a")
        #expect(Scopes(parsing: "b a").contains("a"))
        #expect(!Scopes(parsing: "b a").contains("A"))
    }
}

@Suite("Profile")
struct ProfileTests {
    @Test("A profile's identity depends only on issuer, client and account")
    func identity() {
        let alice = ProfileID(issuer: "https://issuer.example", clientID: "app", account: "alice")
        var bob = alice
        bob.account = "bob"
        #expect(alice != bob)
        #expect(ProfileID() == ProfileID(issuer: "", clientID: "", account: ""))
        #expect(ProfileID(issuer: "https://issuer.example/") != ProfileID(issuer: "https://issuer.example"))
        #expect(Profile(id: alice, name: "work").id == Profile(id: alice, name: "home").id)
    }
}
