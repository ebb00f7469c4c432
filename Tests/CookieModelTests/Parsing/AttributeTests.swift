import Testing

@testable import CookieModel

@Suite("Attributes (section 5.6, second algorithm, and 5.6.1 to 5.6.7)")
struct AttributeTests {
    private func parsed(_ attributes: Octets, profile: CookieProfile = .rfc6265bis) throws -> SetCookie {
        try #require(SetCookie.parsed("a=1" + attributes, profile: profile), "\(attributes)")
    }

    @Test(
        "Attribute names match without case, and white space around them and the equals sign goes",
        arguments: [
            "; Secure; HttpOnly; Partitioned; Domain=b.c; Path=/d; SameSite=Lax; Max-Age=5",
            ";secure;httponly;partitioned;domain=b.c;path=/d;samesite=lax;max-age=5",
            ";SECURE;HTTPONLY;PARTITIONED;DOMAIN=B.C;PATH=/d;SAMESITE=LAX;MAX-AGE=5",
            ";\tsEcUrE ; HttpOnly\t;Partitioned ; Domain \t= \tb.c\t; Path =/d ;SameSite= Lax; Max-Age = 5 ",
            "; Secure=; HttpOnly=no; Partitioned==; Domain=.b.c; Path=/d;; SameSite=lAX;=; Max-Age=5",
        ] as [Octets])
    func spellings(attributes: Octets) throws {
        let found = try parsed(attributes)
        #expect(found.name == "a" && found.value == "1" && found.expires == nil)
        #expect((found.isSecure, found.isHTTPOnly, found.isPartitioned) == (true, true, true))
        #expect(found.domain == "b.c" && found.path == .path("/d") && found.sameSite == .lax && found.maxAge == 5)
    }

    @Test(
        "An unknown attribute is ignored",
        arguments: [
            "", ";", ";;;", "; ", "; =", "; Secur", "; Securee", "; Sec ure", "; \u{A0}Secure", "; Http-Only",
            "; MaxAge=5",
            "; Max-Age", "; Expire=Sat, 21 Nov 2026 00:00:00 GMT", "; Version=1", "; Priority=High", "; \"Secure\"",
            "; =Secure", "; b=Secure", ", Secure", "; PathX=/", "; Domains=b.c", "; Same-Site=Lax", "; Comment=\"; x",
        ] as [Octets])
    func unknown(attributes: Octets) throws {
        let setCookie = try parsed(attributes)
        #expect(setCookie == (try parsed("")) || setCookie == SetCookie.parsed("a=" + setCookie.value))
    }

