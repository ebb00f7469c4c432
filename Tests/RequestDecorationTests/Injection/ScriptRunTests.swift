import CookieModel
import Foundation
import RequestDecoration
import TestSupport
import Testing

@Suite("Injection scripts, run", .enabled(if: Node.path != nil, "node is not on the PATH"))
struct ScriptRunTests {
    /// Runs each page's script on that page and expects the cookies that the script says it carries.
    private func expectRoundTrip(_ pages: [Page]) throws {
        var pages = pages
        let scripts = pages.indices.map { pages[$0].script() }
        let results = try Browser.run(
            zip(scripts, pages).map { [.open($1.url.description), .script($0.source), .script($0.source)] })
        #expect(results.count == pages.count)
        for (index, result) in results.enumerated() {
            let lines = try #require(result[1].sets)
            let cookies = pages[index].cookies(settingAll: lines.map { Octets($0) })
            let carried = scripts[index].cookies
            #expect(lines.count == carried.count)
            #expect(Set(cookies.map(\.carried)) == Set(carried.map(\.carried)), "\(scripts[index].source)")
            #expect(result[2].sets == [], "a second run changes nothing")
        }
    }

    @Test("A script's cookie keeps every class of octets, in names and in values")
    func octets() throws {
        var pages: [Page] = []
        let scalars =
            (0x20...0xFF).map { UInt32($0) } + [
                0x7FF, 0x800, 0x2028, 0x2029, 0xFEFF, 0xFFFD, 0xFFFF, 0x10000, 0x10FFFF,
            ]
        for value in scalars where ![0x3B, 0x7F].contains(value) {
            let scalar = String(try #require(Unicode.Scalar(value)))
            var page = try Page()
            if value != 0x3D { try page.receive(Octets("n\(scalar)m=1")) }
            try page.receive(Octets("v=x\(scalar)y"))
            pages.append(page)
        }
        try expectRoundTrip(pages)
    }

    @Test("Text that would break out of a script stays text")
    func breakOut() throws {
        let texts = [
            "</script><script>document.cookie=1</script>", "\"; document.cookie = \"evil=1",
            "\\\"; document.cookie=\"x",
            "\\u0022", "`${document.cookie='x'}`", "');document.cookie=('x", "<!-- -->", "a=b=c", "%22",
            "\u{2028}document.cookie=1",
            "// comment", "*/", "\\", "\\\\", "\t\ttabs\tin the middle",
        ]
        try expectRoundTrip(
            texts.map { text in
                var page = try Page()
                try page.receive(Octets("a\(text.replacing("=", with: ""))=\(text)"), Octets("=\(text)"))
                return page
            })
    }

    @Test("A script's cookie keeps every attribute")
    func attributes() throws {
        var lines = ["a=1", "=1", "a="]
        for attribute in [
            "Path=/", "Path=/shop/cart", "Domain=example.com", "Domain=www.example.com", "Secure", "SameSite=Lax",
            "SameSite=Strict", "Max-Age=60", "Max-Age=99999999999", "Expires=Fri, 31 Dec 9999 23:59:59 GMT",
            "Secure; SameSite=None", "Secure; Partitioned", "Secure; SameSite=None; Partitioned; Max-Age=1; Path=/",
            "Secure; SameSite=Strict; Domain=example.com; Path=/shop; Max-Age=5000", "Path=/shop/=x", "Path=/\u{E9}",
        ] {
            lines.append("a=1; \(attribute)")
        }
        lines += ["__Host-a=1; Secure; Path=/", "__Secure-a=1; Secure", "__host-a=1; Secure; Path=/; SameSite=Strict"]
        try expectRoundTrip(
            lines.map { line in
                var page = try Page("https://www.example.com/shop/cart")
                try page.receive(Octets(line))
                return page
            })
    }

    @Test(
        "A script's cookie keeps every kind of host and path",
        arguments: [
            "http://localhost:8080/a/b", "http://127.0.0.1/", "https://[::1]:8443/x/y",
            "https://b%C3%BCcher.example/\u{E9}/x",
            "https://www.example.com/a;b/c", "https://www.example.com/a%3Bb/c?x;y#z", "https://www.example.com./a/b",
            "https://www.example.com/%22%3C/x", "https://x.github.io/a/b", "https://www.example.com/a'b/c",
        ])
    func places(url: String) throws {
        var page = try Page(url)
        try page.receive("a=1", "b=2; Path=/", "c=3; Secure")
        #expect(page.script().cookies.count == 3)
        try expectRoundTrip([page])
    }

    @Test("Random cookies on random pages are set by the script, or listed")
    func random() throws {
        var generator = SeededGenerator(seed: 7)
        let attributes = [
            "Path=/", "Path=/a", "Path=/a/b", "Domain=example.com", "Secure", "SameSite=None; Secure",
            "SameSite=Lax", "Max-Age=100", "Partitioned; Secure", "HttpOnly", "Path=/a;b",
        ]
        var pages: [Page] = []
        for _ in 0..<150 {
            var page = try Page(
                "https://www.example.com\(["/", "/a/b", "/a/b/c", "/a;b/c"].randomElement(using: &generator) ?? "/")")
            let context = RequestContext(url: page.url)
            for _ in 0..<6 {
                var bytes = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                    UInt8.random(in: 0x20...0xFF, using: &generator)
                }
                bytes +=
                    [0x3D]
                    + Array(
                        String(
                            (0..<4).map { _ in
                                Character(Unicode.Scalar(UInt8.random(in: 0x20...0xFF, using: &generator)))
                            }
                        ).utf8)
                for _ in 0..<Int.random(in: 0...3, using: &generator) {
                    bytes += Array("; \(attributes.randomElement(using: &generator) ?? "")".utf8)
                }
                page.store.receive(Octets(bytes), in: context, now: Page.now)
            }
            var copy = page
            let script = copy.script()
            #expect(script.cookies.count + script.omissions.count == page.store.count)
            pages.append(page)
        }
        try expectRoundTrip(pages)
    }

    @Test("A script sets nothing on a page of another host or scheme")
    func guarded() throws {
        var page = try Page("https://www.example.com/a;b/c")
        try page.receive("a=1; Path=/", "own=2")
        let source = page.script().source
        let places: [(url: String, sets: [String])] = [
            ("https://www.example.com/a;b/c", ["own=2", "a=1; Path=/"]), ("https://www.example.com/", ["a=1; Path=/"]),
            ("https://www.example.com:8443/a;b/d", ["own=2", "a=1; Path=/"]),
            ("https://www.example.com/a;b/c/d", ["a=1; Path=/"]), ("http://www.example.com/a;b/c", []),
            ("https://example.com/a;b/c", []), ("https://evil.www.example.com/a;b/c", []),
            ("https://www.example.com./a;b/c", []), ("about:blank", []), ("about:srcdoc", []),
            ("blob:https://www.example.com/x", []), ("data:text/html,x", []),
        ]
        let results = try Browser.run(
            places.map { [.open($0.url), .script(source)] } + [
                [Browser.Step(open: "bare", bare: true), .script(source)]
            ])
        for (place, result) in zip(places, results) {
            #expect(result[1].sets == place.sets && result[1].error == nil, "\(place.url)")
        }
        #expect(results.last?.last?.sets == [] && results.last?.last?.error == nil)
    }
}
