import Testing

@testable import CookieModel

@Suite("Scenarios in, decisions out")
struct ScenarioJSONTests {
    private func expect(_ line: String, gives expected: String) throws {
        let (json, isScenario) = try answer(to: line)
        #expect(isScenario)
        let wanted = try JSON(expected)
        #expect(json == wanted)
    }

    /// The results of steps in place of the whole answer.
    private func expect(steps: String, profile: String = "rfc6265bis", give results: String) throws {
        try expect(
            #"{"id": 1, "now": "2026-11-21T00:00:00Z", "profile": "\#(profile)", "steps": [\#(steps)]}"#,
            gives: #"{"id": 1, "results": [\#(results)]}"#)
    }

    @Test("The rules that a policy leaves open can be chosen")
    func choices() throws {
        let set = #"{"receive": {"url": "https://a.example/", "setCookie": ["a=1"]}}, {"advance": 60}"#
        func sent(_ choices: String, method: String, redirects: String) throws -> Bool {
            let context =
                #"{"topLevel": "https://b.example/", "navigation": true, "initiator": \#(redirects == "[]" ? #""https://b.example""# : "null"), "redirects": \#(redirects)}"#
            let (json, isScenario) = try answer(
                to:
                    #"{"id": 1, "now": "2026-11-21T00:00:00Z"\#(choices), "steps": [\#(set), {"send": {"url": "https://a.example/", "method": "\#(method)", "context": \#(context)}}]}"#
            )
            #expect(isScenario)
            return "\(json)".contains("a=1")
        }
        #expect(try sent("", method: "GET", redirects: "[]"))
        #expect(try !sent("", method: "POST", redirects: "[]"))
        #expect(try sent(#", "laxAllowingUnsafe": 120"#, method: "POST", redirects: "[]"))
        #expect(try !sent(#", "laxAllowingUnsafe": 59"#, method: "POST", redirects: "[]"))
        let chain = #"["https://a.example/", "https://c.example/"]"#
        #expect(try sent("", method: "POST", redirects: chain))
        #expect(try !sent(#", "considersRedirects": true"#, method: "POST", redirects: chain))
        #expect(try !answer(to: #"{"id": 1, "laxAllowingUnsafe": -1, "steps": []}"#).isScenario)
    }

    @Test("The scenario's limits replace those of the profile, and evictions are reported")
    func limits() throws {
        let receive = #"{"receive": {"url": "https://a.example/", "setCookie": ["a=1", "b=1"]}}"#
        func stored(_ name: String) -> String {
            #"{"outcome": "stored", "cookie": {"name": "\#(name)", "domain": "a.example", "path": "/", "hostOnly": true}"#
        }
        let evicted =
            #", "evicted": [{"cookie": {"name": "a", "domain": "a.example", "path": "/", "hostOnly": true}, "reason": "domain-limit"}]"#
        for (limits, isOver) in [
            (#"{"domainCookies": 1}"#, true), (#"{"domainCookies": null}"#, false), ("{}", false),
            (#"{"totalCookies": 2}"#, false),
        ] {
            try expect(
                #"{"id": 1, "limits": \#(limits), "steps": [\#(receive)]}"#,
                gives:
                    #"{"id": 1, "results": [{"decisions": [\#(stored("a"))}, \#(stored("b"))\#(isOver ? evicted : "")}]}]}"#
            )
        }
        for limits in [#"{"domainCookies": -1}"#, #"{"totalCookies": "x"}"#, "7", "null"] {
            #expect(try !answer(to: #"{"id": 1, "limits": \#(limits), "steps": []}"#).isScenario)
        }
    }

    @Test("The documented example gives the documented answer")
    func example() throws {
        try expect(
            #"""
            {"id": "secure-overlay", "now": "2026-11-21T00:00:00Z", "profile": "rfc6265bis",
             "steps": [
              {"receive": {"url": "https://example.com/login", "setCookie": ["a=1; Secure; HttpOnly"]}},
              {"advance": 3600},
              {"receive": {"url": "http://example.com/", "setCookieBase64": ["YT0y"], "via": "http"}},
              {"send": {"url": "https://example.com/", "method": "GET"}},
              {"endSession": true},
              {"send": {"url": "https://example.com/", "via": "script"}}
             ]}
            """#,
            gives: #"""
                {"id": "secure-overlay", "results": [
                  {"decisions": [{"outcome": "stored", "cookie": {"name": "a", "domain": "example.com", "path": "/", "hostOnly": true}}]},
                  null,
                  {"decisions": [{"outcome": "rejected", "reasons": ["overwrite-secure"]}]},
                  {"cookie": "a=1", "cookieBase64": "YT0x", "included": [{"name": "a"}], "excluded": []},
                  null,
                  {"cookie": "", "cookieBase64": "", "included": [], "excluded": []}
                ]}
                """#)
    }

    @Test("Every outcome is shown with its cookie, a rejection with its reasons")
    func outcomes() throws {
        try expect(
            steps:
                #"""
                {"receive": {"url": "https://www.example.com/b/c", "setCookie": [
                  "a=1; Domain=example.com", "a=2; Domain=example.com", "a=; Domain=example.com; Max-Age=0", "=; x",
                  "b=1; Secure; Partitioned"
                  ]}}
                """#,
            give: #"""
                {"decisions": [
                  {"outcome": "stored", "cookie": {"name": "a", "domain": "example.com", "path": "/b", "hostOnly": false}},
                  {"outcome": "replaced", "cookie": {"name": "a", "domain": "example.com", "path": "/b", "hostOnly": false}},
                  {"outcome": "deleted", "cookie": {"name": "a", "domain": "example.com", "path": "/b", "hostOnly": false}},
                  {"outcome": "rejected", "reasons": ["empty-name-value"]},
                  {"outcome": "stored", "cookie": {"name": "b", "domain": "www.example.com", "path": "/b", "hostOnly": true,
                   "partitionKey": "https://example.com"}}
                ]}
                """#)
    }

    @Test("A header that is not UTF-8 is null, and its Base64 is still right")
    func notUTF8() throws {
        try expect(
            steps:
                #"""
                {"receive": {"url": "https://a.com/", "setCookieBase64": ["/z3+"], "setCookie": ["é=1"]}},
                {"send": {"url": "https://a.com/"}}
                """#,
            give: #"""
                {"decisions": [
                  {"outcome": "stored", "cookie": {"name": "é", "domain": "a.com", "path": "/", "hostOnly": true}},
                  {"outcome": "stored", "cookie": {"nameBase64": "/w==", "domain": "a.com", "path": "/", "hostOnly": true}}
                ]},
                {"cookie": null, "cookieBase64": "w6k9MTsg/z3+", "included": [{"name": "é"}, {"nameBase64": "/w=="}],
                 "excluded": []}
                """#)
    }

    @Test("Excluded cookies are reported with their reasons")
    func excluded() throws {
        try expect(
            steps:
                #"""
                {"receive": {"url": "https://a.com/", "setCookie": ["a=1; Path=/b; HttpOnly", "c=1"]}},
                {"send": {"url": "https://a.com/", "via": "script"}}
                """#,
            give: #"""
                {"decisions": [
                  {"outcome": "stored", "cookie": {"name": "a", "domain": "a.com", "path": "/b", "hostOnly": true}},
                  {"outcome": "stored", "cookie": {"name": "c", "domain": "a.com", "path": "/", "hostOnly": true}}
                ]},
                {"cookie": "c=1", "cookieBase64": "Yz0x", "included": [{"name": "c"}],
                 "excluded": [{"name": "a", "reasons": ["path-mismatch", "http-only"]}]}
                """#)
    }

    /// What a SameSite=Strict cookie and one without do in a request with this context.
    private func sent(_ context: String, method: String = "GET") throws -> String {
        let steps =
            #"""
            {"receive": {"url": "https://a.com/", "setCookie": ["s=1; SameSite=Strict", "d=2"]}},
            {"send": {"url": "https://a.com/", "method": "\#(method)"\#(context)}}
            """#
        let text = try answer(to: #"{"steps": [\#(steps)]}"#).json.description
        let parts = text.split(separator: #""cookie":""#)
        return String(try #require(parts.last?.split(separator: "\"", omittingEmptySubsequences: false).first))
    }

    @Test("The context determines same-site as documented")
    func contexts() throws {
        #expect(try sent("") == "s=1; d=2")
        #expect(try sent(#", "context": {}"#) == "s=1; d=2")
        #expect(try sent(#", "context": null"#) == "s=1; d=2")
        #expect(try sent(#", "context": {"topLevel": "https://a.com/"}"#) == "s=1; d=2")
        #expect(try sent(#", "context": {"topLevel": "https://b.com/"}"#) == "")
        #expect(try sent(#", "context": {"topLevel": "https://b.com/", "navigation": true}"#) == "d=2")
        #expect(try sent(#", "context": {"topLevel": "https://b.com/", "navigation": true}"#, method: "POST") == "")
        #expect(try sent(#", "context": {"topLevel": "https://b.com/", "navigation": true}"#, method: "head") == "d=2")
        #expect(
            try sent(#", "context": {"topLevel": "https://b.com/", "initiator": null, "navigation": true}"#)
                == "s=1; d=2")
        #expect(try sent(#", "context": {"topLevel": "https://a.com/", "initiator": "https://b.com/x"}"#) == "")
        #expect(try sent(#", "context": {"initiator": "https://b.com"}"#) == "d=2")
        #expect(try sent(#", "context": {"initiator": "https://b.com", "navigation": false}"#) == "")
        #expect(try sent(#", "context": {"initiator": "null"}"#) == "d=2")
        #expect(try sent(#", "context": {"topLevel": null, "initiator": null, "navigation": null}"#) == "s=1; d=2")
    }

    @Test(
        "A page that is none of the web is same-site with nothing",
        arguments: [
            "about:blank", "data:text/html,x", "file:///x", "chrome-extension://a/x", "null", "blob:null/1",
            "blob:https://b.com/1",
        ])
    func opaquePages(page: String) throws {
        #expect(try sent(#", "context": {"topLevel": "\#(page)"}"#) == "")
        #expect(try sent(#", "context": {"topLevel": "\#(page)", "initiator": "https://a.com"}"#) == "")
        #expect(try sent(#", "context": {"topLevel": "\#(page)", "initiator": null}"#) == "")
        #expect(try sent(#", "context": {"topLevel": "\#(page)", "navigation": true}"#) == "d=2")
        #expect(
            try sent(#", "context": {"topLevel": "\#(page)", "initiator": null, "navigation": true}"#) == "s=1; d=2")
        #expect(try sent(#", "context": {"topLevel": "https://a.com/", "initiator": "\#(page)"}"#) == "")
        #expect(try sent(#", "context": {"initiator": "\#(page)"}"#) == "d=2")
    }

    @Test("A blob is of the page that made it")
    func blob() throws {
        #expect(try sent(#", "context": {"topLevel": "blob:https://a.com/1"}"#) == "s=1; d=2")
        #expect(
            try sent(#", "context": {"topLevel": "https://a.com", "initiator": "BLOB:https://a.com/1"}"#) == "s=1; d=2")
    }

    @Test("Time moves by fractions and backwards, sessions end, statuses count")
    func steps() throws {
        let sent = #"{"cookie": "a=1", "cookieBase64": "YT0x", "included": [{"name": "a"}], "excluded": []}"#
        let none = #"{"cookie": "", "cookieBase64": "", "included": [], "excluded": []}"#
        let expired =
            #"{"cookie": "", "cookieBase64": "", "included": [], "excluded": [{"name": "a", "reasons": ["expired"]}]}"#
        let cookie = #"{"name": "a", "domain": "a.com", "path": "/", "hostOnly": true}"#
        let stored = #"{"decisions": [{"outcome": "stored", "cookie": \#(cookie)}]}"#
        let send = #"{"send": {"url": "https://a.com/"}}"#
        try expect(
            steps:
                #"""
                {"receive": {"url": "https://a.com/", "setCookie": ["a=1; Max-Age=1"]}}, {"endSession": true},
                {"advance": 0.5}, {"advance": 0.5}, \#(send), {"advance": -5}, \#(send), {"advance": 5.000001}, \#(send), \#(send)
                """#,
            give: "\(stored), null, null, null, \(sent), null, \(sent), null, \(expired), \(none)")
        try expect(
            steps: #"{"receive": {"url": "https://a.com/", "setCookie": ["a=1"]}}, {"endSession": true}, \#(send)"#,
            give: "\(stored), null, \(none)")
        try expect(
            steps: #"{"receive": {"url": "https://a.com/", "status": 103, "setCookie": ["a=1"]}}, \#(send)"#,
            give: #"{"decisions": [{"outcome": "rejected", "reasons": ["informational-response"]}]}, \#(none)"#)
        try expect(
            steps: #"{"receive": {"url": "https://a.com/", "status": 404, "setCookie": ["a=1"]}}, \#(send)"#,
            give: "\(stored), \(sent)")
        try expect(
            steps: #"{"receive": {"url": "https://a.com/"}}, {"advance": 9000000000000}"#,
            give: #"{"decisions": []}, null"#)
    }

    @Test("The profile is the one that is named")
    func profiles() throws {
        let steps = #"{"receive": {"url": "https://a.com/", "setCookie": ["__Http-a=1; Secure"]}}"#
        try expect(
            steps: steps, profile: "browser",
            give: #"{"decisions": [{"outcome": "rejected", "reasons": ["prefix-http"]}]}"#)
        let cookie = #"{"name": "__Http-a", "domain": "a.com", "path": "/", "hostOnly": true}"#
        try expect(steps: steps, give: #"{"decisions": [{"outcome": "stored", "cookie": \#(cookie)}]}"#)
    }

    @Test("An absent clock is the real time, and each line has a jar of its own")
    func defaults() throws {
        let line =
            #"""
            {"id": "x", "steps": [{"send": {"url": "https://a.com/"}}, {"receive": {"url": "https://a.com/", "setCookie": [
              "a=1; Expires=Fri, 20 Nov 2026 23:59:59 GMT", "a=1; Expires=Sat, 21 Nov 2026 00:00:00 GMT"]}}]}
            """#
        let first = try answer(to: line)
        #expect(
            first.json.description.contains(#""outcome":"deleted""#)
                && first.json.description.contains(#""outcome":"stored""#))
        #expect(try answer(to: line).json == first.json)
    }
}
