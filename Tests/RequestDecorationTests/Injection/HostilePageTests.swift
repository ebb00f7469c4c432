import CookieModel
import RequestDecoration
import Testing

/// A script for two origins runs late, on a page of the first one that has changed whatever a page can change.
@Suite("Injection scripts on hostile pages", .enabled(if: Node.path != nil, "node is not on the PATH"))
struct HostilePageTests {
    private static let secret = "TopSecretOfAnotherOrigin"

    private func source(
        _ writing: InjectionScript.Writing = .once, verification: InjectionScript.Verification = .value
    ) throws -> String {
        var mine = try Page("https://evil.test/")
        try mine.receive("mine=1; Path=/")
        var other = try Page("https://bank.test/")
        try other.receive(Octets("\(HostilePageTests.secret)=\(HostilePageTests.secret); Path=/"))
        let storage = [
            WebStorageItem(origin: "https://evil.test", key: "mine", value: "1"),
            WebStorageItem(
                origin: "https://bank.test", key: Octets(HostilePageTests.secret),
                value: Octets(HostilePageTests.secret)),
        ]
        return InjectionScript(
            [mine.access(), other.access()], storage: storage.compactMap(\.self), writing: writing,
            verification: verification
        ).source
    }

    /// What a page does before the script runs; whatever it gets hold of goes into `loot`.
    static let attacks: [(name: String, code: String)] = [
        (
            "the document.cookie accessor",
            """
            const real = Object.getOwnPropertyDescriptor(Document.prototype, "cookie");
            Object.defineProperty(document, "cookie", { configurable: true,
              get() { take(arguments); stack(); return real.get.call(document); },
              set(line) { take(line); stack(); real.set.call(document, line); } });
            """
        ),
        (
            "callers and their source",
            """
            Object.defineProperty(document, "cookie", { configurable: true,
              get: function g() { for (let f = g, i = 0; f && i < 9; f = f.caller, i++) take(String(f)); return ""; },
              set: function s() { for (let f = s, i = 0; f && i < 9; f = f.caller, i++) take(String(f)); } });
            """
        ),
        (
            "stacks and the functions on them",
            """
            Error.prepareStackTrace = (error, frames) => { for (const frame of frames) {
              try { take(String(frame.getFunction())); } catch (e) {} try { take(frame.getThis()); } catch (e) {}
              take(String(frame)); } return ""; };
            Object.defineProperty(document, "cookie", { configurable: true,
              get() { new Error().stack; return ""; }, set() { new Error().stack; } });
            """
        ),
        (
            "setters and getters of Object.prototype",
            """
            for (const name of ["name", "value", "path", "attributes", "expires", "ownPath", "top", "mark", "state",
              "label", "0", "1", "2", "length", "get", "set", "source"]) {
              Object.defineProperty(Object.prototype, name, { __proto__: null, configurable: true,
                get() { take(this); return undefined; }, set(value) { take(this); take(value); } });
            }
            """
        ),
        (
            "Array",
            """
            for (const name of Object.getOwnPropertyNames(Array.prototype)) if (name !== "length") {
              Object.defineProperty(Array.prototype, name, { configurable: true,
                value() { take(this); take(arguments); return []; } });
            }
            Array.prototype[Symbol.iterator] = function () { take(this); return { next() { return { done: true }; } }; };
            Object.defineProperty(Array.prototype, "0", { configurable: true, set(value) { take(value); } });
            """
        ),
        (
            "String, RegExp, Function, JSON and Date",
            """
            "use strict";
            for (const type of [String, RegExp, Function, Number, Boolean]) {
              for (const name of Object.getOwnPropertyNames(type.prototype)) {
                const old = Object.getOwnPropertyDescriptor(type.prototype, name);
                if (!old.configurable || typeof old.value !== "function" || name === "constructor") continue;
                type.prototype[name] = function () { take("" + this); take(arguments[0]); return this; };
              }
            }
            JSON.stringify = (value) => { take(value); return ""; };
            Date.now = function () { stack(); return { valueOf() { stack(); return 0; } }; };
            """
        ),
        (
            "session storage",
            """
            Object.defineProperty(window, "sessionStorage", { configurable: true, get() { stack(); return {
              getItem() { stack(); take(arguments); return { get length() { stack(); return 8; } }; },
              setItem() { stack(); take(arguments); } }; } });
            """
        ),
        (
            "look-alikes of location",
            """
            for (const name of ["location", "document", "window", "top"]) {
              try { Object.defineProperty(window, name, { value: {} }); take("replaced " + name); } catch (e) {}
            }
            for (const name of ["protocol", "hostname", "pathname"]) {
              try { Object.defineProperty(location, name, { value: "https:" }); take("replaced " + name); } catch (e) {}
            }
            location.__proto__ = { hostname: "bank.test", protocol: "https:" };
            """
        ),
        (
            "the message handler",
            """
            window.webkit = { messageHandlers: { crumb: { postMessage(text) { take(text); stack(); } } } };
            """
        ),
    ]

