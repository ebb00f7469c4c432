import CookieModel
import RequestDecoration
import Testing

@Suite("The capture script, run", .enabled(if: Node.path != nil, "node is not on the PATH"))
struct CaptureScriptTests {
    private static let url = "https://www.example.com/shop/cart?token=secret#fragment"
    private static let answers = [
        "https://www.example.com/api": Browser.Answer(url: "https://www.example.com/api"),
        "https://www.example.com/moved": Browser.Answer(
            url: "https://www.example.com/there", status: 201, redirected: true),
        "https://cdn.test/opaque": Browser.Answer(url: "", status: 0),
    ]

    private func source() throws -> String {
        CaptureScript(handler: try #require(MessageHandlerName("crumb"))).source
    }

    private var page: Browser.Step {
        Browser.Step.open(CaptureScriptTests.url).with {
            $0.handler = "crumb"
            $0.answers = CaptureScriptTests.answers
            $0.cookieStore = true
        }
    }

    /// What the script says while page code runs.
    private func messages(_ code: String, on page: Browser.Step? = nil) throws -> [CaptureMessage] {
        let results = try Browser.run(page ?? self.page, .script(try source()), .script(code))
        #expect(results[1].error == nil && results[2].error == nil, "\(results)")
        return try #require(results[2].messages).map { try CaptureMessage($0) }
    }

    @Test("The capture script reports a set-cookie-string unchanged, with the page that set it")
    func cookies() throws {
        let lines = ["a=1", "b=\u{E9}\u{1F36A}\"\\\u{2028}</script>; Path=/; Secure", "", "=", "x=\t1; Expires=never"]
        let code = lines.map {
            "document.cookie = \"\($0.unicodeScalars.map { "\\u{\(String($0.value, radix: 16))}" }.joined())\""
        }
        .joined(separator: ";")
        let messages = try messages(code)
        #expect(messages.map(\.content) == lines.map { .cookie(Octets($0)) })
        #expect(messages.allSatisfy { $0.url?.description == "https://www.example.com/shop/cart" })
    }

    @Test(
        "The capture script reports a hint if the value or the page is uncertain",
        arguments: [
            "document.cookie = { toString() { return 'a=1'; } }", "document.cookie = 1", "document.cookie = null",
            "document.cookie = 'a=' + Array(20000).fill('x').join('')",
        ])
    func touched(code: String) throws {
        #expect(try messages(code).map(\.content) == [.touched])
    }

    @Test("The capture script converts an object to text only once")
    func objectsAskedOnce() throws {
        let code = "var asked = 0; document.cookie = { toString() { asked++; return 'a=1'; } }; String(asked)"
        #expect(try Browser.run(page, .script(try source()), .script(code))[2].value == "1")
    }

    @Test(
        "The capture script reports hints in a frame without its own URL", arguments: ["about:blank", "about:srcdoc"])
    func blankFrame(url: String) throws {
        let page = Browser.Step.open(url).with { $0.handler = "crumb" }
        let messages = try messages("document.cookie = 'a=1'", on: page)
        #expect(messages.map(\.content) == [.touched] && messages.map(\.url) == [nil])
    }

    @Test("The capture script reports responses to fetch, and the page gets them unchanged")
    func fetch() throws {
        let code = """
            (async () => {
              const a = await fetch("https://www.example.com/api");
              const b = await fetch("https://www.example.com/moved", { method: "POST" });
              const c = await fetch(new Request("https://cdn.test/opaque", { method: "PUT" }));
              return [a instanceof Response, a.status, b.url, c.status].join();
            })()
            """
        let results = try Browser.run(page, .script(try source()), .script(code))
        #expect(results[2].value == "true,200,https://www.example.com/there,0")
        let messages = try #require(results[2].messages).map { try CaptureMessage($0).content }
        #expect(
            messages == [
                response(.fetch, "https://www.example.com/api", "GET", 200, false),
                response(.fetch, "https://www.example.com/there", "POST", 201, true),
                response(.fetch, nil, "PUT", 0, false),
            ])
    }

