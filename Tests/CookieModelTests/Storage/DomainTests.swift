import PublicSuffix
import Testing

@testable import CookieModel

@Suite("The domain of a cookie (section 5.7, steps 7 to 10)")
struct DomainTests {
    /// What became of a cookie with this Domain, and who gets it: `stored for *.example.com`, `stored for example.com`.
    private func fate(_ domain: Octets?, at host: String) throws -> String {
        var session = Session()
        let outcome = try session.set(domain.map { "a=1; Domain=" + $0 } ?? "a=1", at: "https://\(host)/")
        guard let cookie = session.store.cookies.first else { return outcome }
        return "\(outcome) for \(cookie.isHostOnly ? "" : "*.")\(cookie.domain)"
    }

    @Test(
        "Without a Domain, or with an empty one, the host alone gets the cookie",
        arguments: [
            "example.com", "www.example.com", "com", "github.io", "co.uk", "localhost", "127.0.0.1", "[::1]",
            "example.com.",
        ])
    func hostOnly(host: String) throws {
        #expect(try fate(nil, at: host) == "stored for \(host)")
        #expect(try fate("", at: host) == "stored for \(host)")
        #expect(try fate(".", at: host) == "stored for \(host)")
    }

    @Test(
        "The host itself and its parent domains can be named",
        arguments: [
            ("example.com", "example.com"), (".example.com", "example.com"), ("EXAMPLE.COM", "example.com"),
            ("example.com", "www.example.com"), (".WWW.example.com", "www.example.com"),
            ("example.com", "a.b.c.example.com"),
            ("b.c.example.com", "a.b.c.example.com"), ("example.co.uk", "www.example.co.uk"),
            ("user.github.io", "user.github.io"),
            ("xn--bcher-kva.de", "www.bücher.de"), ("app.localhost", "app.localhost"),
            ("app.localhost", "x.app.localhost"),
            ("example.com.", "www.example.com."), ("city.kawasaki.jp", "city.kawasaki.jp"), ("_a.b.com", "_a.b.com"),
        ] as [(Octets, String)])
    func parents(domain: Octets, host: String) throws {
        let named = domain.description.lowercased().drop { $0 == "." }
        #expect(try fate(domain, at: host) == "stored for *.\(named)")
    }

    @Test(
        "Any other domain is refused",
        arguments: [
            ("www.example.com", "example.com"), ("other.com", "example.com"), ("ample.com", "example.com"),
            ("b.example.com", "a.example.com"), ("example.com", "notexample.com"), ("example.com.", "example.com"),
            ("example.com", "example.com."), ("example.com:443", "example.com"), ("\"example.com\"", "example.com"),
            ("*.example.com", "example.com"), ("example .com", "example.com"), ("https://example.com", "example.com"),
            ("127.1", "127.0.0.1"), ("0x7f.0.0.1", "127.0.0.1"), ("0.0.1", "127.0.0.1"), ("127.0.0.1", "localhost"),
            ("a.example.com,example.com", "a.example.com"),
        ] as [(Octets, String)])
    func mismatch(domain: Octets, host: String) throws {
        #expect(try fate(domain, at: host) == "rejected: domain-mismatch")
    }

    @Test("An IP address can be named by itself alone", arguments: ["127.0.0.1", "10.1.2.3", "[::1]", "[2001:db8::1]"])
    func address(host: String) throws {
        #expect(try fate(Octets(host), at: host) == "stored for *.\(host)")
        #expect(try fate(Octets("." + host), at: host) == "stored for *.\(host)")
        #expect(try fate("1", at: host) == "rejected: domain-public-suffix, domain-mismatch")
    }

    @Test(
        "A Domain with an octet past ASCII is rejected, whatever its meaning",
        arguments: [
            "bücher.de", "BÜCHER.DE", "xn--bcher-kva.dé", "\u{3002}de", "de\u{200D}",
        ] as [Octets])
    func notASCII(domain: Octets) throws {
        #expect(try fate(domain, at: "www.bücher.de").hasPrefix("rejected: domain-not-ascii"))
        #expect(try fate("\u{FF}" + domain, at: "www.bücher.de").hasPrefix("rejected: domain-not-ascii"))
    }

    @Test(
        "A public suffix is refused below it, and turns into host-only on itself",
        arguments: [
            ("com", "example.com"), ("co.uk", "example.co.uk"), ("github.io", "user.github.io"),
            ("localhost", "app.localhost"),
            ("unlisted", "example.unlisted"), ("b.kawasaki.jp", "a.b.kawasaki.jp"),
            ("s3.amazonaws.com", "a.s3.amazonaws.com"),
            ("com.", "example.com."), ("xn--fiqs8s", "a.xn--fiqs8s"),
            ("compute.amazonaws.com", "a.b.compute.amazonaws.com"),
        ] as [(Octets, String)])
    func publicSuffix(suffix: Octets, host: String) throws {
        for spelling in [suffix, "." + suffix, Octets(suffix.description.uppercased())] {
            #expect(try fate(spelling, at: host) == "rejected: domain-public-suffix")
        }
        if suffix != "compute.amazonaws.com" {
            #expect(try fate(suffix, at: "\(suffix)") == "stored for \(suffix)")
        }
    }

    @Test(
        "A domain above the suffix of the host is rejected, too",
        arguments: [
            ("kawasaki.jp", "b.kawasaki.jp"), ("kawasaki.jp", "a.b.kawasaki.jp"), ("kawasaki.jp", "a.city.kawasaki.jp"),
            ("jp", "a.city.kawasaki.jp"), ("io", "user.github.io"), ("uk", "example.co.uk"),
            ("amazonaws.com", "a.s3.amazonaws.com"),
        ] as [(Octets, String)])
    func aboveTheSuffix(domain: Octets, host: String) throws {
        #expect(try fate(domain, at: host) == "rejected: domain-public-suffix")
    }

    @Test(
        "A foreign public suffix, such as any unlisted single label, breaks two rules",
        arguments: [
            ("com", "example.org"), ("co.uk", "com"), ("::1", "[::1]"), ("example%2Ecom", "example.com"),
            ("e", "example.com"),
        ] as [(Octets, String)])
    func foreignSuffix(domain: Octets, host: String) throws {
        #expect(try fate(domain, at: host) == "rejected: domain-public-suffix, domain-mismatch")
    }

    @Test("Another list gives other suffixes")
    func otherList() throws {
        var policy = CookiePolicy()
        policy.publicSuffixes = try PublicSuffixList(parsing: Array("example.com\n".utf8))
        var session = Session(policy)
        #expect(
            try session.set("a=1; Domain=example.com", at: "https://www.example.com/")
                == "rejected: domain-public-suffix")
        #expect(try session.set("a=1; Domain=b.github.io", at: "https://a.b.github.io/") == "stored")
        #expect(try session.set("a=1; Domain=github.io", at: "https://a.b.github.io/") == "stored")
    }
}
