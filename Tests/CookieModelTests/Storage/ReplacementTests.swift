import Testing

@testable import CookieModel

@Suite("Replacement and identity (section 5.7, steps 23 and 24)")
struct ReplacementTests {
    @Test(
        "Name, domain, host-only-flag, path and partition make a cookie the same one",
        arguments: [
            ("a=2", "replaced"), ("a=2; Path=/", "replaced"), ("a=2; Secure; HttpOnly; SameSite=Strict", "replaced"),
            ("a=2; Max-Age=60", "replaced"), (" a = 2 ", "replaced"),
            ("A=2", "stored"), ("a=2; Path=/b", "stored"), ("a=2; Path=//", "stored"),
            ("a=2; Domain=example.com", "stored"),
            ("a=2; Secure; Partitioned", "stored"), ("2", "stored"),
        ] as [(Octets, String)])
    func identity(line: Octets, outcome: String) throws {
        var session = Session()
        try session.set("a=1")
        #expect(try session.set(line) == outcome)
        #expect(session.store.count == (outcome == "replaced" ? 1 : 2))
    }

    @Test("A replaced cookie keeps its creation-time and its place, and takes all else anew")
    func creation() throws {
        var session = Session()
        try session.set("a=1; HttpOnly; Max-Age=60")
        try session.set("b=1")
        session.advance(bySeconds: 10)
        #expect(try session.set("a=2; Secure; SameSite=Strict") == "replaced")
        let cookie = try #require(session.store.cookies.first { $0.name == "a" })
        #expect(cookie.creation == Session.start)
        #expect(cookie.lastAccess == session.now)
        #expect((cookie.value, cookie.isSecure, cookie.isHTTPOnly, cookie.sameSite) == ("2", true, false, .strict))
        #expect(cookie.expiry == nil)
        #expect(try session.sent() == "a=2; b=1")
    }

    @Test("A cookie that was deleted, or has run out, begins anew")
    func anew() throws {
        var session = Session()
        for line in ["a=1", "b=1", "a=; Max-Age=0", "a=2"] as [Octets] { try session.set(line) }
        #expect(try session.sent() == "b=1; a=2")
        try session.set("c=1; Max-Age=10")
        session.advance(bySeconds: 11)
        #expect(try session.set("c=2") == "stored")
        #expect(session.store.cookies.first { $0.name == "c" }?.creation == session.now)
    }

    @Test("The ports and schemes of a host share its cookies")
    func ports() throws {
        var session = Session()
        try session.set("a=1", at: "https://example.com:8443/")
        #expect(try session.set("a=2", at: "http://example.com/") == "replaced")
        #expect(try session.sent(to: "ws://example.com:81/") == "a=2")
    }

    @Test(
        "The spellings of a host are one host",
        arguments: [
            ("https://EXAMPLE.com/", "https://example.COM/"), ("https://bücher.de/", "https://xn--bcher-kva.de/"),
            ("https://127.1/", "https://0x7f000001/"), ("https://[0:0::1]/", "https://[::1]/"),
            ("https://ex%61mple.com/", "https://example.com/"),
        ])
    func hosts(first: String, second: String) throws {
        var session = Session()
        try session.set("a=1", at: first)
        #expect(try session.set("a=2", at: second) == "replaced")
    }

    @Test(
        "A rejected line changes nothing",
        arguments: [
            "a=2; Domain=other.com", "a=\u{1}", "a=2; SameSite=None", "a=; Max-Age=0; Domain=other.com",
        ] as [Octets])
    func rejected(line: Octets) throws {
        var session = Session()
        try session.set("a=1")
        #expect(try session.set(line).hasPrefix("rejected"))
        #expect(try session.sent() == "a=1")
    }