    /// Loot is one text, and is gathered with nothing that an attack may have replaced.
    private static let tools = """
        var loot = "";
        var take = (() => {
          const text = String, names = Object.getOwnPropertyNames;
          return (thing) => { try {
            if (typeof thing !== "object" || thing === null) { loot += text(thing) + "\\n"; return; }
            const list = names(thing);
            for (let i = 0; i < list.length; i++) { try { loot += list[i] + ":" + text(thing[list[i]]) + "\\n"; }
              catch (e) {} }
          } catch (e) {} };
        })();
        var stack = () => { try { take(new Error().stack); } catch (e) {} };
        """

    @Test("A hostile page gets nothing of another origin from the script", arguments: attacks.indices)
    func nothingLeaks(index: Int) throws {
        let attack = HostilePageTests.attacks[index]
        let handler = try #require(MessageHandlerName("crumb"))
        for writing in InjectionScript.Writing.allCases {
            for verification: InjectionScript.Verification in [.none, .value, .message(handler)] {
                let results = try Browser.run(
                    .open("https://evil.test/"), .script(HostilePageTests.tools),
                    .script("(function () { \(attack.code) })();"),
                    .script(try source(writing, verification: verification)),
                    .script("loot"))
                #expect(results[2].error == nil && results[3].error == nil, "\(attack.name)")
                let loot = try #require(results[4].value)
                #expect(!loot.contains(HostilePageTests.secret) && !loot.contains("bank"), "\(attack.name): \(loot)")
                #expect(!loot.contains("replaced"), "\(loot)")
            }
        }
    }

    @Test("The attacks of hostile pages work against a careless script", arguments: 0...5)
    func attacksWork(index: Int) throws {
        let careless = """
            (function () {
              var all = {"https://bank.test": ["\(HostilePageTests.secret)=1"], "https://evil.test": ["mine=1"]};
              all["https://bank.test"].slice();
              Object.keys(all).map(function (key) { return all[key]; }).forEach(function (lines) {
                ({}).value = lines[0]; var rest = []; rest[0] = lines[0]; lines[0].split("; ");
                document.cookie = lines[0];
              });
            })();
            """
        let sloppy = try source().replacing(#""use strict";"#, with: "")
        let results = try Browser.run(
            .open("https://evil.test/"), .script(HostilePageTests.tools),
            .script("(function () { \(HostilePageTests.attacks[index].code) })();"),
            .script((1...2).contains(index) ? sloppy : careless), .script("loot"))
        #expect(results[4].value?.contains(HostilePageTests.secret) == true, "\(results)")
    }

    @Test("The script's stack traces do not reveal how many cookies others have")
    func stackLines() throws {
        var stacks: Set<String> = []
        for count in [1, 40] {
            var mine = try Page("https://evil.test/")
            try mine.receive("mine=1; Path=/")
            var other = try Page("https://bank.test/")
            for index in 0..<count { try other.receive(Octets("c\(index)=\(index); Path=/")) }
            for pages in [[other.access(), mine.access()], [mine.access(), other.access()]] {
                let results = try Browser.run(
                    .open("https://evil.test/"), .script(HostilePageTests.tools),
                    .script("(function () { \(HostilePageTests.attacks[0].code) })();"),
                    .script(InjectionScript(pages).source),
                    .script("loot.split('\\n').filter((line) => line.includes('step.js')).join()"))
                stacks.insert(try #require(results[4].value))
            }
        }
        #expect(stacks.count == 1 && stacks.first?.contains("step.js") == true, "\(stacks)")
    }

    @Test("The script leaves only its session-storage item")
    func nothingLeft() throws {
        let names = "Object.getOwnPropertyNames(globalThis).concat(Object.keys(document), Object.keys(location)).join()"
        let results = try Browser.run(
            .open("https://evil.test/"), .script(names), .script(try source()), .script(names),
            .script("sessionStorage.getItem('crumb')"), .open("https://evil.test/"), .script(names),
            .script(try source(.missing)), .script(names))
        #expect(results[1].value == results[3].value && results[6].value == results[8].value)
        // One mark for the cookie, and one for the items of localStorage.
        #expect(results[4].value?.utf8.count == 16)
        let missing = try Browser.run(
            .open("https://evil.test/"), .script(try source(.missing)),
            .script("String(sessionStorage.getItem('crumb'))"))
        #expect(missing[2].value == "null")
    }

    @Test("A frame of another origin cannot detect the script")
    func foreignFrame() throws {
        let handler = try #require(MessageHandlerName("crumb"))
        let page = Browser.Step.open("https://third.test/").with { $0.handler = "crumb" }
        let results = try Browser.run(page, .script(try source(verification: .message(handler))))
        #expect(results[1].messages == [] && results[1].sets == [] && results[1].value == nil)
    }
}
