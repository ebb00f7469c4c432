import CookieModel
import RequestDecoration
import Testing

@Suite("Redirects, as the Fetch Standard follows them")
struct RedirectTests {
    private static let base = "https://example.com/a/b?q=1"

    private func redirect(_ status: Int, _ location: String?, method: String = "GET") throws -> Redirect? {
        try Redirect(
            status: status, location: location.map { Octets($0) }, url: try RequestURL(RedirectTests.base),
            method: method)
    }

    @Test(
        "A redirect changes method and body as the Fetch Standard requires",
        arguments: [
            (301, "GET", "GET", true), (301, "HEAD", "HEAD", true), (301, "POST", "GET", false),
            (301, "PUT", "PUT", true), (301, "DELETE", "DELETE", true),
            (302, "GET", "GET", true), (302, "HEAD", "HEAD", true), (302, "POST", "GET", false),
            (302, "PATCH", "PATCH", true),
            (303, "GET", "GET", true), (303, "HEAD", "HEAD", true), (303, "POST", "GET", false),
            (303, "PUT", "GET", false), (303, "DELETE", "GET", false), (303, "OPTIONS", "GET", false),
            (307, "GET", "GET", true), (307, "POST", "POST", true), (307, "PUT", "PUT", true),
            (308, "POST", "POST", true), (308, "HEAD", "HEAD", true),
        ])
    func method(status: Int, method: String, next: String, keepsBody: Bool) throws {
        let redirect = try #require(try redirect(status, "/next", method: method))
        #expect(redirect.method == next && redirect.keepsBody == keepsBody)
        #expect(redirect.url.description == "https://example.com/next")
    }

    @Test(
        "A redirect to anything but http and https is an error",
        arguments: ["ws://a.test/", "wss://a.test/", "ftp://a/"])
    func schemes(location: String) {
        #expect(throws: RequestURLError(code: .schemeUnsupported)) { try redirect(302, location) }
    }

    @Test(
        "Responses with other statuses are not redirects, whatever their Location",
        arguments: [
            100, 200, 201, 204, 300, 304, 305, 306, 309, 399, 400, 500, 0, -1,
        ])
    func otherStatuses(status: Int) throws {
        #expect(try redirect(status, "https://other.example/") == nil)
    }

    @Test("A response without a Location is not a redirect", arguments: [301, 302, 303, 307, 308])
    func noLocation(status: Int) throws {
        #expect(try redirect(status, nil) == nil)
    }

    @Test(
        "Locations are resolved against the request's URL",
        arguments: [
            ("https://other.example/x", "https://other.example/x"), ("//other.example/x", "https://other.example/x"),
            ("/x", "https://example.com/x"), ("x", "https://example.com/a/x"), ("./x", "https://example.com/a/x"),
            ("../x", "https://example.com/x"), ("../../../x", "https://example.com/x"), ("", RedirectTests.base),
            ("?q=2", "https://example.com/a/b?q=2"), ("#part", RedirectTests.base),
            ("/x#part", "https://example.com/x"),
            ("HTTP://OTHER.example:80/", "http://other.example/"), ("https://example.com:443/", "https://example.com/"),
            (" /x ", "https://example.com/x"), ("/x y", "https://example.com/x%20y"),
            ("/é", "https://example.com/%C3%A9"),
            ("https:/x", "https://example.com/x"), ("https:x", "https://example.com/a/x"),
            ("https:///other.example/x", "https://other.example/x"), ("http:/other.example", "http://other.example/"),
            ("\\x", "https://example.com/x"),
            ("https://user:password@other.example/", "https://other.example/"), ("x:y/z", nil),
            ("/a:b", "https://example.com/a:b"),
            ("./a:b", "https://example.com/a/a:b"),
        ] as [(String, String?)])
    func locations(location: String, expected: String?) throws {
        if let expected {
            #expect(try redirect(302, location)?.url.description == expected)
        } else {
            #expect(throws: RequestURLError.self) { try redirect(302, location) }
        }
    }

    @Test("Octets of a Location that are not text are percent-encoded one by one")
    func octets() throws {
        let redirect = try Redirect(
            status: 302, location: [0x2F, 0xE9], url: try RequestURL(RedirectTests.base), method: "GET")
        #expect(redirect?.url.description == "https://example.com/%E9")
    }

    @Test(
        "A Location that nothing can be requested from is an error",
        arguments: [
            "javascript:alert(1)", "data:text/html,x", "ftp://example.com/", "file:///etc/passwd", "mailto:a@b",
            "https://", "https://exa mple.com/", "https://example.com:99999/", "https://[::1/", "about:blank",
        ])
    func invalid(location: String) throws {
        #expect(throws: RequestURLError.self) { try redirect(302, location) }
    }

    @Test(
        "Fields for one origin are not sent to another one",
        arguments: [
            ("https://example.com/x", false), ("https://example.com:443/", false), ("/x", false),
            ("http://example.com/", true), ("https://example.com:8443/", true), ("https://www.example.com/", true),
            ("https://example.com./", true), ("//example.org/", true),
        ])
    func crossOrigin(location: String, isCrossOrigin: Bool) throws {
        #expect(try redirect(307, location)?.isCrossOrigin == isCrossOrigin)
    }

    @Test("Twenty redirects are followed")
    func limit() {
        #expect(Redirect.limit == 20)
    }
}
