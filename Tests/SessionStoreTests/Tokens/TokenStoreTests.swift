import CookieModel
import OAuth2
import Testing

@testable import SessionStore

@Suite("Tokens")
struct TokenStoreTests {
    private let folder = TemporaryFolder()
    private let later = Given.now.advanced(bySeconds: 60)

    private func tokens(_ text: String, refresh: String? = "refresh", scopes: Scopes? = ["b", "a"]) -> TokenSet {
        TokenSet(
            accessToken: Secret(text), tokenType: TokenType("DPoP"), refreshToken: refresh.map { Secret($0) },
            idToken: Secret("id.\(text)"), scopes: scopes, receivedAt: Given.now,
            accessTokenExpiry: Given.now.advanced(by: .microseconds(5)), refreshTokenExpiry: nil,
            grantExpiry: Given.now.advanced(by: .microseconds(7)))
    }

    private func profile(_ name: String, issuer: String = "", account: String = "") -> Profile {
        Profile(id: ProfileID(issuer: issuer, clientID: issuer.isEmpty ? "" : "client", account: account), name: name)
    }

    @Test("A token set is read unchanged, even after a restart")
    func roundTrip() throws {
        let path = folder.file("crumb.sqlite")
        let sets = [
            tokens("one"), tokens("two", refresh: nil, scopes: nil),
            TokenSet(
                accessToken: Secret(""), scopes: [], receivedAt: .distantPast, accessTokenExpiry: .distantFuture,
                refreshTokenExpiry: Timestamp(microseconds: 0),
                grantExpiry: .distantFuture),
            tokens(String(repeating: "long", count: 50_000)),
        ]
        for (index, set) in sets.enumerated() {
            #expect(
                try Given.database(path).tokens.put(
                    set, for: profile("p\(index)", issuer: "https://i", account: "\(index)"), now: Given.now))
        }
        let store = try Given.database(path).tokens
        for (index, set) in sets.enumerated() {
            let stored = try store.get("p\(index)")
            #expect(stored.tokens == set)
            #expect(stored.profile == profile("p\(index)", issuer: "https://i", account: "\(index)"))
            #expect(stored.generation == 1 && stored.creation == Given.now)
        }
        #expect(try store.all().map { try $0.get().profile.name } == ["p0", "p1", "p2", "p3"])
    }

    @Test("A second token set replaces the first completely")
    func replaced() throws {
        let store = try Given.database().tokens
        try store.put(tokens("one"), for: profile("p"), now: Given.now)
        let second = TokenSet(accessToken: Secret("two"), receivedAt: later)
        try store.put(second, for: profile("p", issuer: "https://i"), now: later)
        let stored = try store.get("p")
        #expect(stored.tokens == second && stored.generation == 2 && stored.creation == Given.now)
        #expect(stored.profile.id.issuer == "https://i")
        #expect(try store.all().count == 1)
    }

    @Test("A rotated refresh token has its own expiry, and the grant keeps its own")
    func rotated() throws {
        let store = try Given.database().tokens
        var first = tokens("one")
        first.refreshTokenExpiry = later
        try store.put(first, for: profile("p"), now: Given.now)
        #expect(
            try store.rotate(
                Secret("next"), of: "p", for: first.refreshToken, expectedGeneration: 1, now: later) == 2)
        let stored = try store.get("p").tokens
        #expect(stored.refreshToken == Secret("next") && stored.refreshTokenExpiry == nil)
        #expect(stored.grantExpiry == first.grantExpiry)
    }

    @Test("A token write that expects another generation writes nothing")
    func compareAndSwap() throws {
        let store = try Given.database().tokens
        #expect(try !store.put(tokens("none"), for: profile("p"), expectedGeneration: 1, now: Given.now))
        #expect(errorCode { try store.get("p") } == .tokenNotFound)
        try store.put(tokens("one"), for: profile("p"), now: Given.now)
        #expect(try store.put(tokens("two"), for: profile("p"), expectedGeneration: 1, now: Given.now))
        for stale in [0, 1, 3, .max] as [Int64] {
            #expect(try !store.put(tokens("three"), for: profile("p"), expectedGeneration: stale, now: Given.now))
        }
        #expect(try store.get("p").tokens == tokens("two") && store.get("p").generation == 2)
    }

    @Test("Of many writers that replace the same generation of tokens at once, one wins")
    func race() throws {
        let path = folder.file("crumb.sqlite")
        try Given.database(path).tokens.put(tokens("first"), for: profile("p"), now: Given.now)
        for generation in 1...5 as ClosedRange<Int64> {
            let won = try onThreads(6) { index in
                try Given.database(path, busyTimeout: 120).tokens.put(
                    tokens("by \(index)"), for: profile("p"), expectedGeneration: generation, now: Given.now)
            }
            #expect(won.filter { $0 }.count == 1)
            let winner = try #require(won.firstIndex(of: true))
            let stored = try Given.database(path).tokens.get("p")
            #expect(stored.tokens == tokens("by \(winner)") && stored.generation == generation + 1)
        }
    }

    @Test("`remove` returns whether the token existed")
    func remove() throws {
        let store = try Given.database().tokens
        try store.put(tokens("one"), for: profile("p"), now: Given.now)
        try store.put(tokens("two"), for: profile("q"), now: Given.now)
        #expect(try store.remove("p", now: Given.now))
        #expect(try !store.remove("p", now: Given.now))
        #expect(errorCode { try store.get("p") } == .tokenNotFound)
        #expect(try store.get("q").tokens == tokens("two"))
        try store.put(tokens("three"), for: profile("p"), now: later)
        #expect(try store.get("p").generation == 1 && store.get("p").creation == later)
    }

    @Test("An issuer, client and account have one profile name, which the error states")
    func sameAuthorization() throws {
        let store = try Given.database().tokens
        try store.put(tokens("one"), for: profile("p", issuer: "https://i", account: "me"), now: Given.now)
        try store.put(tokens("two"), for: profile("q", issuer: "https://i", account: "you"), now: Given.now)
        try store.put(tokens("three"), for: profile("p", issuer: "https://i", account: "me"), now: Given.now)
        let error = #expect(throws: SessionStoreError.self) {
            try store.put(tokens("four"), for: profile("r", issuer: "https://i", account: "me"), now: Given.now)
        }
        #expect(error?.code == .nameInvalid && error?.description.contains("'p'") == true)
        #expect(errorCode { try store.get("r") } == .tokenNotFound)
        #expect(try store.get("p").tokens == tokens("three"))
    }

    @Test("Tokens without a known issuer can have any number of profile names")
    func unknownIssuer() throws {
        let store = try Given.database().tokens
        for name in ["a", "b", "ü \u{1F511}", "x' OR '1'='1"] {
            try store.put(tokens(name), for: profile(name), now: Given.now)
        }
        for name in ["a", "b", "ü \u{1F511}", "x' OR '1'='1"] { #expect(try store.get(name).tokens == tokens(name)) }
    }

    @Test(
        "Names that cannot be typed are rejected",
        arguments: ["", "a\nb", "\u{0}", String(repeating: "x", count: 101)])
    func names(name: String) throws {
        let store = try Given.database().tokens
        #expect(errorCode { try store.put(tokens("t"), for: profile(name), now: Given.now) } == .nameInvalid)
        #expect(errorCode { try store.get(name) } == .nameInvalid)
        #expect(try !store.remove(name, now: Given.now))
    }
}
