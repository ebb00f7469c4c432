import CookieModel
import Foundation
import RequestDecoration
import Testing

@Suite("Injection scripts")
struct InjectionScriptTests {
    /// The set-cookie-strings of a script, in order, as its literals have them.
    private func assignments(_ script: InjectionScript) -> [String] {
        script.source.matches(of: #/\{name: "([^"]*)", value: "([^"]*)", path: "[^"]*", attributes: "([^"]*)"/#)
            .map { "\($0.1)=\($0.2)\($0.3)" }
    }

    @Test("An empty jar gives no script")
    func empty() throws {
        var page = try Page()
        let script = page.script()
        #expect(script.source.isEmpty && script.cookies.isEmpty && script.omissions.isEmpty)
    }

    @Test(
        "A script has the attributes of its cookies",
        arguments: [
            ("a=1", "a=1; Path=/shop"), ("a=1; Path=/", "a=1; Path=/"), ("a=", "a=; Path=/shop"),
            ("a=1; Domain=example.com", "a=1; Path=/shop; Domain=example.com"),
            ("a=1; Secure", "a=1; Path=/shop; Secure"),
            ("a=1; SameSite=Strict", "a=1; Path=/shop; SameSite=Strict"),
            ("a=1; SameSite=lax", "a=1; Path=/shop; SameSite=Lax"), ("a=1; SameSite=odd", "a=1; Path=/shop"),
            ("a=1; Secure; SameSite=None; Partitioned", "a=1; Path=/shop; Secure; SameSite=None; Partitioned"),
            ("a=1; Max-Age=60", "a=1; Path=/shop; Expires=Fri, 15 Jan 2027 08:01:00 GMT"),
            ("a=1; Expires=Sat, 16 Jan 2027 00:00:00 GMT", "a=1; Path=/shop; Expires=Sat, 16 Jan 2027 00:00:00 GMT"),
            ("__Host-a=1; Secure; Path=/", "__Host-a=1; Path=/; Secure"),
        ])
    func attributes(line: String, assignment: String) throws {
        var page = try Page()
        try page.receive(Octets(line))
        #expect(assignments(page.script()) == [assignment])
    }

    @Test("A script writes a cookie without a name with an equals sign, so that its value keeps its own")
    func nameless() throws {
        var page = try Page()
        try page.receive("=a=b")
        #expect(assignments(page.script()) == ["=a=b; Path=/shop"])
    }

    @Test("A script has nothing of HttpOnly cookies, which are listed with the reason")
    func httpOnly() throws {
        var page = try Page()
        try page.receive("sid=secret; HttpOnly", "theme=dark")
        let script = page.script()
        #expect(script.cookies.map(\.name) == ["theme"])
        #expect(script.omissions.map(\.cookie.name) == ["sid"])
        #expect(script.omissions.map(\.identifiers) == [["http-only"]])
        #expect(script.omissions.allSatisfy { $0.explanations.count == $0.identifiers.count })
        #expect(!script.source.contains("sid") && !script.source.contains("secret"))
    }

    @Test(
        "Cookies with octets that are not text are listed with the reason",
        arguments: [
            [0x61, 0x3D, 0xFF], [0xC3, 0x3D, 0x31], [0x61, 0x3D, 0xED, 0xA0, 0x80], [0x61, 0x3D, 0xC0, 0xAF],
            Array("a=1; Path=/shop/".utf8) + [0xE9], Array("a=1; Path=/".utf8) + [0xE9],
        ] as [[UInt8]])
    func notText(line: [UInt8]) throws {
        var page = try Page("https://www.example.com/shop/cart")
        try page.receive(Octets(line), "b=2")
        let script = page.script()
        #expect(script.cookies.map(\.name) == ["b"])
        let reasons = script.omissions.flatMap(\.identifiers)
        #expect(reasons == ["octets-not-utf8"])
    }

    @Test("Cookies that other hosts would get are listed with the reason")
    func elsewhere() throws {
        var page = try Page("http://www.example.com/shop/cart")
        try page.receive("path=1; HttpOnly; Path=/other")
        try page.receive("host=2", from: "https://other.example.com/shop/")
        try page.receive("secure=3; Secure; Domain=example.com", from: "https://www.example.com/shop/")
        try page.receive("unrelated=4", from: "https://example.org/shop/")
        let script = page.script()
        #expect(script.source.isEmpty)
        let reasons = Dictionary(
            uniqueKeysWithValues: script.omissions.map { ($0.cookie.name.description, $0.identifiers) })
        #expect(reasons == ["path": ["http-only"], "host": ["host-only-mismatch"], "secure": ["secure-only"]])
    }

    @Test(
        "Cookies of other paths are set, and listed as not verifiable; the rules for scripts apply to them, too"
    )
    func otherPaths() throws {
        var page = try Page("https://www.example.com/")
        try page.receive(
            "api=1; Path=/api", "wide=2; Path=/api; Domain=example.com", "root=3; Path=/",
            "sid=secret; Path=/api; HttpOnly", "__Http-x=4; Path=/api; Secure; HttpOnly")
        try page.receive("host=5; Path=/api", from: "https://api.example.com/")
        let script = page.script()
        #expect(
            assignments(script) == ["api=1; Path=/api", "wide=2; Path=/api; Domain=example.com", "root=3; Path=/"])
        #expect(script.unverifiable.map(\.name) == ["api", "wide"])
        #expect(script.omissions.map(\.identifiers) == [["http-only"], ["http-only"], ["host-only-mismatch"]])
        var api = try Page("https://www.example.com/api/v1")
        api.store = page.store
        #expect(InjectionScript([page.access(), api.access()]).unverifiable.isEmpty)
    }

