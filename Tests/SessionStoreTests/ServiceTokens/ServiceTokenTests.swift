import CookieModel
import Foundation
import OAuth2
import Testing

@testable import SessionStore

@Suite("Access tokens of the service")
struct ServiceTokenTests {
    private let folder = TemporaryFolder()

    private func create(
        _ name: String, in database: SessionDatabase, _ grant: AccessGrant = .everything, expiry: Timestamp? = nil
    ) throws -> Secret {
        var generator = SystemRandomNumberGenerator()
        return try database.serviceTokens.create(
            named: name, grant: grant, expiry: expiry, now: Given.now, using: &generator)
    }

    @Test("An access token grants its rights, in memory and on disk", arguments: [true, false])
    func grant(isOnDisk: Bool) throws {
        let database = try Given.database(isOnDisk ? folder.file("a.sqlite") : nil)
        let grant = AccessGrant(verbs: [.read, .secrets], jars: .named(["b", "a"]))
        let token = try create("ci", in: database, grant)
        let none = try create("none", in: database, AccessGrant(verbs: [.read], jars: .named([])))
        for _ in 0..<2 {
            #expect(try database.serviceTokens.token(token, now: Given.now)?.grant == grant)
            #expect(try database.serviceTokens.token(none, now: Given.now)?.grant.jars == .named([]))
        }
        #expect(try database.serviceTokens.all().map(\.name) == ["ci", "none"])
    }

    @Test("An access token for a jar does not cover one whose name only looks alike")
    func equivalentNames() throws {
        let database = try Given.database()
        let token = try create("ci", in: database, AccessGrant(verbs: [.read], jars: .named(["caf\u{E9}", "b"])))
        let grant = try #require(try database.serviceTokens.token(token, now: Given.now)?.grant)
        #expect(grant.covers(jar: "caf\u{E9}") && grant.covers(jar: "b"))
        #expect(!grant.covers(jar: "cafe\u{301}") && !grant.covers(jar: "c"))
    }

    @Test("An access token is 256 bits in base64url, with a prefix for searches")
    func form() throws {
        let database = try Given.database()
        let text = try #require(try create("ci", in: database).exposedText)
        #expect(text.wholeMatch(of: /crumb_[A-Za-z0-9_-]{43}/) != nil)
        #expect(try create("other", in: database).exposedText != text)
    }

    @Test("Text that is nearly an access token grants nothing")
    func near() throws {
        let database = try Given.database(folder.file("a.sqlite"))
        let token = try create("ci", in: database)
        let text = try #require(token.exposedText)
        for other in [
            "", "crumb_", String(text.dropLast()), text + "A", text.lowercased(), " " + text, "x" + text.dropFirst(),
        ] {
            #expect(try database.serviceTokens.token(Secret(other), now: Given.now) == nil, "\(other.count)")
        }
    }

    @Test("An access token is invalid after its expiry, and at once when any process revokes it")
    func ends() throws {
        let here = try Given.database(folder.file("a.sqlite"))
        let there = try Given.database(folder.file("a.sqlite"))
        let brief = try create("brief", in: here, expiry: Given.now.advanced(bySeconds: 10))
        #expect(try here.serviceTokens.token(brief, now: Given.now.advanced(bySeconds: 9)) != nil)
        #expect(try here.serviceTokens.token(brief, now: Given.now.advanced(bySeconds: 10)) == nil)
        for round in 0..<20 {
            let token = try create("t\(round)", in: there)
            #expect(try here.serviceTokens.token(token, now: Given.now) != nil)
            #expect(try there.serviceTokens.revoke(named: "t\(round)", now: Given.now))
            #expect(try here.serviceTokens.token(token, now: Given.now) == nil)
            #expect(try !there.serviceTokens.revoke(named: "t\(round)", now: Given.now))
        }
        // What else is written has nothing to do with it.
        let token = try create("last", in: there)
        try there.jar(now: Given.now).receive("a=1")
        try there.serviceTokens.noteUse(["last": Given.now])
        #expect(try here.serviceTokens.token(token, now: Given.now)?.name == "last")
    }

    @Test("The name of an access token belongs to one valid token at a time, and to revoked ones")
    func names() throws {
        let database = try Given.database(folder.file("a.sqlite"))
        let first = try create("ci", in: database)
        #expect(errorCode { try create("ci", in: database) } == .nameInvalid)
        #expect(errorCode { try create("a\nb", in: database) } == .nameInvalid)
        _ = try database.serviceTokens.revoke(named: "ci", now: Given.now)
        let second = try create("ci", in: database, AccessGrant(verbs: [.read]))
        try database.serviceTokens.noteUse(["ci": Given.now])
        #expect(try database.serviceTokens.token(first, now: Given.now) == nil)
        #expect(try database.serviceTokens.token(second, now: Given.now)?.grant == AccessGrant(verbs: [.read]))
        let all = try database.serviceTokens.all()
        #expect(all.map { $0.revocation != nil } == [true, false] && all.map { $0.lastUse != nil } == [false, true])
    }

    @Test("The database stores a token's SHA-256, and looks it up by that")
    func digest() throws {
        let database = try Given.database(folder.file("a.sqlite"))
        let token = try create("ci", in: database)
        let digest = try #require(ServiceTokenText.digest(token))
        let known = ServiceTokenText.digest(Secret("crumb_" + String(repeating: "A", count: 43)))
        #expect(
            known?.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                == "bf3f4161e8d219d6d6e1ea8c8b3d0aae1793a53086f76e095488511f070bc0b1")
        let stored = try database.read { try ServiceTokenRows(database: $0).all().map(\.digest) }
        #expect(stored == [digest])
        #expect(try database.serviceTokenCache.token(digest, in: database)?.name == "ci")
        for index in digest.bytes.indices {
            var other = digest.bytes
            other[index] ^= 1
            let found = try database.serviceTokenCache.token(ServiceTokenDigest(bytes: other), in: database)
            #expect(found == nil)
        }
    }

    @Test(
        "Digests of access tokens are compared completely, wherever they differ",
        arguments: [nil, 0, 1, 15, 31] as [Int?])
    func comparison(place: Int?) {
        let one = [UInt8](repeating: 7, count: 32)
        var other = one
        if let place { other[place] = 8 }
        var looks = 0
        let counted = one.lazy.map { octet in
            looks += 1
            return octet
        }
        #expect(ServiceTokenDigest.areEqual(counted, other) == (place == nil) && looks == 32)
        #expect((ServiceTokenDigest(bytes: one) == ServiceTokenDigest(bytes: other)) == (place == nil))
        #expect(ServiceTokenDigest(bytes: one) != ServiceTokenDigest(bytes: one + [0]))
    }

    @Test("No two access tokens have the same number, whatever their names")
    func numbers() throws {
        let database = try Given.database(folder.file("a.sqlite"))
        var numbers: Set<Int64> = []
        for _ in 0..<3 {
            let token = try create("ci", in: database)
            numbers.insert(try #require(try database.serviceTokens.token(token, now: Given.now)).id)
            _ = try database.serviceTokens.revoke(named: "ci", now: Given.now)
        }
        #expect(numbers.count == 3)
    }

    @Test("An access token is not in the files of the database", .onlyOnSQLite("a server has no files here"))
    func secrecy() throws {
        let text = try {
            let database = try Given.database(folder.file("a.sqlite"))
            let token = try create("ci", in: database)
            _ = try database.serviceTokens.token(token, now: Given.now)
            return try #require(token.exposedText)
        }()
        let files = try folder.contents()
        #expect(!files.isEmpty && SecretSearch(secrets: [text]).findings(in: files).isEmpty)
    }
}