    @Test("The last one of a repeated attribute counts")
    func lastOne() throws {
        #expect(try parsed("; Domain=b; Domain=c").domain == "c")
        #expect(try parsed("; Domain=b; Domain=").domain == "")
        #expect(try parsed("; Path=/b; Path=/c").path == .path("/c"))
        #expect(try parsed("; Path=/b; Path=c").path == .default)
        #expect(try parsed("; Path=b; Path=/c").path == .path("/c"))
        #expect(try parsed("; Path=/b; Path").path == .default)
        #expect(try parsed("; SameSite=Lax; SameSite=None").sameSite == SameSite.none)
        #expect(try parsed("; SameSite=Lax; SameSite=x").sameSite == .default)
        #expect(try parsed("; SameSite=x; SameSite=Strict").sameSite == .strict)
        #expect(try parsed("; Max-Age=1; Max-Age=2").maxAge == 2)
        #expect(
            try parsed("; Expires=1 Jan 2027 0:0:0; Expires=2 Jan 2027 0:0:0").expires?.rfc3339
                == "2027-01-02T00:00:00Z")
    }

    @Test(
        "A Max-Age or Expires that means nothing leaves an earlier one alone",
        arguments: [
            ("; Max-Age=1; Max-Age", 1), ("; Max-Age=1; Max-Age=", 1), ("; Max-Age=1; Max-Age=x", 1),
            ("; Max-Age=1; Max-Age=+2", 1), ("; Max-Age=1; Max-Age=2x", 1), ("; Max-Age=1; Max-Age=\"2\"", 1),
        ] as [(Octets, Int64)])
    func invalidMaxAge(attributes: Octets, seconds: Int64) throws {
        #expect(try parsed(attributes).maxAge == seconds)
        #expect(try parsed("; Expires=1 Jan 2027 0:0:0; Expires=0").expires?.rfc3339 == "2027-01-01T00:00:00Z")
        #expect(try parsed("; Expires=1 Jan 2027 0:0:0; Expires=").expires?.rfc3339 == "2027-01-01T00:00:00Z")
    }

    @Test("An attribute value longer than 1024 octets makes its attribute ignored, white space not counted")
    func valueLimit() throws {
        let fits: Octets = "/" + .filler(1023)
        #expect(try parsed("; Path=" + fits).path == .path(fits))
        #expect(try parsed("; Path= \t" + fits + " \t").path == .path(fits))
        #expect(try parsed("; Path=" + fits + "x").path == .absent)
        #expect(try parsed("; Path=/b; Path=" + fits + "x").path == .path("/b"))
        #expect(try parsed("; Domain=b; Domain=" + .filler(1024)).domain == .filler(1024))
        #expect(try parsed("; Domain=b; Domain=" + .filler(1025)).domain == "b")
        #expect(try parsed("; Domain=b; Domain=." + .filler(1024)).domain == "b")
        #expect(try parsed("; Secure=" + .filler(1025)).isSecure == false)
        #expect(try parsed("; Secure=" + .filler(1024)).isSecure)
        #expect(try parsed("; HttpOnly=" + .filler(1025)).isHTTPOnly == false)
        #expect(try parsed("; Max-Age=1" + Octets(String(repeating: "0", count: 1024))).maxAge == nil)
        #expect(try parsed("; Max-Age=" + Octets(String(repeating: "0", count: 1023)) + "7").maxAge == 7)
        #expect(try parsed("; " + .filler(5000) + "; Secure").isSecure)
    }

    @Test(
        "Domain loses one leading dot and its capitals",
        arguments: [
            ("b.c", "b.c"), (".b.c", "b.c"), ("..b.c", ".b.c"), ("B.C", "b.c"), (".", ""), ("", ""), ("..", "."),
            ("b.c.", "b.c."), ("É.c", "É.c"), ("b c", "b c"), ("\"b.c\"", "\"b.c\""), ("b.c:80", "b.c:80"),
            ("=b", "=b"),
        ] as [(Octets, Octets)])
    func domain(value: Octets, domain: Octets) throws {
        #expect(try parsed("; Domain=" + value).domain == domain)
    }

    @Test(
        "A Path counts if it begins with a slash, and means the default-path otherwise",
        arguments: [
            ("/", .path("/")), ("/b", .path("/b")), ("/b/", .path("/b/")), ("//", .path("//")), ("/ b", .path("/ b")),
            ("/b?c#d", .path("/b?c#d")), ("/b=c", .path("/b=c")), ("/é", .path("/é")), ("/../b", .path("/../b")),
            ("", .default), ("b", .default), ("b/c", .default), ("\"/\"", .default), ("\\b", .default),
            ("%2F", .default),
        ] as [(Octets, SetCookie.PathAttribute)])
    func path(value: Octets, path: SetCookie.PathAttribute) throws {
        #expect(try parsed("; Path=" + value).path == path)
    }

    @Test(
        "SameSite is one of three words without case, or the default",
        arguments: [
            ("None", .none), ("none", .none), ("NONE", .none), ("Strict", .strict), ("sTRICT", .strict), ("Lax", .lax),
            ("lAx", .lax), ("", .default), ("Default", .default), ("Laxx", .default), ("La", .default),
            ("L ax", .default),
            ("\"Lax\"", .default), ("Lax,Strict", .default),
        ] as [(Octets, SameSite)])
    func sameSite(value: Octets, sameSite: SameSite) throws {
        #expect(try parsed("; SameSite=" + value).sameSite == sameSite)
        #expect(try parsed("; SameSite = " + value + " ").sameSite == sameSite)
    }
}
