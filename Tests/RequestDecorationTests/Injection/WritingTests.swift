import CookieModel
import RequestDecoration
import Testing

@Suite("When an injection script writes", .enabled(if: Node.path != nil, "node is not on the PATH"))
struct WritingTests {
    private static let url = "https://www.example.com/shop/cart"

    private func script(_ writing: InjectionScript.Writing, _ lines: Octets...) throws -> String {
        var page = try Page(WritingTests.url)
        for line in lines { try page.receive(line) }
        return page.script(writing).source
    }

    @Test("A script sets a cookie that the page does not have", arguments: InjectionScript.Writing.allCases)
    func absent(writing: InjectionScript.Writing) throws {
        let results = try Browser.run(
            .open(WritingTests.url), .script(try script(writing, "a=1; Path=/")), .script("document.cookie"))
        #expect(results[1].sets == ["a=1; Path=/"] && results[2].value == "a=1")
    }

    @Test(
        "A script does not change the page's own values, unless the jar always counts",
        arguments: [(.once, "a=2"), (.missing, "a=2"), (.always, "a=1")] as [(InjectionScript.Writing, String)])
    func other(writing: InjectionScript.Writing, expected: String) throws {
        let results = try Browser.run(
            .http("a=2; Path=/", from: WritingTests.url), .open(WritingTests.url),
            .script(try script(writing, "a=1; Path=/")), .script("document.cookie"))
        #expect(results[3].value == expected)
    }

    @Test(
        "A script does not restore values that the page deletes, in the same document and in later ones of the tab",
        arguments: [(.once, ""), (.missing, "a=1"), (.always, "a=1")] as [(InjectionScript.Writing, String)])
    func deleted(writing: InjectionScript.Writing, expected: String) throws {
        let source = try script(writing, "a=1; Path=/")
        let delete = Browser.Step.script("document.cookie = 'a=; Path=/; Max-Age=0'")
        let results = try Browser.run(
            .open(WritingTests.url), .script(source), delete, .script(source), .script("document.cookie"), delete,
            .open(WritingTests.url), .script(source), .script("document.cookie"))
        #expect(results[4].value == expected && results[8].value == expected)
    }

    @Test("A script gives the cookies to a new tab again, and to a tab whose jar has another value")
    func newTab() throws {
        let source = try script(.once, "a=1; Path=/")
        let delete = Browser.Step.script("document.cookie = 'a=; Path=/; Max-Age=0'")
        let results = try Browser.run(
            .open(WritingTests.url), .script(source), delete, Browser.Step(newTab: true), .open(WritingTests.url),
            .script(source), delete, .script(try script(.once, "a=2; Path=/")), .script("document.cookie"))
        #expect(results[5].sets == ["a=1; Path=/"])
        #expect(results[8].value == "a=2")
    }

    @Test("A script sets missing values if the tab remembers nothing")
    func withoutStorage() throws {
        let source = try script(.once, "a=1; Path=/")
        let page = Browser.Step.open(WritingTests.url).with { $0.withoutStorage = true }
        let results = try Browser.run(page, .script(source), page, .script(source))
        #expect(results[1].sets == ["a=1; Path=/"] && results[3].sets == [] && results[3].error == nil)
    }

    @Test("A script sets a cookie of another path only on a page that sees it, so that no newer value is lost")
    func otherPath() throws {
        let source = try script(.always, "a=1; Path=/shop")
        let results = try Browser.run(
            .http("a=2; Path=/shop", from: WritingTests.url), .open("https://www.example.com/help"), .script(source),
            .open("https://www.example.com/shopping"), .script(source), .open("https://www.example.com/shop"),
            .script(source))
        #expect(results[2].sets == [] && results[4].sets == [])
        #expect(results[6].sets == ["a=1; Path=/shop"])
    }

    @Test("A page that opens late gives no cookie a longer life, and deletes none")
    func late() throws {
        let source = try script(.always, "a=1; Path=/; Max-Age=60", "b=2; Path=/; Max-Age=120", "c=3; Path=/")
        let start = Page.now.microseconds / 1000
        var results = try Browser.run(
            .open(WritingTests.url), Browser.Step(now: start + 90_000), .script(source), .script("document.cookie"),
            Browser.Step(now: start + 121_000), .script("document.cookie"))
        #expect(results[3].value == "b=2; c=3" && results[5].value == "c=3")
        results = try Browser.run(
            .http("a=9; Path=/", from: WritingTests.url), .open(WritingTests.url), Browser.Step(now: start + 90_000),
            .script(source), .script("document.cookie"))
        #expect(results[4].value?.contains("a=9") == true)
    }

    @Test("A script sets both of two cookies of one name with different paths")
    func sameName() throws {
        let results = try Browser.run(
            .open(WritingTests.url), .script(try script(.once, "a=1; Path=/", "a=2; Path=/shop")),
            .script("document.cookie"))
        #expect(results[2].value == "a=2; a=1")
    }

    @Test("A script for several origins gives each frame its own, and only that")
    func severalOrigins() throws {
        var shop = try Page("https://shop.example.com/")
        try shop.receive("s=1; Path=/")
        var blog = try Page("http://blog.example.net/")
        try blog.receive("b=2; Path=/")
        let source = InjectionScript([shop.access(), blog.access()]).source
        for (url, sets) in [
            ("https://shop.example.com/x", ["s=1; Path=/"]), ("http://blog.example.net/y", ["b=2; Path=/"]),
            ("https://blog.example.net/", []), ("http://shop.example.com/", []), ("https://evil.test/", []),
        ] {
            let frame = Browser.Step.open(url).with { $0.ancestors = ["https://evil.test"] }
            #expect(try Browser.run(frame, .script(source))[1].sets == sets, "\(url)")
        }
    }

    @Test("A script sets a partitioned cookie only under its own top-level page")
    func partitioned() throws {
        var top = try Page("https://www.example.com/")
        try top.receive("own=1; Secure; Path=/; Partitioned", "plain=2; Path=/")
        var frame = try Page("https://widget.test/")
        let context = RequestContext(
            url: frame.url, topLevel: top.url, initiator: .origin(frame.url))
        frame.store.receive("w=3; Secure; Path=/; SameSite=None; Partitioned", in: context, now: Page.now)
        let source = InjectionScript([top.access(), frame.access(topLevel: top.url)]).source
        let cases: [(url: String, ancestors: [String]?, sets: Int)] = [
            ("https://www.example.com/", nil, 2), ("https://www.example.com/", ["https://evil.test"], 1),
            ("https://widget.test/", ["https://www.example.com"], 1), ("https://widget.test/", nil, 0),
            ("https://widget.test/", ["https://www.example.com", "https://evil.test"], 0),
            ("https://widget.test/", ["https://www.example.com:8443"], 0),
        ]
        for place in cases {
            let step = Browser.Step.open(place.url).with { $0.ancestors = place.ancestors }
            #expect(try Browser.run(step, .script(source))[1].sets?.count == place.sets, "\(place)")
        }
    }
}
