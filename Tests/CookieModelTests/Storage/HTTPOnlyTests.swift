import Testing

@testable import CookieModel

@Suite("HttpOnly cookies and scripts (section 5.7, steps 14, 15 and 23.2)")
struct HTTPOnlyTests {
    @Test("A script sets no HttpOnly cookie and sees none")
    func scripts() throws {
        var session = Session()
        #expect(try session.set("a=1; HttpOnly", via: .script) == "rejected: http-only-from-script")
        #expect(try session.set("a=1; HttpOnly") == "stored")
        #expect(try session.set("b=2", via: .script) == "stored")
        #expect(try session.sent(via: .script) == "b=2")
        #expect(try session.kept(from: "https://example.com/", via: .script) == ["a: http-only"])
        #expect(try session.sent() == "a=1; b=2")
    }

    @Test(
        "A script neither replaces nor deletes an HttpOnly cookie",
        arguments: [
            "a=2", "a=; Max-Age=0", "a=2; Path=/", "a=2; Secure; SameSite=None",
        ] as [Octets])
    func noReplacement(line: Octets) throws {
        var session = Session()
        try session.set("a=1; HttpOnly")
        #expect(try session.set(line, via: .script) == "rejected: overwrite-http-only")
        #expect(try session.sent() == "a=1")
        #expect(try session.set(line) != "rejected: overwrite-http-only")
    }

    @Test("A script that sets HttpOnly over HttpOnly breaks two rules")
    func both() throws {
        var session = Session()
        try session.set("a=1; HttpOnly")
        #expect(
            try session.set("a=2; HttpOnly", via: .script) == "rejected: http-only-from-script, overwrite-http-only")
    }

    @Test(
        "A script may set a cookie of another ID beside it",
        arguments: [
            "a=2; Path=/b", "a=2; Domain=example.com", "A=2", "a=2; Secure; Partitioned",
        ] as [Octets])
    func besides(line: Octets) throws {
        var session = Session()
        try session.set("a=1; HttpOnly")
        #expect(try session.set(line, via: .script) == "stored")
    }

    @Test("A response replaces in both directions")
    func responses() throws {
        var session = Session()
        try session.set("a=1", via: .script)
        #expect(try session.set("a=2; HttpOnly") == "replaced")
        #expect(try session.sent(via: .script) == "")
        #expect(try session.set("a=3") == "replaced")
        #expect(try session.sent(via: .script) == "a=3")
    }

    @Test("An HttpOnly cookie that has run out hinders no script")
    func expired() throws {
        var session = Session()
        try session.set("a=1; HttpOnly; Max-Age=60")
        session.advance(bySeconds: 61)
        #expect(try session.set("a=2", via: .script) == "stored")
    }
}
