import CookieModel
import RequestDecoration
import Testing

@Suite("Reports of an injection script", .enabled(if: Node.path != nil, "node is not on the PATH"))
struct VerificationTests {
    private static let url = "https://www.example.com/shop/cart"

    private func report(
        _ lines: [Octets], writing: InjectionScript.Writing = .once, _ steps: [Browser.Step] = [],
        page change: (inout Browser.Step) -> Void = { _ in }
    ) throws -> InjectionReport {
        var page = try Page(VerificationTests.url)
        for line in lines { try page.receive(line) }
        let source = page.script(writing, .value).source
        let results = try Browser.run([
            steps + [Browser.Step.open(VerificationTests.url).with(change), .script(source)]
        ])
        return try InjectionReport(try #require(results[0].last?.value))
    }

    @Test("The script's report has a state for each cookie")
    func states() throws {
        let present = Browser.Step.http("p=1; Path=/", from: VerificationTests.url)
        let other = Browser.Step.http("k=9; Path=/", from: VerificationTests.url)
        let report = try report(
            ["s=1; Path=/", "p=1; Path=/", "k=1; Path=/", "e=1; Path=/; Max-Age=1", "\u{E9}=\u{1F36A}\"\\; Path=/"],
            [present, other], page: { $0.now = Page.now.microseconds / 1000 + 2000 })
        let states = Dictionary(uniqueKeysWithValues: report.cookies.map { ($0.name, $0.state) })
        #expect(states == ["s": .set, "p": .present, "k": .kept, "e": .expired, "\u{E9}": .set])
        #expect(report.page == "https://www.example.com")
        #expect(report.cookies.allSatisfy { $0.domain == "www.example.com" && $0.path == "/" })
        #expect(report.isComplete)
    }

    @Test("The script reports a browser that rejects a cookie, and a page that may not use cookies")
    func refused() throws {
        let refused = try report(["a=1; Path=/; Domain=example.com"], page: { $0.refuses = true })
        #expect(refused.cookies.map(\.state) == [.refused] && !refused.isComplete)
        #expect(refused.cookies.map(\.domain) == [".example.com"])
        let blocked = try report(["a=1"], page: { $0.sandboxed = true })
        #expect(blocked.cookies.map(\.state) == [.blocked] && !blocked.isComplete)
    }

    @Test("A value that the browser truncates is removed, unless the page had the cookie before")
    func mangled() throws {
        var page = try Page(VerificationTests.url)
        try page.receive("a=x\u{E9}y; Path=/; Max-Age=500", "b=2; Path=/")
        let source = page.script(.always, .value).source
        let mangling = Browser.Step.open(VerificationTests.url).with { $0.mangles = true }
        for (before, after) in [("", "b=2"), ("a=own", "a=x; b=2")] {
            let results = try Browser.run(
                .http("\(before); Path=/", from: VerificationTests.url), mangling, .script(source),
                .script("document.cookie"))
            #expect(try InjectionReport(try #require(results[2].value)).cookies.map(\.state) == [.refused, .set])
            #expect(results[3].value?.hasSuffix(after) == true, "\(results)")
        }
    }

    @Test("A cookie of another path is set once per tab, and reported as not verifiable, whatever the page shows")
    func unverifiable() throws {
        var page = try Page("https://www.example.com/")
        try page.receive("api=1; Path=/api", "root=2; Path=/")
        for (writing, sets) in [
            (.once, ["api=1; Path=/api", "root=2; Path=/"]), (.missing, ["api=1; Path=/api", "root=2; Path=/"]),
            (.always, ["api=1; Path=/api", "root=2; Path=/"]),
        ] as [(InjectionScript.Writing, [String])] {
            let source = page.script(writing, .value).source
            let results = try Browser.run(
                .open("https://www.example.com/"), .script(source), .open("https://www.example.com/api/v1"),
                .script("document.cookie"), .open("https://www.example.com/"), .script(source))
            #expect(results[1].sets == sets)
            let states = try InjectionReport(try #require(results[1].value))
            #expect(states.cookies.map(\.state) == [.unverifiable, .set] && states.isComplete)
            #expect(results[3].value == "api=1; root=2")
            let again = try InjectionReport(try #require(results[5].value)).cookies.map(\.state)
            switch writing {
            case .once: #expect(again == [.given, .given])
            case .missing: #expect(again == [.given, .present])
            case .always: #expect(again == [.unverifiable, .present])
            }
        }
    }

    @Test("A page of the cookie's own path sees it, and verifies it")
    func seenLater() throws {
        var page = try Page("https://www.example.com/")
        try page.receive("api=1; Path=/api")
        let source = page.script(.missing, .value).source
        let results = try Browser.run(
            .http("api=9; Path=/api", from: "https://www.example.com/api/"), .open("https://www.example.com/api/v1"),
            .script(source), .script("document.cookie"))
        #expect(try InjectionReport(try #require(results[2].value)).cookies.map(\.state) == [.kept])
        #expect(results[3].value == "api=9")
    }

    @Test("The script reports cookies that the tab was given before, and those of a later page's path as elsewhere")
    func given() throws {
        var page = try Page(VerificationTests.url)
        try page.receive("a=1; Path=/", "b=2; Path=/shop/cart")
        let source = page.script(.once, .value).source
        let results = try Browser.run(
            .open("https://www.example.com/"), .script(source),
            .script("document.cookie = 'a=; Path=/; Max-Age=0'"), .script(source))
        #expect(try InjectionReport(try #require(results[1].value)).cookies.map(\.state) == [.elsewhere, .set])
        #expect(try InjectionReport(try #require(results[3].value)).cookies.map(\.state) == [.elsewhere, .given])
    }

    @Test("The script's report is sent to the handler, in either form of engines, and then the script has no value")
    func message() throws {
        var page = try Page(VerificationTests.url)
        try page.receive("a=1; Path=/")
        let source = page.script(.once, .message(try #require(MessageHandlerName("crumb")))).source
        for change: (inout Browser.Step) -> Void in [{ $0.handler = "crumb" }, { $0.binding = "crumb" }] {
            let results = try Browser.run(.open(VerificationTests.url).with(change), .script(source))
            let messages = try #require(results[1].messages)
            #expect(try messages.map { try InjectionReport($0).cookies.map(\.state) } == [[.set]])
            #expect(results[1].value == nil)
        }
        let silent = try Browser.run(.open(VerificationTests.url), .script(source))
        #expect(silent[1].error == nil && silent[1].sets == ["a=1; Path=/"])
    }

    @Test("A script without verification reports nothing")
    func silent() throws {
        var page = try Page(VerificationTests.url)
        try page.receive("a=1; Path=/")
        let results = try Browser.run(.open(VerificationTests.url), .script(page.script().source))
        #expect(results[1].value == nil)
        #expect(!page.script().source.contains("label: "))
    }

    @Test(
        "A message that is not a report is rejected, with the position of the error",
        arguments: [
            ("", "message-not-json", ""), ("[]", "message-malformed", ""),
            (#"{"crumb":"capture","page":"x","cookies":[]}"#, "message-malformed", "crumb"),
            (#"{"crumb":"injection","cookies":[]}"#, "message-malformed", "page"),
            (#"{"crumb":"injection","page":"x","cookies":[],"more":1}"#, "message-malformed", ""),
            (
                #"{"crumb":"injection","page":"x","cookies":[{"name":"a","domain":"b","path":"/","state":"odd"}]}"#,
                "message-malformed", "cookies[0].state"
            ),
            (
                #"{"crumb":"injection","page":"x","cookies":[{"name":1,"domain":"b","path":"/","state":"set"}]}"#,
                "message-malformed", "cookies[0].name"
            ),
        ])
    func malformed(text: String, code: String, place: String) {
        do throws(ScriptMessageError) {
            let report = try InjectionReport(text)
            Issue.record("taken: \(report)")
        } catch {
            #expect(error.code.rawValue == code && error.place == place)
        }
    }

    @Test(
        "A handler's name is a valid identifier of at most 64 characters",
        arguments: [
            ("crumb", true), ("_$a9", true), ("a", true), ("", false), ("9a", false), ("a b", false), ("a-b", false),
            ("a\"", false), ("\u{E9}", false), (String(repeating: "a", count: 64), true),
            (String(repeating: "a", count: 65), false),
        ])
    func handlerNames(text: String, isValid: Bool) {
        #expect((MessageHandlerName(text) != nil) == isValid)
    }
}
