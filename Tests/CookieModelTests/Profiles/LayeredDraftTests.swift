import Testing

@testable import CookieModel

/// Where the text of draft-ietf-httpbis-layered-cookies is not followed, in any profile: docs/profiles.md says why.
@Suite("The parts of the layered-cookies draft that are not followed")
struct LayeredDraftTests {
    static let profiles: [CookieProfile] = [.rfc6265bis, .browser]

    @Test("__Http- asks for HttpOnly, not against it")
    func invertedHTTPOnly() throws {
        var session = Session(profile: .browser)
        #expect(try session.set("__Http-a=1; Secure; HttpOnly") == "stored")
        #expect(try session.set("__Http-b=1; Secure") == "rejected: prefix-http")
        #expect(try session.set("__Host-Http-a=1; Secure; HttpOnly; Path=/") == "stored")
        #expect(try session.set("__Host-Http-b=1; Secure; Path=/") == "rejected: prefix-http")
    }

    @Test("Max-Age takes precedence over Expires, wherever it is", arguments: profiles)
    func maxAgeSeen(profile: CookieProfile) throws {
        let expires: Octets = "; Expires=Sat, 21 Nov 2026 01:00:00 GMT"
        let maxAge: Octets = "; Max-Age=60"
        for line in [maxAge + expires, expires + maxAge, maxAge + expires + expires] as [Octets] {
            var session = Session(profile: profile)
            #expect(try session.set("a=1" + line) == "stored")
            #expect(session.store.cookies.map(\.expiry) == [session.now.advanced(bySeconds: 60)])
        }
        // An Expires that is over does not delete what Max-Age keeps.
        var session = Session(profile: profile)
        #expect(try session.set("a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT") == "stored")
    }

    @Test("A cookie with the flags and lifetime of the stored one is not dropped", arguments: profiles)
    func unchangedCookie(profile: CookieProfile) throws {
        var session = Session(profile: profile)
        try session.set("a=1; Max-Age=60; Secure; SameSite=Lax; HttpOnly")
        #expect(try session.set("a=2; Max-Age=60; Secure; SameSite=Lax") == "replaced")
        #expect(try session.sent() == "a=2")
        #expect(session.store.cookies.map(\.isHTTPOnly) == [false])
        #expect(try session.set("b=1") == "stored")
        #expect(try session.set("b=2; HttpOnly") == "replaced")
        #expect(try session.sent(via: .script) == "a=2")
    }

    @Test("An empty Domain makes a host-only cookie", arguments: profiles)
    func emptyDomain(profile: CookieProfile) throws {
        for line in ["a=1; Domain=", "a=1; Domain", "a=1; Domain=example.com; Domain="] as [Octets] {
            var session = Session(profile: profile)
            #expect(try session.set(line, at: "https://www.example.com/") == "stored")
            #expect(session.store.cookies.map(\.isHostOnly) == [true])
        }
    }

    @Test("Longer paths go first by octets, not by segments", arguments: profiles)
    func pathOrder(profile: CookieProfile) throws {
        var session = Session(profile: profile)
        try session.set("segments=1; Path=/a/")
        try session.set("octets=1; Path=/a/b")
        try session.set("root=1; Path=/")
        #expect(try session.sent(to: "https://example.com/a/b/c") == "octets=1; segments=1; root=1")
    }
}
