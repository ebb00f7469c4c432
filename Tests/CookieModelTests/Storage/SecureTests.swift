import Testing

@testable import CookieModel

@Suite("Secure cookies (section 5.7, steps 12, 13 and 16)")
struct SecureTests {
    @Test(
        "Only a secure connection sets and gets a Secure cookie",
        arguments: [
            ("https://example.com/", true), ("wss://example.com/", true), ("https://example.com:8443/", true),
            ("http://example.com/", false), ("ws://example.com/", false), ("http://example.com:443/", false),
            ("http://10.0.0.1/", false), ("http://intranet/", false), ("http://localhost.example.com/", false),
        ])
    func secureOnly(url: String, isSecure: Bool) throws {
        var session = Session()
        let refusal = "rejected: secure-from-insecure"
        #expect(try session.set("a=1; Secure", at: url) == (isSecure ? "stored" : refusal))
        #expect(try session.set("a=1; Secure", at: url, via: .script) == (isSecure ? "replaced" : refusal))
        #expect(try session.sent(to: url) == (isSecure ? "a=1" : ""))
    }

    @Test("A Secure cookie stays behind on an insecure connection")
    func staysBehind() throws {
        var session = Session()
        try session.set("a=1; Secure")
        try session.set("b=2")
        for interface in [RequestContext.Interface.http, .script] {
            #expect(try session.sent(to: "http://example.com/", via: interface) == "b=2")
            #expect(try session.kept(from: "ws://example.com/", via: interface) == ["a: secure-only"])
            #expect(try session.sent(to: "wss://example.com/", via: interface) == "a=1; b=2")
        }
    }

    @Test(
        "An insecure connection cannot overlay a Secure cookie of the same name",
        arguments: [
            ("/login", "/login", false), ("/login", "/login/", false), ("/login", "/login/en", false),
            ("/", "/", false),
            ("/", "/foo", false), ("/login/", "/login/x", false),
            ("/login", "/", true), ("/login", "/foo", true), ("/login", "/loginx", true), ("/login/", "/login", true),
            ("/login/en", "/login", true),
        ])
    func pathTest(existing: String, new: String, isStored: Bool) throws {
        for interface in [RequestContext.Interface.http, .script] {
            var session = Session()
            try session.set(Octets("a=1; Secure; Path=\(existing)"))
            let outcome = try session.set(Octets("a=2; Path=\(new)"), at: "http://example.com/", via: interface)
            #expect(outcome == (isStored ? "stored" : "rejected: overwrite-secure"))
        }
    }

    @Test(
        "Domains count in both directions",
        arguments: [
            ("https://example.com/", "", "http://example.com/", "", false),
            ("https://example.com/", "", "http://www.example.com/", "", false),
            ("https://www.example.com/", "", "http://example.com/", "", false),
            ("https://www.example.com/", "; Domain=example.com", "http://other.example.com/", "", false),
            ("https://a.example.com/", "", "http://b.example.com/", "; Domain=example.com", false),
            ("https://a.example.com/", "", "http://b.example.com/", "", true),
            ("https://example.com/", "", "http://example.org/", "", true),
            ("https://example.com/", "", "http://notexample.com/", "", true),
            ("https://10.0.0.1/", "", "http://10.0.0.1/", "", false),
            ("https://10.0.0.1/", "", "http://10.0.0.2/", "", true),
            // A public suffix and the sites below it are no site of each other, and match all the same.
            ("https://github.io/", "", "http://user.github.io/", "", false),
            ("https://user.github.io/", "", "http://github.io/", "", false),
            ("https://co.uk/", "", "http://a.b.example.co.uk/", "; Domain=example.co.uk", false),
            ("https://uk/", "", "http://example.co.uk/", "", false),
            ("https://user.github.io/", "", "http://other.github.io/", "", true),
            ("https://github.io/", "", "http://github.com/", "", true),
        ])
    func domainTest(secureURL: String, secureDomain: String, url: String, domain: String, isStored: Bool) throws {
        var session = Session()
        #expect(try session.set(Octets("a=1; Secure; Path=/\(secureDomain)"), at: secureURL) == "stored")
        let line = Octets("a=2; Path=/\(domain)")
        #expect(try session.set(line, at: url) == (isStored ? "stored" : "rejected: overwrite-secure"))
        // Another name, a secure connection, or a Secure cookie that is not: nothing to overlay.
        #expect(try session.set(Octets("A=2; Path=/\(domain)"), at: url) == "stored")
        #expect(try session.set(line, at: "https" + url.dropFirst(4)) != "rejected: overwrite-secure")
    }

    @Test("A cookie that has expired, or is not Secure, does not prevent overlaying")
    func nothingToOverlay() throws {
        for url in ["http://example.com/", "http://www.example.com/", "http://user.github.io/"] {
            var session = Session()
            try session.set("a=1; Secure; Max-Age=60", at: "https" + url.dropFirst(4))
            try session.set("a=1; Secure; Max-Age=60", at: "https://github.io/")
            #expect(try session.set("a=2", at: url) == "rejected: overwrite-secure")
            session.advance(bySeconds: 61)
            #expect(try session.set("a=2", at: url) == "stored")
            #expect(try session.set("a=3", at: url) == "replaced")
        }
    }

    @Test("An insecure connection cannot delete a Secure cookie either")
    func noDeletion() throws {
        var session = Session()
        try session.set("a=1; Secure")
        #expect(try session.set("a=; Max-Age=0", at: "http://example.com/") == "rejected: overwrite-secure")
        #expect(try session.sent() == "a=1")
    }

    @Test("An overlay beyond the site is reported with everything else")
    func overlayAmongOthers() throws {
        var session = Session()
        try session.set("a=1; Secure; Path=/", at: "https://github.io/")
        #expect(
            try session.set("a=2; SameSite=None", at: "http://user.github.io/")
                == "rejected: overwrite-secure, same-site-none-insecure")
        #expect(
            try session.set("a=2; HttpOnly", at: "http://user.github.io/", via: .script)
                == "rejected: http-only-from-script, overwrite-secure")
    }

    @Test("A nameless cookie overlays a nameless one")
    func nameless() throws {
        var session = Session()
        try session.set("=1; Secure")
        #expect(try session.set("2", at: "http://example.com/") == "rejected: overwrite-secure")
    }

    @Test("A Secure cookie of a partition blocks no cookie outside of it")
    func partitions() throws {
        var session = Session()
        try session.set("a=1; Secure; Partitioned")
        #expect(try session.set("a=2", at: "http://example.com/") == "stored")
        try session.set("b=1; Secure")
        #expect(try session.set("b=2", at: "http://example.com/") == "rejected: overwrite-secure")
    }
}
