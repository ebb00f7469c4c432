import CookieModel
import RequestDecoration
import Testing

@Suite("localStorage in injection scripts", .enabled(if: Node.path != nil, "node is not on the PATH"))
struct StorageSeedTests {
    private static let page = "https://www.example.com:8443/app"

    private func items(_ items: (String, String)..., origin: String = page) throws -> [WebStorageItem] {
        try items.map { key, value in
            try #require(
                WebStorageItem(origin: RequestURL(origin).origin, key: Octets(key), value: Octets(value)))
        }
    }

    private func script(
        _ items: [WebStorageItem], _ writing: InjectionScript.Writing = .once,
        _ verification: InjectionScript.Verification = .none
    ) -> Browser.Step {
        .script(InjectionScript([], storage: items, writing: writing, verification: verification).source)
    }

    private func value(of key: String) -> Browser.Step {
        .script("localStorage.getItem(\(JavaScriptText(key)))")
    }

    private struct JavaScriptText: CustomStringConvertible {
        let description: String
        init(_ text: String) { description = "\"" + text.replacing("\"", with: "\\\"") + "\"" }
    }

    @Test(
        "A document gets the storage items of its own scheme, host and port",
        arguments: [
            (page, true), ("https://www.example.com:8443/", true), ("https://www.example.com/app", false),
            ("http://www.example.com:8443/", false), ("https://example.com:8443/", false),
            ("https://sub.www.example.com:8443/", false),
        ])
    func origin(url: String, isSame: Bool) throws {
        let items = try items(("k", "mine")) + items(("k", "other"), origin: "https://other.test/")
        let results = try Browser.run(
            .open(url), script(items), value(of: "k"), .open("https://other.test/"), script(items), value(of: "k"))
        #expect(results.allSatisfy { $0.error == nil })
        #expect(results[2].value == (isSame ? "mine" : "null"))
        #expect(results[5].value == "other")
    }

    @Test(
        "A storage item keeps any text, and the script is ASCII that ends no element",
        arguments: [
            "", "</script><!--", "\u{2028}\u{2029}\u{0}\r\n\t\u{7F}", "\"'\\`${x}&lt;", "\u{E9}\u{4E2D}\u{1F600}",
            "__proto__",
        ])
    func text(value: String) throws {
        let items = try items(("key" + value, value))
        let source = InjectionScript([], storage: items).source
        #expect(source.utf8.allSatisfy { $0 < 0x80 } && !source.contains("</") && !source.contains("<!"))
        let units = Array(value.utf16).map(String.init).joined(separator: ",")
        let look = """
            (() => { const value = String.fromCharCode(\(units)); return localStorage.getItem("key" + value) === value; })()
            """
        let results = try Browser.run(.open(Self.page), .script(source), .script(look))
        #expect(results.map(\.error) == [nil, nil, nil] && results[2].value == "true")
    }

    @Test("A storage item keeps unpaired surrogates")
    func surrogates() throws {
        let octets: Octets = Octets([0x61, 0xED, 0xA0, 0x80, 0xED, 0xB2, 0x80, 0x62])
        let item = try #require(WebStorageItem(origin: Self.page, key: "k", value: octets))
        let look = #"(() => localStorage.getItem("k") === "a\ud800\udc80b")()"#
        #expect(try Browser.run(.open(Self.page), script([item]), .script(look))[2].value == "true")
    }

    @Test(
        "A script sets a storage item when its mode of writing requires it",
        arguments: InjectionScript.Writing.allCases)
    func writing(mode: InjectionScript.Writing) throws {
        let items = try items(("new", "1"), ("own", "1"))
        let run = script(items, mode)
        let results = try Browser.run(
            .open(Self.page), .script(#"localStorage.setItem("own", "page")"#), run, value(of: "new"),
            value(of: "own"), .script(#"localStorage.removeItem("new")"#), .open(Self.page), run, value(of: "new"),
            .open(Self.page).with { $0.newTab = true }, run, value(of: "new"))
        #expect(results.allSatisfy { $0.error == nil })
        #expect(results[3].value == "1" && results[4].value == (mode == .always ? "1" : "page"))
        #expect(results[8].value == (mode == .once ? "null" : "1"))
        #expect(results[11].value == "1")
    }

    @Test("The script's report counts storage items by their outcome")
    func report() throws {
        let items = try items(("new", "1"), ("same", "2"), ("own", "3"), ("long", String(repeating: "x", count: 100)))
        let run = script(items, .once, .value)
        let results = try Browser.run(
            .open(Self.page).with { $0.quota = 50 },
            .script(#"localStorage.setItem("own", "page"), localStorage.setItem("same", "2")"#), run)
        let report = try InjectionReport(try #require(results[2].value))
        #expect(report.storage == [.set: 1, .present: 1, .kept: 1, .refused: 1] && !report.isComplete)
        #expect(report.cookies.isEmpty)
        let again = try Browser.run(.open(Self.page), run, .open(Self.page), run)
        #expect(try InjectionReport(try #require(again[1].value)).storage == [.set: 4])
        let given = try InjectionReport(try #require(again[3].value))
        #expect(given.storage == [.given: 4] && given.isComplete)
        let blocked = try Browser.run(.open(Self.page).with { $0.withoutStorage = true }, run)
        let none = try InjectionReport(try #require(blocked[1].value))
        #expect(none.storage == [.blocked: 4] && !none.isComplete)
        // A document of another origin has nothing to report.
        #expect(try Browser.run(.open("https://other.test/"), run)[1].value == nil)
    }

    @Test(
        "A report with impossible counts of storage items is rejected",
        arguments: [#"{"set":-1}"#, #"{"set":0.5}"#, #"{"set":1000001}"#, #"{"expired":1}"#, #"{"set":"1"}"#, "[]"])
    func malformed(storage: String) {
        #expect(throws: ScriptMessageError.self) {
            try InjectionReport(#"{"crumb":"injection","page":"x","cookies":[],"storage":\#(storage)}"#)
        }
    }

    @Test("A plan's script sets the items of the page's origin, and no others")
    func plan() throws {
        let url = try RequestURL(Self.page)
        let storage = try items(("k", "mine")) + items(("k", "other-origin"), origin: "https://other.test/")
        let plan = WebViewPlan(
            for: RequestContext(url: url), cookies: [], storage: storage, native: [], policy: CookiePolicy(),
            now: Page.now)
        #expect(plan.script.storageItemCount == 1 && plan.script.source.contains("mine"))
        #expect(!plan.script.source.contains("other-origin"))
        guard case .installScript = plan.steps.first else { return #expect(Bool(false), "no script") }
    }
}
