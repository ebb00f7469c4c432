import Testing

@testable import CookieModel

@Suite("Name prefixes (section 5.7, steps 20 to 22)")
struct PrefixTests {
    private static let spellings: [@Sendable (String) -> String] = [
        { $0 }, { $0.lowercased() }, { $0.uppercased() },
        { text in
            String(
                text.enumerated().map {
                    $0.offset % 2 == 0 ? Character($0.element.lowercased()) : Character($0.element.uppercased())
                })
        },
    ]

    /// What becomes of the line in every spelling of the prefix; all the same, or it is said.
    private func fate(
        _ prefix: String, _ rest: String, at url: String = "https://www.example.com/",
        profile: CookieProfile = .rfc6265bis
    ) throws -> String {
        var fates: Set<String> = []
        for spelling in PrefixTests.spellings {
            var session = Session(profile: profile)
            fates.insert(try session.set(Octets(spelling(prefix) + rest), at: url))
        }
        return fates.sorted().joined(separator: " | ")
    }

    @Test(
        "__Secure- needs Secure",
        arguments: [
            ("a=1; Secure", "stored"), ("a=1; Secure; Domain=example.com", "stored"),
            ("a=1; Secure; Path=/b", "stored"),
            ("=1; Secure", "stored"), ("; Secure", "rejected: prefix-nameless"),
            ("a=1", "rejected: prefix-secure"), ("a=1; HttpOnly", "rejected: prefix-secure"),
            ("=", "rejected: prefix-secure"),
            ("a=1; Domain=example.com", "rejected: prefix-secure"),
            ("a=1; SameSite=None", "rejected: same-site-none-insecure, prefix-secure"),
        ])
    func secure(rest: String, outcome: String) throws {
        for profile in [CookieProfile.rfc6265bis, .browser] {
            #expect(try fate("__Secure-", rest, profile: profile) == outcome)
        }
    }

    @Test(
        "__Host- needs Secure, Path=/ and no Domain",
        arguments: [
            ("a=1; Secure; Path=/", "stored"), ("a=1; Path=/b; Secure; Path=/", "stored"),
            ("=1; Path=/; Secure", "stored"),
            ("a=1; Secure; Path=/; Domain=", "stored"), ("a=1; Secure; Path=/; Domain=example.com; Domain=", "stored"),
            ("a=1; Secure", "rejected: prefix-host"), ("a=1; Path=/", "rejected: prefix-host"),
            ("a=1", "rejected: prefix-host"),
            ("a=1; Secure; Path=/b", "rejected: prefix-host"),
            ("a=1; Secure; Path=/; Path=/b", "rejected: prefix-host"),
            ("a=1; Secure; Path=//", "rejected: prefix-host"), ("a=1; Secure; Path=/.", "rejected: prefix-host"),
            ("a=1; Secure; Path=/; Domain=www.example.com", "rejected: prefix-host"),
            ("a=1; Secure; Path=/; Domain=.example.com", "rejected: prefix-host"),
            ("a=1; Path=/; Domain=other.com", "rejected: domain-mismatch, prefix-host"),
        ])
    func host(rest: String, outcome: String) throws {
        for profile in [CookieProfile.rfc6265bis, .browser] {
            #expect(try fate("__Host-", rest, profile: profile) == outcome)
        }
    }

    @Test(
        "The Path of __Host- may be / by the default-path, only in the draft's profile",
        arguments: [
            ("a=1; Secure; Path", true), ("a=1; Secure; Path=", true), ("a=1; Secure; Path=b", true),
            ("a=1; Secure; Path=/b; Path=c", true),
            ("a=1; Secure", false),
        ])
    func defaultPath(rest: String, isStored: Bool) throws {
        #expect(try fate("__Host-", rest) == (isStored ? "stored" : "rejected: prefix-host"))
        #expect(try fate("__Host-", rest, at: "https://example.com/b/c") == "rejected: prefix-host")
        #expect(try fate("__Host-", rest, profile: .browser) == "rejected: prefix-host")
    }

    @Test("A public suffix may name itself as the Domain of a __Host- cookie: it is host-only all the same")
    func suffixItself() throws {
        #expect(try fate("__Host-", "a=1; Secure; Path=/; Domain=github.io", at: "https://github.io/") == "stored")
    }

    @Test("An insecure connection breaks the prefix's rule and Secure's")
    func insecure() throws {
        #expect(try fate("__Secure-", "a=1", at: "http://example.com/") == "rejected: prefix-secure")
        #expect(try fate("__Secure-", "a=1; Secure", at: "http://example.com/") == "rejected: secure-from-insecure")
        #expect(
            try fate("__Host-", "a=1; Secure; Path=/", at: "http://example.com/") == "rejected: secure-from-insecure")
        #expect(try fate("__Host-", "a=1; Secure; Path=/", at: "http://localhost/") == "stored")
    }

    @Test("A value that begins with a prefix needs a name", arguments: ["__Secure-", "__Host-"])
    func nameless(prefix: String) throws {
        for start in ["", "=", " = "] {
            for end in ["", "a", "a=1", "=1"] where !(start.isEmpty && end.contains("=")) {
                for spelling in PrefixTests.spellings {
                    var session = Session()
                    let line = Octets(start + spelling(prefix) + end + "; Secure; Path=/")
                    #expect(try session.set(line) == "rejected: prefix-nameless", "\(line)")
                }
            }
        }
        #expect(try fate("a=" + prefix, "b=1") == "stored")
    }

    @Test(
        "A name that only resembles a prefix promises nothing",
        arguments: [
            "__Secure", "__Host", "_Secure-a", "-__Secure-a", "__ Secure-a", "__Secure a", "Secure-a", "__Hos-a",
            "a__Host-", "___Host-a",
            "__Sécure-", "\u{200B}__Host-a", "__Host\u{2010}a", "\"__Host-a\"", "__\u{17F}ecure-a",
        ])
    func noPrefix(name: String) throws {
        for profile in [CookieProfile.rfc6265bis, .browser] {
            var session = Session(profile: profile)
            #expect(try session.set(Octets(name + "=1"), at: "http://example.com/a/b") == "stored")
            #expect(try session.set(Octets(name), at: "http://example.com/a/b") == "stored")
        }
    }

    @Test("White space in front is gone before the prefix is looked for")
    func whiteSpace() throws {
        #expect(try fate(" \t__Host-", "a=1; Secure") == "rejected: prefix-host")
        #expect(try fate("= \t__Host-", "a") == "rejected: prefix-nameless")
    }

    @Test("Names that differ in case are different cookies")
    func differentNames() throws {
        var session = Session()
        try session.set("__Secure-a=1; Secure")
        try session.set("__secure-a=2; Secure")
        #expect(try session.sent() == "__Secure-a=1; __secure-a=2")
    }
}
