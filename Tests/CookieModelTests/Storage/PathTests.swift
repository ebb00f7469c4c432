import Testing

@testable import CookieModel

@Suite("Paths (sections 5.1.4 and 5.7, step 11)")
struct PathTests {
    @Test(
        "The default-path is the request's up to its last slash",
        arguments: [
            ("", "/"), ("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("/a/b/", "/a/b"),
            ("/a/b/c.html", "/a/b"),
            ("//", "/"), ("//a", "/"), ("/a//", "/a/"), ("a", "/"), ("a/b", "/"), ("/a%2Fb", "/"), ("/é/b", "/é"),
        ] as [(Octets, Octets)])
    func defaultPath(requestPath: Octets, path: Octets) {
        #expect(CookiePolicy.defaultPath(requestPath) == path)
    }

    @Test(
        "A path matches itself and all below it",
        arguments: [
            ("/", "/"), ("/a", "/"), ("/a/b", "/"), ("/a", "/a"), ("/a/", "/a"), ("/a/b", "/a"), ("/a/", "/a/"),
            ("/a/b", "/a/"),
            ("//", "/"), ("/a//b", "/a/"), ("/a%20b", "/a%20b"), ("/A/b", "/A"),
        ] as [(Octets, Octets)])
    func matches(requestPath: Octets, cookiePath: Octets) {
        #expect(CookiePolicy.pathMatches(requestPath, cookiePath))
        if requestPath != cookiePath { #expect(!CookiePolicy.pathMatches(cookiePath, requestPath)) }
        let paths = CookiePolicy.cookiePaths(for: requestPath)
        #expect(paths.contains(cookiePath) && paths.allSatisfy { CookiePolicy.pathMatches(requestPath, $0) })
        #expect(Set(paths).count == paths.count)
    }

    @Test(
        "A path matches nothing else",
        arguments: [
            ("/ab", "/a"), ("/", "/a"), ("/a", "/a/"), ("/A", "/a"), ("/b/a", "/a"), ("/%61", "/a"), ("/a%2Fb", "/a"),
            ("/a;b", "/a"), ("/a?b", "/a"), ("/a.html", "/a"),
        ] as [(Octets, Octets)])
    func mismatches(requestPath: Octets, cookiePath: Octets) {
        #expect(!CookiePolicy.pathMatches(requestPath, cookiePath))
        #expect(!CookiePolicy.cookiePaths(for: requestPath).contains(cookiePath))
    }

    @Test("A path of many folders matches the first of them")
    func deepPath() {
        let path = Octets(String(repeating: "/a", count: 100_000))
        let paths = CookiePolicy.cookiePaths(for: path)
        #expect(paths.count == 200 && paths.contains("/a/a") && paths.contains(path))
    }

    @Test(
        "A cookie's path is its Path, or the default-path of the request",
        arguments: [
            ("", "/a/b", "/a"), ("; Path=/c", "/a/b", "/c"), ("; Path=c", "/a/b", "/a"), ("; Path=", "/a/b", "/a"),
            ("; Path", "/a/b", "/a"),
            ("; Path=/c; Path=d", "/a/b", "/a"), ("; Path=c; Path=/d", "/a/b", "/d"), ("; Path=/c/", "/a/b", "/c/"),
            ("; Path=/", "/a/b", "/"), ("", "", "/"), ("", "?/a/b/", "/"), ("", "/a/b/#/c/d", "/a/b"),
            ("", "/a/../b/c", "/b"),
            ("", "/a\\b", "/a"), ("", "/é/", "/%C3%A9"), ("; Path=/é", "/", "/é"), ("; Path=/../x", "/", "/../x"),
            ("; Path= /c d ", "/", "/c d"), ("; Path=/c?d=e", "/", "/c?d=e"),
        ] as [(Octets, String, Octets)])
    func cookiePath(attributes: Octets, requestPath: String, path: Octets) throws {
        var session = Session()
        try session.set("a=1" + attributes, at: "https://example.com\(requestPath)")
        #expect(session.store.cookies.map(\.path) == [path])
    }

    @Test("A Path need not be one of the request's own")
    func foreignPath() throws {
        var session = Session()
        #expect(try session.set("a=1; Path=/b", at: "https://example.com/c/") == "stored")
        #expect(try session.sent(to: "https://example.com/b/d") == "a=1")
        #expect(try session.kept(from: "https://example.com/c/") == ["a: path-mismatch"])
    }

    @Test(
        "Query and fragment are no part of the request's path",
        arguments: [
            "https://example.com/a?", "https://example.com/a?b/c", "https://example.com/a#b/c",
            "https://example.com/x/../a",
            "https://example.com/./a", "https://example.com\\a", "https://example.com/%2e%2E/a",
        ])
    func requestPath(url: String) throws {
        var session = Session()
        try session.set("a=1; Path=/a")
        #expect(try session.sent(to: url) == "a=1")
        #expect(try session.sent(to: "https://example.com/?/a") == "")
    }

    @Test("Percent-encoding is compared without decoding")
    func percentEncoding() throws {
        var session = Session()
        try session.set("a=1; Path=/%61")
        try session.set("b=2; Path=/a")
        try session.set("c=3; Path=/%c3%a9")
        #expect(try session.sent(to: "https://example.com/%61") == "a=1")
        #expect(try session.sent(to: "https://example.com/a") == "b=2")
        #expect(try session.sent(to: "https://example.com/é") == "")
    }
}
