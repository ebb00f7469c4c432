import Testing

@testable import CookieModel

/// Where the tests of other jars ask for something else than draft-ietf-httpbis-rfc6265bis-22 does, the draft's answer;
/// and the dates of Chromium's `TestCookieDateParsing` that tell most.
@Suite("The cases of other jars: the draft's answer")
struct OtherJarsDifferenceTests {
    /// Lines received one after another, what is sent in the end, and who wants what else.
    struct Row: Sendable, CustomTestStringConvertible {
        let url: String
        let lines: [Octets]
        let sent: Octets
        let otherwise: String

        init(_ url: String, _ lines: [Octets], _ sent: Octets, _ otherwise: String) {
            (self.url, self.lines, self.sent, self.otherwise) = (url, lines, sent, otherwise)
        }

        var testDescription: String { otherwise }
    }

    static let rows = [
        Row("http://1.2.3.4/", ["a=1; domain=1.2.3.4"], "a=1", "Go: no Domain for an address (5.1.3 allows it)"),
        Row(
            "http://foo.bar.com", ["f=6; domain=."], "f=6", "Go, layered draft: a lone dot is malformed (5.6.3, 5.7.7)"),
        Row("http://a.test/", ["=foo=bar"], "foo=bar", "tough-cookie: the name is foo (5.6 step 3)"),
        Row("http://a.test/", ["x x"], "x x", "tough-cookie: no cookie without an equals sign (5.6 step 3)"),
        Row("http://a.test/", ["te\tst=1"], "te\tst=1", "Firefox: no tab in a name (5.6 step 1)"),
        Row("https://a.test/", ["__Host-a=1; Secure"], "", "Firefox: the default-path / will do (5.7 step 21.3)"),
        Row("http://a.test/", ["A=B\nZ"], "", "older Chromium: cut at the line feed (5.6 step 1)"),
        Row("http://a.test/", ["a=1; Expires=1600 April 15 21:01:22"], "a=1", "Chromium: a date long past (5.1.1)"),
        Row(
            "http://kyoto.jp/", ["i=9; Domain=kyoto.jp"], "i=9",
            "tough-cookie: an error on a public suffix (5.7 step 9)"),
    ]

    @Test("If other jars differ, the draft's answer applies", arguments: rows)
    func answer(row: Row) throws {
        var session = Session()
        for line in row.lines { try session.set(line, at: row.url) }
        let context = try Request(row.url).context
        #expect(session.store.retrieve(for: context, now: session.now).cookieString == row.sent)
    }

    @Test("Go lets a Secure cookie be cleared over http; the draft leaves it alone (section 5.7, step 16)")
    func leaveSecureCookiesAlone() throws {
        var session = Session()
        try session.set("b=x; Secure", at: "https://www.host.test/")
        #expect(try session.set("b=xx", at: "http://www.host.test/") == "rejected: overwrite-secure")
        #expect(try session.set("b=xx", at: "https://www.host.test/") == "replaced")
        #expect(try session.sent(to: "http://www.host.test/") == "b=xx")
    }

    @Test("Firefox refuses a default-path of more than 1024 octets; the draft limits attributes only")
    func longDefaultPath() throws {
        var session = Session()
        let url = "http://longpath.net/" + String(repeating: "1", count: 1030) + "/"
        #expect(try session.set("a=1", at: url) == "stored")
        #expect(try session.sent(to: url) == "a=1")
    }

    @Test(
        "Chromium, CreateInvalidUrl and CreateWithInvalidPort: text that is not a URL is rejected",
        arguments: [
            "http://.127.0.0.1/path", "http://www.foo.com:70000",
        ])
    func invalidURL(url: String) {
        #expect(throws: RequestURLError.self) { try RequestURL(url) }
    }

    @Test(
        "Chromium, PrefixedCookies: a trusted host counts as secure",
        arguments: [
            ("__Host-a=1; Secure; Path=/", "https://b.a.com", "stored"),
            ("__Host-a=1; Secure; Path=/", "http://localhost", "stored"),
            ("__Secure-a=1; Secure", "http://localhost", "stored"),
            ("__Secure-a=1; Secure", "http://b.a.com", "rejected: secure-from-insecure"),
            ("__Secure-a=1", "http://localhost", "rejected: prefix-secure"),
            ("__Host-a=1; Secure; Path=/; Domain=a.com", "https://b.a.com", "rejected: prefix-host"),
            ("__Host-a=1; Secure; Path=/path", "http://localhost", "rejected: prefix-host"),
            ("__Http-a=1; Secure; Path=/cookies/; HttpOnly", "http://localhost", "stored"),
            ("__Http-a=1; Secure", "http://localhost", "rejected: prefix-http"),
            ("__Host-Http-a=1; Secure; Path=/x; HttpOnly", "https://b.a.com", "rejected: prefix-host"),
        ] as [(Octets, String, String)])
    func prefixes(line: Octets, url: String, outcome: String) throws {
        var session = Session(profile: .browser)
        #expect(try session.set(line, at: url) == outcome)
    }

    @Test(
        "Cookie dates of Chromium's TestCookieDateParsing are read as the draft says",
        arguments: [
            ("Thu, 19/Apr\\2007 16:00:00 GMT", 1_176_998_400), ("WillyWonka  ,  18-apr-07   22:50:12", 1_176_936_612),
            ("\"Sat, 15-Apr-17\\\"21:01:22\\\"GMT\"", 1_492_290_082),
            ("Partyday, 18 - Apri-07 22:50:12", 1_176_936_612),
            ("Sat, 15-Apr-17 21:01:22 GMT-0400 (EDT)", 1_492_290_082),
            ("Sat, 15-Apr-17 21:01:22 11:22:33", 1_492_290_082),
            ("Sat, 15-Apr-17 ::00 21:01:22", 1_492_290_082), ("Sat, 15-Apr-17 boink:z 21:01:22", 1_492_290_082),
            ("Thu Apr 22:50:12 18 2007 GMT", 1_176_936_612), ("15-Sat, Apr 21:01:22 GMT 17", 1_492_290_082),
            ("15 17 Apr 21:01:22", 1_492_290_082), ("2017 April 15 21:01:22", 1_492_290_082),
            ("1-Jan-70 00:00:00 GMT", 0), ("1-Jan-69 00:00:00 GMT", 3_124_224_000),
            ("Sat, 15-Apr-17 91:22:33 21:01:22", nil), ("98 April 17 21:01:22", nil),
            ("Thu, 012-Aug-2008 20:49:07 GMT", nil), ("Thu, 12-Aug-9999999999 20:49:07 GMT", nil),
            ("Thu, 12-Aug-31841 20:49:07 GMT", nil), ("1970 April 33 21:01:22", nil), ("IAintNoDateFool", nil),
        ] as [(String, Int64?)])
    func dates(text: String, seconds: Int64?) {
        #expect(CookieDate.parse(text)?.seconds == seconds)
    }

    @Test(
        "tough-cookie, dates with something after a part",
        arguments: [
            ("Wed, 09e9 Jun 2021 10:18:14 GMT", true), ("Wed, 09 Jun 2021e9 10:18:14 GMT", true),
            ("Wed, 09 Jun 2021 10:18:14e9 GMT", true), ("Wed, 09 Jun 2021 -1:33:44 GMT", true),
            ("Wed, 09 Jun 2021 10e9:18:14 GMT", false), ("Wed, 09 Jun 2021 11:-3:44 GMT", false),
            ("Thu, 01 Jan 1970 00:00:010 GMT", false),
        ])
    func dateParts(text: String, isDate: Bool) {
        #expect((CookieDate.parse(text) != nil) == isDate)
    }
}
