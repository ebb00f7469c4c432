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

    @Test("A token opens what it was made for, in memory as on disk", arguments: [true, false])
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

    @Test("It is 256 bits in base64url, with a prefix to find it by")
    func form() throws {
        let database = try Given.database()
        let text = try #require(try create("ci", in: database).exposedText)
        #expect(text.wholeMatch(of: /crumb_[A-Za-z0-9_-]{43}/) != nil)
        #expect(try create("other", in: database).exposedText != text)
    }

    @Test("What is nearly a token opens nothing")
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

    @Test("It ends at its time, and when it is revoked, also by another process, in the next question")
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

    @Test("A name stands for one token at a time, and for those that were revoked")
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

    @Test("The token is nowhere in the files")
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
