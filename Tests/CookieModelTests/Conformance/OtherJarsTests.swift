import Testing

@testable import CookieModel

/// What the tests of other jars ask for, where draft-ietf-httpbis-rfc6265bis-22 is clear: Go's `cookiejar/jar_test.go`,
/// Chromium's `net/cookies/*_unittest.cc`, Firefox's `netwerk/test/gtest/TestCookie.cpp`, tough-cookie's specs.
@Suite("The cases of other jars")
struct OtherJarsTests {
    /// Lines of one response, and what requests get afterwards, in order.
    struct Row: Sendable, CustomTestStringConvertible {
        let source: String
        let url: String
        let lines: [Octets]
        let sent: [(to: String, cookie: String)]

        init(_ source: String, _ url: String, _ lines: [Octets], _ sent: [(to: String, cookie: String)]) {
            (self.source, self.url, self.lines, self.sent) = (source, url, lines, sent)
        }

        var testDescription: String { source }
    }

    private func check(_ row: Row) throws {
        for profile in [CookieProfile.rfc6265bis, .browser] {
            var session = Session(profile: profile)
            for line in row.lines { try session.set(line, at: row.url) }
            for (url, cookie) in row.sent { #expect(try session.sent(to: url) == cookie, "\(url)") }
        }
    }

    static let domains = [
        Row(
            "Go, domain cookie on an IDNA host", "http://www.bücher.test", ["a=1; domain=xn--bcher-kva.test"],
            [
                ("http://foo.www.bücher.test", "a=1"), ("http://xn--bcher-kva.test", "a=1"), ("http://other.test", ""),
                ("http://test", ""),
            ]),
        Row(
            "Go, host cookie on an IDNA host", "http://www.xn--bcher-kva.test", ["a=1"],
            [("http://www.bücher.test", "a=1"), ("http://bücher.test", ""), ("http://foo.www.bücher.test", "")]),
        Row(
            "Go, ValidSubdomainTest 2", "http://a.b.c.d.com",
            [
                "a=1; domain=.a.b.c.d.com", "b=2; domain=.b.c.d.com", "c=3; domain=.c.d.com", "d=4; domain=.d.com",
                "X=bcd; domain=.b.c.d.com", "X=cd; domain=.c.d.com",
            ],
            [
                ("http://b.c.d.com", "b=2; c=3; d=4; X=bcd; X=cd"), ("http://c.d.com", "c=3; d=4; X=cd"),
                ("http://d.com", "d=4"), ("http://com", ""),
            ]),
        Row(
            "Go, InvalidDomainTest 1", "http://foo.bar.com",
            [
                "a=1; domain=.yo.foo.bar.com", "b=2; domain=.foo.com", "d=4; domain=.foo.bar.com.net",
                "e=5; domain=ar.com", "g=7; domain=/", "h=8; domain=http://foo.bar.com", "i=9; domain=..foo.bar.com",
                "j=10; domain=..bar.com", "k=11; domain=.foo.bar.com?blah", "l=12; domain=.foo.bar.com/blah",
                "m=12; domain=.foo.bar.com:80", "n=14; domain=.foo.bar.com:", "o=15; domain=.foo.bar.com#sup",
            ],
            [("http://foo.bar.com", ""), ("http://yo.foo.bar.com", "")]),
        Row(
            "Go, TestNonDottedAndTLD 2", "http://com./index.html", ["a=1"],
            [("http://com./index.html", "a=1"), ("http://no-cookies.com./index.html", ""), ("http://com/", "")]),
        Row(
            "Go, 127.www.0.0.1", "http://127.www.0.0.x/", ["a=1; domain=127.0.0.1", "b=2; domain=0.0.x"],
            [("http://127.www.0.0.x/", "b=2"), ("http://127.0.0.1/", "")]),
        Row(
            "Chromium, CreateFromPublicSuffix", "http://co.uk/path",
            ["a=1; domain=co.uk", "b=2; domain=.Co.Uk", "c=3; domain=uk", "d=4; domain=.uk", "e=5; domain=com"],
            [("http://co.uk/", "a=1; b=2"), ("http://www.co.uk/", ""), ("http://uk/", "")]),
        Row(
            "Chromium, CreateWithDomainAsIP", "http://1.1.1.1",
            [
                "a=1; Domain=1.1.1.1", "b=1; Domain=.1.1.1.1", "c=1; Domain=1.1.1", "d=1; Domain=0x01.0x1.0x1.0x1",
                "e=1; Domain=16843009", "f=1; Domain=0100200401",
            ],
            [("http://1.1.1.1", "a=1; b=1"), ("http://0x1010101/", "a=1; b=1"), ("http://x.1.1.1.1.com/", "")]),
        Row(
            "Chromium, CreateWithDomainAsIP, IPv6", "http://[2606:2800:220:1:248:1893:25c8:1946]",
            [
                "a=1; Domain=[2606:2800:220:1:248:1893:25C8:1946]", "b=1; Domain=.[2606:2800:220:1:248:1893:25c8:1946]",
                "c=1; Domain=2606:2800:220:1:248:1893:25c8:1946",
            ],
            [("http://[2606:2800:0220:1:248:1893:25c8:1946]", "a=1; b=1")]),
        Row(
            "Firefox, trailing dots", "http://www.domain.com",
            ["a=1; domain=domain.com", "b=2; domain=domain.com.", "c=3; domain=..domain.com", "d=4"],
            [
                ("http://www.domain.com./", ""), ("http://domain.com.", ""), ("http://foo.domain.com", "a=1"),
                ("http://www.domain.com", "a=1; d=4"),
            ]),
    ]

    @Test("Domains (section 5.7, steps 7 to 10)", arguments: domains)
    func domain(row: Row) throws {
        try check(row)
    }

    static let paths = [
        Row(
            "Go, implicit path 2", "http://www.host.test/some/path/index.html", ["A=a"],
            [
                ("http://www.host.test/some", ""), ("http://www.host.test/some/path", "A=a"),
                ("http://www.host.test/some/paths", ""), ("http://www.host.test/some/path/foo/", "A=a"),
            ]),
        Row(
            "Go, defaultPath of /a//b", "http://host.test/a//b", ["A=a"],
            [("http://host.test/a/", "A=a"), ("http://host.test/a", ""), ("http://host.test/a/c", "A=a")]),
        Row("Go, defaultPath of //", "http://host.test//", ["A=a"], [("http://host.test/x", "A=a")]),
        Row(
            "Firefox, a query is no path", "http://path.net/path/file", ["a=1; path=/path", "b=2; path=/path/"],
            [
                ("http://path.net/path?hithere/foo", "a=1"), ("http://path.net/path/", "b=2; a=1"),
                ("http://path.net/path2/", ""), ("http://path.net/path;x", ""),
            ]),
        Row(
            "Firefox, a quoted path is none", "http://path.net/path/file", ["a=1; path=\"/bogus\""],
            [("http://path.net/path/", "a=1"), ("http://path.net/bogus", "")]),
        Row("Chromium, a semicolon in the URL's path", "http://fool/;/", ["*"], [("http://fool/;/", "*")]),
        Row(
            "Firefox, path order", "http://multi.path.tests/one/two/three/four/five/",
            [
                "1=p; path=/one/two/three", "2=p; path=/one", "3=p; path=/one/two/three/four", "4=p; path=/one/two",
                "5=p; path=/one/two/", "6=p", "8=p; path=/",
            ],
            [("http://multi.path.tests/one/two/three/four/five/six/", "6=p; 3=p; 1=p; 5=p; 4=p; 2=p; 8=p")]),
        Row(
            "Go, sorting of same-name cookies", "http://www.host.test/",
            [
                "A=1; path=/", "A=2; path=/path", "A=3; path=/quux", "A=4; path=/path/foo",
                "A=5; domain=.host.test; path=/path", "A=6; domain=.host.test; path=/quux",
                "A=7; domain=.host.test; path=/path/foo",
            ],
            [
                ("http://www.host.test/path/foo", "A=4; A=7; A=2; A=5; A=1"),
                ("http://www.host.test/path", "A=2; A=5; A=1"),
            ]
        ),
    ]

    @Test("Paths and their order (sections 5.1.4 and 5.8.3)", arguments: paths)
    func path(row: Row) throws {
        try check(row)
    }

    static let pairs = [
        Row(
            "Chromium, TestEmpty", "http://a.test/",
            [
                "", "     ", "=", "=;", " =;", "= ;", " = ;", ";", " ;", " ; ", "\t", "\t;", "\t=\t", "\t=", "=\t",
            ],
            [("http://a.test/", "")]),
        Row(
            "Chromium, Whitespace and MultipleEquals", "http://a.test/",
            ["  A  = BC  ;httponly;;;   samesite = lax     ", "  B=== BC  ;;;   httponly", "C=;  path = /wee"],
            [("http://a.test/", "A=BC; B=== BC"), ("http://a.test/wee", "C=; A=BC; B=== BC")]),
        Row(
            "Firefox, cookies without a name", "http://parser.test/", ["six", "seven", " =eight", "test=six"],
            [("http://parser.test/", "eight; test=six")]),
        Row(
            "tough-cookie, lots of equal signs", "http://a.test/f=g/x", ["q=b=c&d=e; Path=/f=g; HttpOnly", "=foo=bar"],
            [("http://a.test/f=g", "q=b=c&d=e; foo=bar")]),
        Row(
            "tough-cookie, folded lines of several cookies", "https://google.com",
            ["A=1; Path=/foo, j=5; path=/; Secure; HttpOnly, T=E; expires=Sun, 31-Jan-9021 02:39:04 GMT"],
            [("https://google.com", "A=1"), ("http://google.com", "")]),
        Row(
            "tough-cookie, no end of semicolons", "http://www.a.test/",
            ["a=1" + Octets(String(repeating: ";", count: 65535)) + " domain=a.test"], [("http://a.test/", "a=1")]),
    ]

    @Test("Pairs and attributes (section 5.6)", arguments: pairs)
    func pair(row: Row) throws {
        try check(row)
    }

    @Test("Go, TestExpiration: a lifetime ends at its moment, not at the next second")
    func expiration() throws {
        var session = Session()
        for line in [
            "a=1", "b=2; max-age=3", "c=3; expires=Sat, 21 Nov 2026 00:00:03 GMT", "d=4; max-age=5", "f=6; max-age=100",
        ] as [Octets] {
            try session.set(line, at: "http://www.host.test")
        }
        for cookie in [
            "a=1; b=2; c=3; d=4; f=6", "a=1; b=2; c=3; d=4; f=6", "a=1; d=4; f=6", "a=1; d=4; f=6", "a=1; f=6",
        ] {
            session.now = Timestamp(microseconds: session.now.microseconds + 1_001_000)
            #expect(try session.sent(to: "http://www.host.test") == cookie)
        }
    }
}
