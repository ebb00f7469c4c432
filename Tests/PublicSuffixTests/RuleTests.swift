import PublicSuffix
import Testing

@Suite("The rules")
struct RuleTests {
    /// A list with every kind of rule, and rules that stand in each other's way.
    static let file = """
        // ===BEGIN ICANN DOMAINS===
        com
        uk
        co.uk
        *.ck
        !www.ck
        jp
        *.kobe.jp
        !city.kobe.jp
        deep.city.kobe.jp
        a.b.c.only
        公司.cn
        // ===END ICANN DOMAINS===
        // ===BEGIN PRIVATE DOMAINS===
        blogspot.com
        *.compute.example.com
        *.hosted.uk
        special.hosted.uk
        // ===END PRIVATE DOMAINS===
        """

    struct Row: Sendable, CustomTestStringConvertible {
        let host: String
        let publicSuffix: String
        let registrableDomain: String?
        let section: PublicSuffixList.Section?

        init(_ host: String, _ suffix: String, _ domain: String?, _ section: PublicSuffixList.Section?) {
            (self.host, publicSuffix, registrableDomain, self.section) = (host, suffix, domain, section)
        }

        var testDescription: String { host }
    }

    static let rows = [
        // A name is a suffix, and so are not the names below it.
        Row("com", "com", nil, .icann),
        Row("example.com", "com", "example.com", .icann),
        Row("a.b.example.com", "com", "example.com", .icann),
        // The rule with the most labels decides.
        Row("co.uk", "co.uk", nil, .icann),
        Row("www.shop.example.co.uk", "co.uk", "example.co.uk", .icann),
        Row("blogspot.com", "blogspot.com", nil, .private),
        Row("alice.blogspot.com", "blogspot.com", "alice.blogspot.com", .private),
        // Labels are compared whole.
        Row("xco.uk", "uk", "xco.uk", .icann),
        Row("co.ukx", "ukx", "co.ukx", nil),
        Row("o.uk", "uk", "o.uk", .icann),
        // Without a rule the last label is the suffix.
        Row("local", "local", nil, nil),
        Row("a.b.local", "local", "b.local", nil),
        // A wildcard covers exactly one label, and its parent only by the default rule.
        Row("ck", "ck", nil, nil),
        Row("shop.ck", "shop.ck", nil, .icann),
        Row("a.shop.ck", "shop.ck", "a.shop.ck", .icann),
        Row("b.a.shop.ck", "shop.ck", "a.shop.ck", .icann),
        Row("compute.example.com", "com", "example.com", .icann),
        Row("x.compute.example.com", "x.compute.example.com", nil, .private),
        Row("y.x.compute.example.com", "x.compute.example.com", "y.x.compute.example.com", .private),
        // An exception prevails over the wildcard, and over a rule with more labels.
        Row("www.ck", "ck", "www.ck", .icann),
        Row("a.www.ck", "ck", "www.ck", .icann),
        Row("city.kobe.jp", "kobe.jp", "city.kobe.jp", .icann),
        Row("deep.city.kobe.jp", "kobe.jp", "city.kobe.jp", .icann),
        Row("town.kobe.jp", "town.kobe.jp", nil, .icann),
        Row("kobe.jp", "jp", "kobe.jp", .icann),
        // A name and a wildcard may cover the same host.
        Row("special.hosted.uk", "special.hosted.uk", nil, .private),
        Row("a.special.hosted.uk", "special.hosted.uk", "a.special.hosted.uk", .private),
        // Labels on the way to a rule are no rules.
        Row("only", "only", nil, nil),
        Row("c.only", "only", "c.only", nil),
        Row("b.c.only", "only", "c.only", nil),
        Row("a.b.c.only", "a.b.c.only", nil, .icann),
        // U-labels in the list are A-labels in hosts.
        Row("xn--55qx5d.cn", "xn--55qx5d.cn", nil, .icann),
        Row("a.xn--55qx5d.cn", "xn--55qx5d.cn", "a.xn--55qx5d.cn", .icann),
    ]

    @Test("The rules determine suffix, domain and section of a host", arguments: rows)
    func decide(row: Row) throws {
        let list = try PublicSuffixList(parsing: Self.file.utf8)
        let expected = Answer(
            publicSuffix: row.publicSuffix, registrableDomain: row.registrableDomain, section: row.section)
        #expect(list.answer(for: row.host) == expected)
        #expect(list.isPublicSuffix(row.host) == (row.registrableDomain == nil))
        #expect(LiteralAlgorithm(file: Self.file).answer(for: row.host) == expected, "the twin")
    }

    @Test(
        "A host with an empty label has no registrable domain",
        arguments: [
            "", ".", "..", ".com", ".example.com", "com.", "example.com.", "a..com", "..com", "a.b..c.d.com",
            ".a.b.com",
        ])
    func emptyLabel(host: String) throws {
        let list = try PublicSuffixList(parsing: Self.file.utf8)
        #expect(list.answer(for: host) == Answer(publicSuffix: host, registrableDomain: nil, section: nil))
        #expect(list.isPublicSuffix(host))
    }
}
