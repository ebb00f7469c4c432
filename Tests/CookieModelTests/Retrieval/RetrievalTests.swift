import PublicSuffix
import Testing

@testable import CookieModel

@Suite("Which cookies go (section 5.8.3, step 3)")
struct RetrievalTests {
    @Test(
        "A host-only cookie goes to its host alone",
        arguments: [
            ("https://example.com/", true), ("https://EXAMPLE.com:8443/x?y", true), ("http://example.com/", true),
            ("https://www.example.com/", false), ("https://com/", false), ("https://example.com./", false),
            ("https://notexample.com/", false),
        ])
    func hostOnly(url: String, goes: Bool) throws {
        var session = Session()
        try session.set("a=1")
        #expect(try session.sent(to: url) == (goes ? "a=1" : ""))
    }

    @Test(
        "A domain cookie is sent to its domain and to all below it",
        arguments: [
            ("https://example.com/", true), ("https://www.example.com/", true), ("https://a.b.c.example.com/", true),
            ("https://.example.com/", false), ("https://notexample.com/", false), ("https://com/", false),
            ("https://example.com.evil.com/", false), ("https://www.example.com./", false),
            ("https://example.org/", false),
            ("https://example.com%2Eevil.org/", false),
        ])
    func domain(url: String, goes: Bool) throws {
        var session = Session()
        try session.set("a=1; Domain=example.com", at: "https://www.example.com/")
        #expect(try session.sent(to: url) == (goes ? "a=1" : ""))
    }

    @Test(
        "A cookie that stays tells why, once for each requirement",
        arguments: [
            ("a=1", "https://www.example.com/", "host-only-mismatch"),
            ("a=1; Domain=www.example.com", "https://example.com/", "domain-mismatch"),
            ("a=1; Domain=www.example.com", "https://other.example.com/", "domain-mismatch"),
            ("a=1; Path=/b", "https://www.example.com/a", "host-only-mismatch, path-mismatch"),
            (
                "a=1; Path=/b; Secure; HttpOnly; Domain=www.example.com", "http://a.example.com/",
                "domain-mismatch, path-mismatch, secure-only"
            ),
            ("a=1; Secure; Domain=example.com", "ws://www.example.com/", "secure-only"),
        ] as [(Octets, String, String)])
    func reasons(line: Octets, url: String, reasons: String) throws {
        var session = Session()
        let origin = line.description.contains("Domain=www") ? "https://www.example.com/" : "https://example.com/"
        #expect(try session.set(line, at: origin) == "stored")
        #expect(try session.kept(from: url) == ["a: \(reasons)"])
        #expect(try session.sent(to: url) == "")
    }

    @Test("A cookie that is left out has every reason at once")
    func allReasons() throws {
        var session = Session()
        try session.set("a=1; Secure; HttpOnly; Path=/b; SameSite=Strict; Partitioned; Max-Age=60")
        session.advance(bySeconds: 61)
        let request = Request("http://www.example.com/", via: .script, on: "https://other.com/")
        #expect(
            try session.kept(in: request) == [
                "a: host-only-mismatch, path-mismatch, secure-only, http-only, same-site-strict, expired, partition-mismatch"
            ])
        // Told once; then it is gone.
        #expect(try session.kept(in: request) == [])
    }

    @Test("A domain that has become a public suffix gets its cookies no more, a host-only cookie stays")
    func newSuffix() throws {
        var policy = CookiePolicy()
        policy.publicSuffixes = try PublicSuffixList(parsing: Array("com\nexample.com\n".utf8))
        let host = try #require(WebHost("example.com"))
        func cookie(_ name: Octets, isHostOnly: Bool) -> Cookie {
            Cookie(
                id: Cookie.ID(name: name, domain: host, isHostOnly: isHostOnly, path: "/", partitionKey: nil),
                value: "1",
                isSecure: false, isHTTPOnly: false, sameSite: .lax, expiry: nil, creation: Session.start,
                lastAccess: Session.start)
        }
        let cookies = [cookie("domain", isHostOnly: false), cookie("host", isHostOnly: true)]
        for url in ["https://example.com/", "https://www.example.com/"] {
            let retrieval = policy.retrieval(
                from: cookies, for: try Request(url).context, now: Session.start, opening: \.value)
            let expected = url.contains("www") ? "domain-public-suffix, host-only-mismatch" : "domain-public-suffix"
            #expect(retrieval.excluded.map(\.reasons.description).joined(separator: ", ") == expected)
        }
    }

    @Test(
        "IP addresses share nothing with hosts that end like them",
        arguments: [
            ("https://1.2.3.4/", "https://1.2.3.4/", true), ("https://1.2.3.4/", "https://01.2.3.4/", true),
            ("https://1.2.3.4/", "https://0x01020304/", true), ("https://2.3.4.1/", "https://1.2.3.4/", false),
            ("https://[::1]/", "https://[0:0:0:0:0:0:0:1]/", true), ("https://[::1]/", "https://[::2]/", false),
            ("https://[::7f00:1]/", "https://127.0.0.1/", false),
        ])
    func addresses(first: String, second: String, goes: Bool) throws {
        var session = Session()
        try session.set("a=1", at: first)
        #expect(try session.sent(to: second) == (goes ? "a=1" : ""))
    }

    @Test("A retrieval notes the access of the cookies that go, and of no others")
    func lastAccess() throws {
        var session = Session()
        try session.set("a=1; Path=/")
        try session.set("b=2; Path=/b")
        session.advance(bySeconds: 30)
        _ = try session.sent(to: "https://example.com/")
        let accesses = session.store.cookies.map { ($0.name, $0.lastAccess) }
        #expect(accesses.first { $0.0 == "a" }?.1 == session.now)
        #expect(accesses.first { $0.0 == "b" }?.1 == Session.start)
    }

    @Test("An access is noted also where the clock was set back, from however far away")
    func lastAccessBackwards() throws {
        var session = Session()
        try session.set("a=1; Path=/")
        session.now = .distantFuture
        #expect(try session.sent(to: "https://example.com/") == "a=1")
        session.now = Session.start
        #expect(try session.sent(to: "https://example.com/") == "a=1")
        #expect(session.store.cookies.map(\.lastAccess) == [Session.start])
    }

    @Test("The cookie-string has name and value as they came, and the value alone without a name")
    func cookieString() throws {
        var session = Session()
        for line in ["a=\"1\"", "b c = d\te ", "=f", "g=", "é=\u{FF}", "h=i=j", "k=a,b"] as [Octets] {
            try session.set(line)
        }
        #expect(try session.sent() == "a=\"1\"; b c=d\te; f; g=; é=\u{FF}; h=i=j; k=a,b".replacingTab)
    }

    @Test("Values that a sealed store cannot open stay behind as unreadable")
    func unreadable() throws {
        var session = Session()
        for line in ["a=1", "b=2", "c=3; Path=/c"] as [Octets] { try session.set(line) }
        let retrieval = session.store.policy.retrieval(
            from: session.store.cookies, for: try Request("https://example.com/").context, now: session.now
        ) { $0.name == "a" ? "opened" : nil }
        #expect(retrieval.cookieString == "a=opened")
        #expect(retrieval.excluded.map { "\($0.cookie.name): \($0.reasons)" } == ["c: path-mismatch", "b: unreadable"])
        #expect(retrieval.excluded.allSatisfy { $0.cookie.value.isEmpty })
    }
}

extension String {
    /// A description writes control characters as escapes.
    fileprivate var replacingTab: String {
        split(separator: "\t", omittingEmptySubsequences: false).joined(separator: "\\x09")
    }
}
