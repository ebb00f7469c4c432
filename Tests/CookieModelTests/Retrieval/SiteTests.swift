import PublicSuffix
import Testing

@testable import CookieModel

@Suite("Schemeful sites")
struct SiteTests {
    @Test(
        "A site is a scheme and a registrable domain, or the host without one",
        arguments: [
            ("https://www.example.com:8443/a", "https://example.com"), ("http://example.com/", "http://example.com"),
            ("wss://a.b.example.co.uk/", "https://example.co.uk"), ("ws://example.com/", "http://example.com"),
            ("https://user.github.io/", "https://user.github.io"),
            ("https://a.user.github.io/", "https://user.github.io"),
            ("https://github.io/", "https://github.io"), ("https://com/", "https://com"),
            ("https://localhost/", "https://localhost"),
            ("https://a.b.localhost/", "https://b.localhost"), ("https://127.0.0.1/", "https://127.0.0.1"),
            ("https://[::1]/", "https://[::1]"),
            ("https://www.example.com./", "https://example.com."), ("https://a.bücher.de/", "https://xn--bcher-kva.de"),
            ("https://a.b.kawasaki.jp/", "https://a.b.kawasaki.jp"),
            ("https://a.city.kawasaki.jp/", "https://city.kawasaki.jp"),
            ("https://kawasaki.jp/", "https://kawasaki.jp"), ("https://b.kawasaki.jp/", "https://b.kawasaki.jp"),
        ])
    func site(url: String, site: String) throws {
        #expect(SchemefulSite(try RequestURL(url), .bundled).description == site)
    }

    @Test(
        "Two URLs are same-site by scheme and registrable domain, ports and paths aside",
        arguments: [
            ("https://a.example.com/x", "https://b.example.com:81/y", true),
            ("https://example.com/", "wss://example.com/", true),
            ("http://example.com/", "ws://www.example.com/", true),
            ("https://example.com/", "http://example.com/", false),
            ("wss://example.com/", "ws://example.com/", false), ("https://a.github.io/", "https://b.github.io/", false),
            ("https://github.io/", "https://a.github.io/", false), ("https://1.2.3.4/", "https://2.2.3.4/", false),
            ("https://example.com/", "https://example.com./", false), ("https://a.co.uk/", "https://b.co.uk/", false),
            ("https://a.localhost/", "https://b.localhost/", false),
        ])
    func sameSite(first: String, second: String, isSame: Bool) throws {
        let (first, second) = (try RequestURL(first), try RequestURL(second))
        #expect((SchemefulSite(first, .bundled) == SchemefulSite(second, .bundled)) == isSame)
    }

    @Test(
        "A host is its own registrable domain's, or its own",
        arguments: [
            ("www.example.com", "example.com", false), ("example.com", "example.com", false), ("com", "com", true),
            ("com.", "com.", true), ("www.example.com.", "example.com.", false), ("127.0.0.1", "127.0.0.1", false),
            ("[::1]", "[::1]", false), ("www.食狮.中国", "xn--85x722f.xn--fiqs8s", false), ("中国", "xn--fiqs8s", true),
            ("s3.amazonaws.com", "s3.amazonaws.com", true), ("b.kawasaki.jp", "b.kawasaki.jp", true),
        ])
    func registrableDomain(text: String, domain: String, isSuffix: Bool) throws {
        let host = try #require(WebHost(text))
        #expect(host.registrableDomain(.bundled).description == domain)
        #expect(host.isPublicSuffix(.bundled) == isSuffix)
    }
}