    @Test("The capture script reports each response to XMLHttpRequest once, and no failed one")
    func ajax() throws {
        let code = """
            const xhr = new XMLHttpRequest(); const seen = [];
            xhr.addEventListener("loadend", function () { seen.push(this.status); });
            xhr.open("GET", "/first"); xhr.open("POST", "https://www.example.com/moved"); xhr.send();
            xhr.open("GET", "https://www.example.com/api"); xhr.send();
            const failed = new XMLHttpRequest(); failed.open("GET", "https://nowhere.test/"); failed.send();
            seen.join()
            """
        let results = try Browser.run(page, .script(try source()), .script(code))
        #expect(results[2].value == "201,200")
        let messages = try #require(results[2].messages).map { try CaptureMessage($0).content }
        #expect(
            messages == [
                response(.xhr, "https://www.example.com/there", "POST", 201, true),
                response(.xhr, "https://www.example.com/api", "GET", 200, false),
            ])
    }

    private func response(
        _ through: ScriptResponse.Interface, _ url: String?, _ method: String, _ status: Int, _ isRedirected: Bool
    ) -> CaptureMessage.Content {
        .response(
            ScriptResponse(through: through, url: url, method: method, status: status, isRedirected: isRedirected))
    }

    @Test("The capture script reports change events as far as the engine describes the cookies")
    func changes() throws {
        let code = """
            dispatchChange({ changed: [{ name: "a", value: "1" }, { name: "b", value: "2", domain: "example.com",
              path: "/", expires: 1800000100000.5, secure: true, sameSite: "strict", partitioned: false },
              { name: "c", value: "3", domain: null, path: "/x", expires: null }],
              deleted: [{ name: "d" }] });
            dispatchChange({ changed: Array.from({ length: 65 }, () => ({ name: "x" })), deleted: [] });
            dispatchChange({});
            """
        let messages = try messages(code)
        #expect(messages.count == 3 && messages[1].content == .touched && messages[2].content == .touched)
        guard case .change(let set, let deleted) = try #require(messages.first).content else {
            Issue.record("no change: \(messages)")
            return
        }
        #expect(set.map(\.name) == ["a", "b", "c"] && deleted.map(\.name) == ["d"])
        #expect(set.map(\.path) == [nil, "/", "/x"] && set.map(\.domain) == [nil, "example.com", nil])
        #expect(set[1].expiry == Timestamp(microseconds: 1_800_000_100_000_500) && set[1].sameSite == .strict)
        #expect(messages[0].asksForStore)
    }

    /// Everything about the wrapped functions that a page can see.
    private static let fingerprint = """
        (() => {
          const facts = [];
          const descriptor = (owner, name) => {
            const d = Object.getOwnPropertyDescriptor(owner, name);
            const f = d.value ?? d.set;
            facts.push(name, Object.keys(d).join(), d.writable, d.enumerable, d.configurable, f.name, f.length,
              typeof f, String(f), Function.prototype.toString.call(f), f + "", Object.getOwnPropertyNames(f).join(),
              "prototype" in f, Object.getPrototypeOf(f) === Function.prototype, Object.isExtensible(f),
              d.get ? String(d.get) : "");
          };
          const outcome = (call) => { try { return String(call()); } catch (e) { return e.name + e.message; } };
          descriptor(Document.prototype, "cookie");
          descriptor(window, "fetch");
          descriptor(XMLHttpRequest.prototype, "open");
          descriptor(Function.prototype, "toString");
          const set = Object.getOwnPropertyDescriptor(Document.prototype, "cookie").set;
          facts.push(outcome(() => set.call(null, "a=1")), outcome(() => set.call({}, "a=1")),
            outcome(() => set.call(document, Symbol("x"))), outcome(() => Function.prototype.toString.call({})),
            outcome(() => Function.prototype.toString.call(undefined)),
            outcome(() => Function.prototype.toString.call(Function.prototype.toString)),
            outcome(() => (class A { b() {} }).toString()), outcome(() => (() => 1).toString()),
            outcome(() => new XMLHttpRequest().open("GET")), outcome(() => XMLHttpRequest.prototype.open.length),
            outcome(() => new (class extends XMLHttpRequest {})().open("GET", "/x")),
            outcome(() => fetch("https://www.example.com/api") instanceof Promise),
            outcome(() => fetch("https://www.example.com/api").constructor === Promise),
            outcome(() => fetch("https://www.example.com/api") === fetch("https://www.example.com/api")),
            Object.keys(globalThis).join(), Object.getOwnPropertyNames(globalThis).join(),
            Object.getOwnPropertySymbols(globalThis).length, Object.getOwnPropertyNames(document).join(),
            Object.getOwnPropertyNames(Document.prototype).join(), Object.getOwnPropertyNames(Function.prototype).join());
          document.cookie = "seen=1";
          facts.push(document.cookie);
          return facts.map(String).join("\\n");
        })()
        """

    @Test("The capture script changes nothing that a page can see")
    func unchanged() throws {
        let plain = try Browser.run(page, .script(CaptureScriptTests.fingerprint))
        let wrapped = try Browser.run(
            page, .script(try source()), .script(try source()), .script(CaptureScriptTests.fingerprint))
        #expect(plain[1].error == nil && wrapped[3].error == nil)
        let (expected, found) = (try #require(plain[1].value), try #require(wrapped[3].value))
        for (line, other) in zip(expected.split(separator: "\n"), found.split(separator: "\n")) {
            #expect(line == other)
        }
        #expect(expected == found)
    }

    @Test("With the capture script, an unhandled rejection stays unhandled, and a handled one stays handled")
    func rejections() throws {
        for steps in [[page], [page, .script(try source())]] {
            let results = try Browser.run([
                steps + [
                    .script("fetch('https://nowhere.test/'); undefined"),
                    .script("fetch('https://nowhere.test/').catch(() => {}); undefined"),
                    .script("fetch.call({}, 'x'); undefined"),
                    .script("fetch().then(null, (error) => error.message)"),
                ]
            ])[0].suffix(4)
            #expect(
                results.map(\.rejections) == [
                    ["TypeError: Failed to fetch"], [], ["TypeError: Illegal invocation"], [],
                ])
            #expect(results.last?.value == "1 argument required, but only 0 present.")
        }
    }

    @Test("The capture script installs itself once, whatever code wraps it afterwards")
    func once() throws {
        let wrap = """
            const old = Object.getOwnPropertyDescriptor(Document.prototype, "cookie");
            Object.defineProperty(Document.prototype, "cookie", { configurable: true, get: old.get,
              set(line) { old.set.call(this, line); } });
            """
        let source = try source()
        let results = try Browser.run(
            page, .script(source), .script(source), .script("document.cookie = 'a=1'"), .script(wrap), .script(source),
            .script("document.cookie = 'b=2'"))
        #expect(results[3].messages?.count == 1 && results[6].messages?.count == 1)
        #expect(results[6].sets == ["b=2"])
    }

    @Test("The capture script does nothing without a message handler")
    func nobodyListens() throws {
        let results = try Browser.run(
            .open(CaptureScriptTests.url), .script("var before = window.fetch"), .script(try source()),
            .script("String(before === window.fetch)"))
        #expect(results[2].error == nil && results[3].value == "true")
    }

    @Test("The capture script can use a function with the handler's name, as in other engines")
    func binding() throws {
        let page = Browser.Step.open(CaptureScriptTests.url).with { $0.binding = "crumb" }
        #expect(try messages("document.cookie = 'a=1'", on: page).map(\.content) == [.cookie("a=1")])
    }

    @Test("A page's later changes to built-ins cannot read, stop or change the capture script's messages")
    func hostile() throws {
        let attack = """
            window.loot = [];
            for (const name of ["get", "set", "has", "apply", "construct", "value", "toJSON", "getOwnPropertyDescriptor"]) {
              Object.defineProperty(Object.prototype, name, { __proto__: null, configurable: true, writable: true,
                value() { loot.push(name); return undefined; } });
            }
            String.prototype.toJSON = function () { loot.push("toJSON"); return "forged"; };
            JSON.stringify = () => { loot.push("stringify"); return '"forged"'; };
            Reflect.apply = () => { loot.push("apply"); };
            Function.prototype.call = Function.prototype.apply = function () { loot.push("call"); };
            WeakMap.prototype.get = WeakMap.prototype.set = function () { loot.push("map"); };
            webkit.messageHandlers.crumb.__proto__.postMessage = () => { loot.push("post"); };
            window.webkit = undefined;
            Array.prototype[Symbol.iterator] = function () { loot.push("iterate"); return [][Symbol.iterator]; };
            "";
            """
        let results = try Browser.run(
            page, .script(try source()), .script(attack), .script("document.cookie = 'a=\"1'; fetch.name;"),
            .script("loot.join()"))
        #expect(results[3].error == nil)
        #expect(try results[3].messages?.map { try CaptureMessage($0).content } == [.cookie("a=\"1")])
        #expect(results[4].value == "")
    }

    @Test("The capture script's messages have only the part of the page's address that cookie rules use")
    func noSecrets() throws {
        let results = try Browser.run(page, .script(try source()), .script("document.cookie = 'a=1'"))
        let message = try #require(results[2].messages?.first)
        #expect(!message.contains("secret") && !message.contains("fragment"))
    }
}
