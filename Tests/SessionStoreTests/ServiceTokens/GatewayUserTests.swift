import OAuth2
import Testing

@testable import SessionStore

@Suite("Users of a gateway")
struct GatewayUserTests {
    private func secret() throws -> (text: String, hash: GatewaySecretHash) {
        var generator = SystemRandomNumberGenerator()
        let (secret, hash) = GatewaySecretHash.newSecret(using: &generator)
        return (try #require(secret.exposedText), hash)
    }

    @Test("A secret has 256 random bits, and only its hash is written")
    func secrets() throws {
        let (text, hash) = try secret()
        #expect(text.wholeMatch(of: /crumb_[A-Za-z0-9_-]{43}/) != nil)
        #expect(try secret().text != text)
        #expect(hash.text.wholeMatch(of: /[0-9a-f]{64}/) != nil)
        #expect(GatewaySecretHash(hash.text) == hash)
        #expect(GatewaySecretHash(of: Secret(text)) == hash)
        #expect(GatewaySecretHash(of: Secret(String(text.dropLast()))) == nil)
        #expect(GatewaySecretHash(of: Secret("password")) == nil)
    }

    @Test("Text that is not a hash is not read", arguments: ["", "0", "crumb_", String(repeating: "g", count: 64)])
    func hashes(text: String) {
        #expect(GatewaySecretHash(text) == nil)
        #expect(GatewaySecretHash(String(repeating: "0", count: 62)) == nil)
        #expect(GatewaySecretHash(String(repeating: "0", count: 66)) == nil)
    }

    @Test(
        "A name has only characters that all clients encode in the same way",
        arguments: [
            ("anna", true), ("Anna.B-1_x", true), (String(repeating: "a", count: 64), true), ("", false),
            (String(repeating: "a", count: 65), false), ("a:b", false), ("a b", false), ("a@b", false), ("ä", false),
            ("\u{212A}", false), ("a\n", false), ("a%41", false),
        ])
    func names(name: String, isValid: Bool) throws {
        let jar = try Given.database().jar(named: "work", now: Given.now)
        let hash = try secret().hash
        let user = try? GatewayUser(name: name, jar: jar, secret: hash)
        #expect((user != nil) == isValid)
        do {
            _ = try GatewayUser(name: name, jar: jar, secret: hash)
        } catch {
            #expect(error.code == .nameInvalid && !isValid)
        }
    }
}
