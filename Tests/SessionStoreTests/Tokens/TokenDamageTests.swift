import CookieModel
import OAuth2
import Testing

@testable import SessionStore

@Suite("Tampered tokens")
struct TokenDamageTests {
    private func store() throws -> TokenStore {
        let store = try Given.database().tokens
        for name in ["p", "q"] {
            try store.put(
                TokenSet(
                    accessToken: Secret("access \(name)"), refreshToken: Secret("refresh \(name)"),
                    idToken: Secret("id \(name)"), receivedAt: .epoch),
                for: Profile(id: ProfileID(), name: name), now: Given.now)
        }
        return store
    }

    @Test(
        "Tampered tokens are a clear error that names them, and the others can be read",
        arguments: [
            "UPDATE token_profile SET access_token = x'00' WHERE name = 'p'",
            "UPDATE token_profile SET access_token = x'' WHERE name = 'p'",
            "UPDATE token_profile SET refresh_token = substr(refresh_token, 2) WHERE name = 'p'",
            "UPDATE token_profile SET id_token = access_token WHERE name = 'p'",
            "UPDATE token_profile SET access_token = refresh_token WHERE name = 'p'",
            """
            UPDATE token_profile SET access_token = (SELECT access_token FROM token_profile WHERE name = 'q')
            WHERE name = 'p'
            """,
            "UPDATE token_profile SET id = 77 WHERE name = 'p'",
        ])
    func damaged(sql: String) throws {
        let store = try store()
        try store.database.execute(sql)
        let error = #expect(throws: SessionStoreError.self) { try store.get("p") }
        #expect(error?.code == .valueDamaged && error?.subject == "p")
        #expect(try store.get("q").tokens.accessToken == Secret("access q"))
        let all = try store.all()
        #expect(all.count == 2)
        #expect(errorCode { try all[0].get() } == .valueDamaged)
        #expect(try all[1].get().profile.name == "q")
    }

    @Test("Every flipped bit of a token is detected")
    func everyBit() throws {
        let store = try store()
        let sealed = try store.database.blob("SELECT refresh_token FROM token_profile WHERE name = 'p'")
        for bit in 0..<(sealed.count * 8) {
            var changed = sealed
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            try store.database.execute("UPDATE token_profile SET refresh_token = ? WHERE name = 'p'", changed)
            #expect(errorCode { try store.get("p") } == .valueDamaged, "bit \(bit)")
        }
    }

    @Test("A new import repairs tampered tokens")
    func mended() throws {
        let store = try store()
        try store.database.execute("UPDATE token_profile SET access_token = x'00' WHERE name = 'p'")
        let tokens = TokenSet(accessToken: Secret("new"), receivedAt: .epoch)
        try store.put(tokens, for: Profile(id: ProfileID(), name: "p"), now: Given.now)
        #expect(try store.get("p").tokens == tokens)
    }

    @Test("Tampered tokens can be removed")
    func removed() throws {
        let store = try store()
        try store.database.execute("UPDATE token_profile SET access_token = x'00' WHERE name = 'p'")
        #expect(try store.remove("p", now: Given.now))
        #expect(try store.all().count == 1)
    }
}