    @Test("A cookie of another path that an engine may cut off is left out, unless a page sees its path")
    func notVerifiable() throws {
        var page = try Page("https://www.example.com/")
        try page.receive("\u{E9}=1; Path=/api", "a=\u{E9}; Path=/api", "b=\u{E9}; Path=/")
        let script = page.script()
        #expect(script.cookies.map(\.name) == ["b"])
        #expect(script.omissions.map(\.identifiers) == [["octets-not-verifiable"], ["octets-not-verifiable"]])
        var api = try Page("https://www.example.com/api/")
        api.store = page.store
        #expect(api.script().cookies.count == 3 && api.script().omissions.isEmpty)
    }

    @Test("Finding out whether a page sees a path takes the same time for many pages as for few")
    func manyPages() throws {
        let store = try {
            var page = try Page("https://www.example.com/")
            try page.receive("a=1; Path=/p5/x", "b=2; Path=/p5", "c=3; Path=/p5/")
            return page.store
        }()
        let pages = try (0..<200).map { number in
            var page = try Page("https://www.example.com/p\(number)/y")
            page.store = store
            return page.access()
        }
        #expect(InjectionScript(pages).unverifiable.map(\.name) == ["a"])
    }

    @Test("A script sets a cookie with a semicolon in its path only if the page's own path supplies it")
    func semicolonPath() throws {
        var page = try Page("https://www.example.com/a;b/c")
        try page.receive("own=1", "root=2; Path=/")
        var script = page.script()
        #expect(script.cookies.map(\.name) == ["own", "root"] && script.omissions.isEmpty)
        #expect(assignments(script) == ["own=1", "root=2; Path=/"])
        #expect(script.source.contains("ownPath: true") && script.source.contains("ownPath: false"))
        var deeper = try Page("https://www.example.com/a;b/c/d")
        deeper.store = page.store
        script = deeper.script()
        #expect(script.cookies.map(\.name) == ["root"])
        #expect(script.omissions.map(\.identifiers) == [["path-not-writable"]])
    }

