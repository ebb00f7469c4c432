import CookieModel
import RequestDecoration
import TestSupport
import Testing

@Suite("Scripts for resources from a scheme handler")
struct ResourceScriptTests {
    private let scheme = ResourceScheme()

    private func script(_ pages: String..., kinds: ResourceScript.Kinds = .standard) throws -> ResourceScript {
        ResourceScript(scheme, for: try pages.map { try RequestURL($0) }, kinds: kinds)
    }

    @Test("It names its schemes, its pages and its kinds, and is ASCII")
    func text() throws {
        let source = try script("https://www.example.com/a", "http://[::1]:8080/", kinds: [.images, .modules]).source
        #expect(source.contains("prefix = \"\(scheme.prefix)\""))
        #expect(
            source.contains("{ images: true, scripts: false, styles: false, requests: false, modules: true }"))
        #expect(source.contains("protocol === \"https:\" && host === \"www.example.com\""))
        #expect(source.contains("protocol === \"http:\" && host === \"[::1]:8080\""))
        #expect(source.utf8.allSatisfy { $0 < 0x80 } && !source.contains("//{"))
    }

    @Test("It is for pages by scheme, host and port")
    func pages() throws {
        let script = try script("https://www.example.com/a")
        #expect(script.isFor(try RequestURL("https://www.example.com/b?c")))
        for url in ["http://www.example.com/", "https://www.example.com:8443/", "https://example.com/"] {
            #expect(!script.isFor(try RequestURL(url)))
        }
    }

    @Test(
        "It does nothing in a page of another origin",
        .enabled(if: Node.path != nil, "node is not on the PATH"),
        arguments: ["http://www.example.com/", "https://www.example.com:8443/", "https://other.example/"])
    func foreign(url: String) throws {
        let results = try Browser.run(.open(url), .script(try script("https://www.example.com/").source))
        #expect(results.last?.error == nil && results.last?.value == nil && results.last?.messages?.isEmpty != false)
    }

    /// What the script needs of a page besides what `Browser.js` has.
    private static let elements = """
        globalThis.Element = class {};
        Element.prototype.getAttribute = Element.prototype.setAttribute = Element.prototype.removeAttribute = () => null;
        globalThis.MutationObserver = class { observe() {} };
        globalThis.addEventListener = () => {};
        globalThis.URL = class {
          constructor(text, base) {
            const whole = /^[a-z]+:/.test(text) ? text : /^[a-z]+:\\/\\/[^/]+/.exec(base)[0] + text;
            const [, protocol, host] = /^([a-z]+:)\\/\\/([^/?#]+)/.exec(whole);
            Object.assign(this, { href: whole, protocol, host, origin: protocol + "//" + host, username: "", password: "" });
          }
        };
        """

    @Test(
        "After an XMLHttpRequest has failed with the handler, the engine sends the next one for its path",
        .enabled(if: Node.path != nil, "node is not on the PATH"))
    func failedRequest() throws {
        let page = "https://www.example.com/"
        let opened = """
            function opened(target) {
              const request = new XMLHttpRequest();
              request.open("GET", target);
              return [request, request.opened[1]];
            }
            const [first, through] = opened("/a?1");
            const before = opened("/a?2")[1];
            first.dispatch("error", {});
            JSON.stringify([through, before, opened("/a?3")[1], opened("/b")[1]])
            """
        let question = scheme.prefix + page
        let results = try Browser.run(
            .open(page).with { $0.answers = [question: Browser.Answer(url: question, status: 204)] },
            .script(Self.elements), .script(try script(page).source), .script(opened))
        #expect(results.compactMap(\.error).isEmpty)
        let prefix = scheme.prefix + "https://www.example.com"
        #expect(results.last?.value == "[\"\(prefix)/a?1\",\"\(prefix)/a?2\",\"/a?3\",\"\(prefix)/b\"]")
    }

    @Test("A plan uses it before the page is loaded, and not through a gateway, which has the cache itself")
    func plan() throws {
        let page = try RequestURL("https://www.example.com/")
        let context = RequestContext(url: page)
        let plan = WebViewPlan(for: context, cookies: [], native: [], policy: CookiePolicy(), now: Page.now)
            .usingSchemes(scheme, others: [try RequestURL("https://id.example.com/")], kinds: .insecure)
        guard case .useSchemes(let script) = plan.steps.first, case .load = plan.steps.last else {
            return #expect(Bool(false), "\(plan.steps.count) steps")
        }
        #expect(script.pages.map(\.origin) == ["https://www.example.com", "https://id.example.com"])
        #expect(script.kinds == .images && script.scheme == scheme && plan.steps.count == 2)
        let through = WebViewPlan(for: page, through: WebViewGateway(port: 8080)).usingSchemes(scheme)
        #expect(through.resources == nil && through.steps.count == 2)
    }
}