    @Test("A decision names the cookie that goes out")
    func previous() throws {
        var session = Session()
        try session.set("a=1")
        let context = try Request("https://example.com/").context
        let replaced = session.store.receive("a=2", in: context, now: session.now)
        #expect((replaced.previous?.value, replaced.cookie?.value) == ("1", "2"))
        let deleted = session.store.receive("a=3; Max-Age=0", in: context, now: session.now)
        #expect((deleted.outcome, deleted.previous?.value) == (.deleted, "2"))
        let nothing = session.store.receive("a=3; Max-Age=0", in: context, now: session.now)
        #expect((nothing.outcome, nothing.previous) == (.deleted, nil))
    }

    @Test(
        "A cookie that a response sets or deletes replaces those known from requests",
        arguments: [
            ("sid=2", 10, "/app/x", "replaced sid=2"),
            ("sid=2; Domain=example.com", 10, "/app/x", "stored sid=2"),
            ("sid=2; Domain=www.example.com", 10, "/app/x", "stored sid=2"),
            ("sid=2; Path=/app", 10, "/app/x", "stored sid=2"),
            ("sid=2; Path=/app/x", 10, "/app/x", "stored sid=2"),
            ("sid=2; Path=/other", 10, "/app/x", "stored sid=1"),
            ("other=2", 10, "/app/x", "stored sid=1; other=2"),
            // What is set counts whenever it was; a deletion only for what was told before.
            ("sid=2; Domain=example.com", -10, "/app/x", "stored sid=2"),
            ("sid=; Domain=example.com; Max-Age=0", 10, "/app/x", "deleted "),
            ("sid=; Max-Age=0", 10, "/app/x", "deleted "),
            ("sid=; Path=/app; Max-Age=0", 10, "/app/x", "deleted "),
            ("sid=; Path=/app; Max-Age=0", 10, "/", "deleted sid=1"),
            ("sid=; Max-Age=0", -10, "/app/x", "deleted sid=1"),
            ("sid=; Domain=example.com; Max-Age=0", -10, "/app/x", "deleted sid=1"),
        ])
    func ofRequests(line: String, delay: Int64, path: String, expected: String) throws {
        var session = Session()
        var record = CookieRecord(
            name: "sid", value: "1", domain: "www.example.com", isHostOnly: true, isSecure: true, isHTTPOnly: true)
        record.request = CookieRequest(time: session.now, path: Octets(path))
        session.store.receive(record, now: session.now)
        let response = ReceivedResponse(
            context: try Request("https://www.example.com/").context, status: 200,
            setCookie: [Octets(line + (line.contains("Path") ? "" : "; Path=/"))])
        let decision = session.store.receive(
            response, at: session.now.advanced(bySeconds: delay), now: session.now.advanced(bySeconds: 20))
        let sent = try session.sent(to: "https://www.example.com/app/x")
        #expect("\(decision[0].outcome.rawValue) \(sent)" == expected)
        #expect(
            session.store.count
                == (sent.isEmpty ? 0 : line.contains("Path=/other") ? 2 : sent.split(separator: ";").count))
    }

    @Test("Cookies known from requests are evicted first and displace nothing")
    func evictionOfRequests() throws {
        var policy = CookiePolicy()
        policy.limits.domainCookies = 3
        policy.limits.totalCookies = 4
        var session = Session(policy)
        func tell(_ name: String) -> [String] {
            var record = CookieRecord(
                name: Octets(name), value: "1", domain: "example.com", isHostOnly: true, isSecure: true)
            record.request = CookieRequest(time: session.now, path: "/")
            session.advance(bySeconds: 1)
            return session.store.receive(record, now: session.now).evicted.map(\.cookie.name.description)
        }
        try session.set("a=1")
        #expect(tell("x") == [] && tell("y") == [] && tell("z") == ["x"])
        session.advance(bySeconds: 1)
        let context = try Request("https://example.com/").context
        for (name, gone) in [("b", ["y"]), ("c", ["z"]), ("d", ["a"])] {
            session.advance(bySeconds: 1)
            let decision = session.store.receive(Octets("\(name)=1"), in: context, now: session.now)
            #expect(decision.evicted.map(\.cookie.name.description) == gone)
        }
        #expect(tell("x") == ["x"])
    }
}