    @Test("A script sets a cookie with a too long path if the page's own path supplies it")
    func longPath() throws {
        let path = "/" + String(repeating: "x", count: 1024)
        var page = try Page("https://www.example.com\(path)/page")
        try page.receive("a=1")
        #expect(page.script().cookies.count == 1)
        var deeper = try Page("https://www.example.com\(path)/page/deeper")
        deeper.store = page.store
        #expect(deeper.script().omissions.map(\.identifiers) == [["path-not-writable"]])
        var limit = try Page("https://www.example.com\(path.dropLast())/page")
        try limit.receive("a=1")
        #expect(assignments(limit.script()).map(\.count) == ["a=1; Path=".count + 1024])
    }

    @Test(
        "A script is ASCII without any character that ends a string, an element or an attribute",
        arguments: [
            "</script><script>alert(1)</script>", "\"; alert(1); \"", "'+alert(1)+'", "\\", "\\\"", "`${1}`", "<!--",
            "&quot;",
            "\u{2028}\u{2029}", "é\u{1F36A}", "\u{FEFF}", "\u{85}", "a\tb", "-->", "]]>", "%00", "*/",
        ])
    func safe(text: String) throws {
        var page = try Page()
        try page.receive(Octets("a\(text)=1\(text)"))
        let script = page.script()
        #expect(script.cookies.count == 1)
        #expect(script.source.utf8.allSatisfy { (0x20..<0x7F).contains($0) || $0 == 0x0A })
        let assignment = try #require(assignments(script).first)
        #expect(!assignment.contains { "\"'`<>&".contains($0) })
        #expect(assignment.replacing(#/\\u[0-9A-F]{4}/#, with: "").contains("\\") == false)
    }

    @Test(
        "Cookies that a browser rejects from a script are listed with the reason",
        arguments: [
            ("__Http-a=1; Secure", "https://www.example.com/", "prefix-http"),
            ("__Host-Http-a=1; Secure; Path=/", "https://www.example.com/", "prefix-http"),
        ])
    func refused(line: String, url: String, reason: String) throws {
        var page = try Page(url)
        try page.receive(Octets(line), "b=2")
        let script = page.script()
        #expect(script.cookies.map(\.name) == ["b"])
        #expect(script.omissions.map(\.identifiers) == [[reason]])
        #expect(script.omissions.map(\.explanations.count) == [1])
    }

    @Test("Several pages share one script; each page of an origin adds the cookies that the others cannot see")
    func severalPages() throws {
        var shop = try Page("https://www.example.com/shop/cart")
        try shop.receive("root=1; Path=/", "shop=2; Path=/shop", "hidden=3; HttpOnly; Path=/")
        var help = try Page("https://www.example.com:8443/help/")
        help.store = shop.store
        try help.receive("help=4; Path=/help")
        shop.store = help.store
        var blog = try Page("https://blog.example.net/")
        try blog.receive("blog=5")
        let script = InjectionScript([shop.access(), help.access(), blog.access()])
        #expect(script.cookies.map(\.name) == ["shop", "help", "root", "blog"])
        #expect(script.omissions.map(\.cookie.name) == ["hidden", "hidden"])
        #expect(script.source.components(separatedBy: "host === ").count == 3)
    }

    @Test("A script states a lifetime as a time, in the attribute and in its code")
    func lifetime() throws {
        var page = try Page()
        try page.receive("a=1; Max-Age=60", "b=2")
        let source = page.script().source
        #expect(source.contains("expires: 1800000060000,") && source.contains("expires: null,"))
        #expect(!source.contains("; Max-Age=60"))
    }

    @Test("Each obstacle has its own explanation")
    func obstacles() {
        for obstacle in InjectionScript.Obstacle.allCases { #expect(!obstacle.explanation.isEmpty) }
        #expect(
            Set(InjectionScript.Obstacle.allCases.map(\.explanation)).count == InjectionScript.Obstacle.allCases.count)
    }
}
