import Testing

@testable import CookieModel

@Suite("Profiles, flag by flag")
struct ProfileTests {
    static let flags: [CookieProfile] = [
        .ignoresRelativePath, .keepsEarlierSameSite, .rejectsNonASCIIPath, .honoursHTTPPrefixes,
        .hostPrefixNeedsExplicitPath, .refusesLoneDotDomain,
    ]

    /// A line whose fate hangs on one flag: outcome, path and same-site-flag without it and with it.
    struct Row: Sendable {
        let flag: CookieProfile
        let line: Octets
        let without: String
        let with: String

        init(_ flag: CookieProfile, _ line: Octets, _ without: String, _ with: String) {
            (self.flag, self.line, self.without, self.with) = (flag, line, without, with)
        }
    }

    static let rows = [
        Row(.ignoresRelativePath, "a=1; Path=/c; Path=d", "stored /b default", "stored /c default"),
        Row(.ignoresRelativePath, "a=1; Path=/c; Path=", "stored /b default", "stored /c default"),
        Row(.ignoresRelativePath, "a=1; Path=/c; Path", "stored /b default", "stored /c default"),
        Row(.keepsEarlierSameSite, "a=1; SameSite=Strict; SameSite=x", "stored /b default", "stored /b strict"),
        Row(.keepsEarlierSameSite, "a=1; SameSite=Lax; SameSite", "stored /b default", "stored /b lax"),
        Row(
            .keepsEarlierSameSite, "a=1; SameSite=None; SameSite=", "stored /b default",
            "rejected: same-site-none-insecure"),
        Row(.rejectsNonASCIIPath, "a=1; Path=/é", "stored /é default", "rejected: path-not-ascii"),
        Row(.rejectsNonASCIIPath, "a=1; Path=/c; Path=/\u{80}", "stored /\\x80 default", "rejected: path-not-ascii"),
        Row(.honoursHTTPPrefixes, "__Http-a=1; Secure", "stored /b default", "rejected: prefix-http"),
        Row(.honoursHTTPPrefixes, "__HTTP-a=1; HttpOnly", "stored /b default", "rejected: prefix-http"),
        Row(.honoursHTTPPrefixes, "__Host-Http-a=1; Secure; Path=/", "stored / default", "rejected: prefix-http"),
        Row(
            .honoursHTTPPrefixes, "__host-hTTP-a=1; HttpOnly", "rejected: prefix-host",
            "rejected: prefix-host, prefix-http"),
        Row(.honoursHTTPPrefixes, "__Http-a", "stored /b default", "rejected: prefix-nameless"),
        Row(
            .refusesLoneDotDomain, "a=1; Domain=example.com; Domain=.", "stored /b default",
            "rejected: domain-public-suffix, domain-mismatch"),
        Row(.honoursHTTPPrefixes, "=__hTTp-a", "stored /b default", "rejected: prefix-nameless"),
    ]

    /// Lines that no flag changes, as far as one row may say.
    static let untouched = [
        Row([], "a=1; Path=d; Path=/c", "stored /c default", ""), Row([], "a=1; Path=d", "stored /b default", ""),
        Row([], "a=1; SameSite=x; SameSite=Lax", "stored /b lax", ""),
        Row([], "a=1; SameSite=x", "stored /b default", ""),
        Row([], "a=1; Path=/é; Path=/c", "stored /c default", ""), Row([], "é=é", "stored /b default", ""),
        Row([], "__Http-a=1; Secure; HttpOnly", "stored /b default", ""),
        Row([], "__Host-Http-a=1; Secure; HttpOnly; Path=/", "stored / default", ""),
        Row([], "__Host-Http-a=1; Secure; HttpOnly; Path=/c", "rejected: prefix-host", ""),
        Row([], "a=1; Domain=.; Domain=example.com", "stored /b default", ""),
        Row([], "a=1; Domain=", "stored /b default", ""), Row([], "a=1; Domain=.example.com", "stored /b default", ""),
        Row([], "__Host-Http-a", "rejected: prefix-nameless", ""), Row([], "__Http=1", "stored /b default", ""),
    ]

    private func fate(_ line: Octets, _ profile: CookieProfile, at url: String = "https://example.com/b/") throws
        -> String
    {
        var session = Session(profile: profile)
        let outcome = try session.set(line, at: url)
        guard let cookie = session.store.cookies.first else { return outcome }
        return "\(outcome) \(cookie.path) \(cookie.sameSite)"
    }

    @Test("A flag by itself has the documented effect", arguments: rows)
    func alone(row: Row) throws {
        #expect(try fate(row.line, []) == row.without)
        #expect(try fate(row.line, row.flag) == row.with)
    }

    @Test("All other flags together have no effect on it, and the browser profile has every flag", arguments: rows)
    func others(row: Row) throws {
        #expect(try fate(row.line, CookieProfile.browser.subtracting(row.flag)) == row.without)
        #expect(try fate(row.line, .browser) == row.with)
    }

    @Test("Lines that no divergence affects have the same result in any profile", arguments: untouched)
    func same(row: Row) throws {
        for profile in [CookieProfile.rfc6265bis, .browser] + ProfileTests.flags {
            #expect(try fate(row.line, profile) == row.without)
        }
    }

    @Test(
        "__Host- needs a Path that says / itself, with its flag",
        arguments: ["; Path", "; Path=", "; Path=c"] as [Octets])
    func explicitPath(attribute: Octets) throws {
        let line = "__Host-a=1; Secure" + attribute
        #expect(try fate(line, [], at: "https://example.com/") == "stored / default")
        #expect(try fate(line, .hostPrefixNeedsExplicitPath, at: "https://example.com/") == "rejected: prefix-host")
        #expect(
            try fate(line + "; Path=/", .hostPrefixNeedsExplicitPath, at: "https://example.com/") == "stored / default")
        // A relative Path that is ignored is no Path at all.
        #expect(try fate(line, .ignoresRelativePath, at: "https://example.com/") == "rejected: prefix-host")
        #expect(try fate("__Host-a=1; Secure; Path=/" + attribute, .browser) == "stored / default")
    }

    @Test("Profiles have names")
    func names() {
        #expect(CookieProfile(name: "rfc6265bis") == .rfc6265bis)
        #expect(CookieProfile(name: "browser") == .browser)
        #expect(CookieProfile(name: "Browser") == nil)
        #expect(CookieProfile(name: "") == nil)
        #expect(ProfileTests.flags.reduce([]) { $0.union($1) } == CookieProfile.browser)
    }
}
