import Testing
import WebPrimitives

@testable import HTTPCaching

@Suite("The rules that come before the protocol")
struct CachingRulesTests {
    private static let page = "https://shop.example/a"

    private func outcome(
        _ rules: CachingRules, _ url: String, _ fields: MessageFields, request: MessageFields = [:],
        after seconds: Int64 = 0, isOffline: Bool = false, requestPolicy: RequestCachePolicy = .useProtocolCachePolicy
    ) throws -> String {
        let policy = CachingPolicy(rules: rules)
        let request = try Sample.request("GET", url, request)
        let stored = [try Sample.stored(fields, url)]
        let rule = policy.lookup(
            request, among: stored, now: Sample.after(seconds), isOffline: isOffline, requestPolicy: requestPolicy
        ).rule.description
        let outcome = Sample.outcome(
            request, stored, after: seconds, isOffline: isOffline, policy: policy, requestPolicy: requestPolicy)
        return "\(rule): \(outcome)"
    }

    @Test(
        "The built-in rules, by priority",
        arguments: [
            ("/main.8e0d62a0.js", "", "", 99_999_999, "hashed-name: hit"),
            ("/main.8e0d62a0.js", "max-age=3600", "", 99_999_999, "hashed-name: hit"),
            ("/main.8e0d62a0.js", "max-age=3599", "", 9999, "static: hit-then-validate stale"),
            ("/main.8e0d62a0.js", "max-age=0", "", 0, "protocol: validate stale"),
            ("/main.8e0d62a0.js", "", "text/html", 99, "document: validate rule stale"),
            ("/main.8e0d62a0.js", "max-age=9999", "text/html", 99, "document: validate rule"),
            ("/main.8e0d62a0.js", "max-age=9999, immutable", "text/html", 99, "protocol: hit"),
            ("/main.8e0d62a0.js", "no-cache", "", 0, "protocol: validate response-no-cache stale"),
            ("/main.8e0d62a0.js", "max-age=1, must-revalidate", "", 99, "protocol: validate must-revalidate"),
            ("/a", "max-age=99, immutable", "", 9, "immutable: hit"),
            ("/a", "max-age=1, immutable", "", 99, "immutable: hit-then-validate stale"),
            ("/a.js", "max-age=1, immutable", "", 99, "immutable: hit-then-validate stale"),
            ("/a", "max-age=0, immutable", "", 99, "protocol: validate stale"),
            ("/a.js", "max-age=9", "", 5, "static: hit"),
            ("/a.js", "max-age=9", "", 99, "static: hit-then-validate stale"),
            ("/a.png", "", "", 0, "static: hit-then-validate stale"),
            ("/a.png", "max-age=9", "", 9 + 30 * 86_400, "static: hit-then-validate stale"),
            ("/a.png", "max-age=9", "", 10 + 30 * 86_400, "static: validate stale"),
            ("/a.png", "max-age=0", "", 0, "protocol: validate stale"),
            ("/a.js", "no-cache", "", 0, "protocol: validate response-no-cache stale"),
            ("/a", "max-age=9", "text/html;charset=utf-8", 0, "document: validate rule"),
            ("/a.js", "max-age=9", "Text/HTML", 99, "document: validate rule stale"),
            ("/a", "max-age=9", "application/json", 0, "protocol: hit"),
            ("/a", "max-age=9", "application/json", 99, "protocol: validate stale"),
        ] as [(String, String, String, Int64, String)])
    func builtIn(path: String, directives: String, type: String, seconds: Int64, expected: String) throws {
        var fields: MessageFields = ["ETag": "\"a\""]
        if !directives.isEmpty { fields.append("Cache-Control", Octets(directives)) }
        if !type.isEmpty { fields.append("Content-Type", Octets(type)) }
        #expect(try outcome(.standard, "https://shop.example" + path, fields, after: seconds) == expected)
    }

    @Test(
        "Browsers tell what is static",
        arguments: [("image", "static"), ("document", "protocol"), ("empty", "protocol")])
    func destinations(destination: String, rule: String) throws {
        let outcome = try outcome(
            .standard, Self.page, ["Cache-Control": "max-age=9"], request: ["Sec-Fetch-Dest": Octets(destination)])
        #expect(outcome == "\(rule): hit")
    }

    @Test(
        "The script of a service worker is validated with each use",
        arguments: [
            ("Service-Worker", "script", "service-worker: validate rule"),
            ("Service-Worker", "other", "static: hit"),
            ("Sec-Fetch-Dest", "serviceworker", "service-worker: validate rule"),
            ("Sec-Fetch-Dest", "sharedworker", "static: hit"),
        ])
    func serviceWorker(name: String, value: String, expected: String) throws {
        let request = MessageFields([.init(Octets(name), Octets(value))])
        let fields: MessageFields = ["Cache-Control": "max-age=9", "ETag": "\"a\""]
        #expect(try outcome(.standard, "https://shop.example/worker.js", fields, request: request) == expected)
    }

    @Test(
        "A page in place of a static resource is not stored, and replaces nothing",
        arguments: [
            ("/a.js", "", "", 200, true), ("/a.js", "Sec-Fetch-Dest", "script", 200, true),
            ("/a", "Sec-Fetch-Dest", "image", 200, true), ("/a.js", "Accept", "*/*", 200, true),
            ("/a", "", "", 200, false), ("/a.js", "Sec-Fetch-Dest", "document", 200, false),
            ("/a.js", "Sec-Fetch-Dest", "empty", 200, false),
            ("/a.js", "Accept", "text/html, */*;q=0.8", 200, false), ("/a.js", "", "", 404, false),
        ])
    func pageInPlace(path: String, name: String, value: String, status: Int, isInPlace: Bool) throws {
        let url = "https://shop.example" + path
        let fields = name.isEmpty ? [:] : MessageFields([.init(Octets(name), Octets(value))])
        let request = try Sample.request("GET", url, fields)
        let page = OriginResponse(
            status: status, fields: ["Content-Type": "text/html", "Cache-Control": "max-age=60"],
            requestTime: Sample.after(0), responseTime: Sample.after(0))
        let stored = [try Sample.stored(["Content-Type": "text/javascript", "ETag": "\"a\""], url)]
        for (rules, expected) in [(CachingRules.standard, isInPlace), (.protocolOnly, false)] {
            let policy = CachingPolicy(rules: rules)
            #expect(policy.storing(page, for: request).obstacles == (expected ? [.pageInPlace] : []))
            let decision = policy.lookup(request, among: stored, now: Sample.after(0))
            let outcome = policy.validated(by: page, after: decision, for: request, stored: stored)
            #expect(outcome == .replaced(unsuitable: expected ? [] : [0]))
        }
    }

    @Test("A reload passes over what is kept")
    func reload() throws {
        let url = "https://shop.example/main.8e0d62a0.js"
        let fields: MessageFields = ["ETag": "\"a\""]
        #expect(try outcome(.standard, url, fields, request: ["Cache-Control": "max-age=0"]) == "hashed-name: hit")
        #expect(
            try outcome(.standard, url, fields, request: ["Cache-Control": "no-cache"])
                == "hashed-name: validate request-no-cache")
    }

    @Test("Without a network, what is stored answers, whatever its age and directives, or else an error")
    func offline() throws {
        let fields: MessageFields = ["Cache-Control": "max-age=1, no-cache, must-revalidate"]
        #expect(
            try outcome(
                .standard, Self.page, fields, request: ["Cache-Control": "no-cache"], after: 999, isOffline: true)
                == "offline: hit")
        #expect(Sample.outcome(try Sample.request(), [], isOffline: true) == "unavailable not-stored")
        #expect(Sample.outcome(try Sample.request("POST"), [], isOffline: true) == "unavailable method")
    }

    @Test("Without a network, an invalidated response answers, and conditions for the server are ignored")
    func offlineInvalidated() throws {
        let stored = try Sample.stored(["Cache-Control": "max-age=60"]).invalidated(at: Sample.start)
        let request = try Sample.request("GET", Self.page, ["If-Match": "\"b\""])
        #expect(Sample.outcome(request, [stored], isOffline: true) == "hit")
    }

    @Test(
        "The six policies of Foundation",
        arguments: [
            (.useProtocolCachePolicy, "protocol: validate stale", "protocol: forward not-stored"),
            (.reloadIgnoringLocalCacheData, "reloadIgnoringLocalCacheData: forward rule", "forward"),
            (.reloadIgnoringLocalAndRemoteCacheData, "reloadIgnoringLocalAndRemoteCacheData: forward rule", "forward"),
            (.returnCacheDataElseLoad, "returnCacheDataElseLoad: hit", "forward"),
            (.returnCacheDataDontLoad, "returnCacheDataDontLoad: hit", "unavailable"),
            (.reloadRevalidatingCacheData, "reloadRevalidatingCacheData: validate rule stale", "forward"),
        ] as [(RequestCachePolicy, String, String)])
    func requestPolicies(policy: RequestCachePolicy, stored: String, missing: String) throws {
        let fields: MessageFields = ["ETag": "\"a\"", "Cache-Control": "max-age=1"]
        #expect(try outcome(.protocolOnly, Self.page, fields, after: 99, requestPolicy: policy) == stored)
        let outcome = Sample.outcome(try Sample.request(), [], requestPolicy: policy)
        #expect(outcome == missing.replacing("protocol: ", with: "") + (missing.contains(" ") ? "" : " not-stored"))
        #expect(RequestCachePolicy.allCases.count == 6)
    }

    @Test("A reload from end to end tells the caches on the way")
    func endToEnd() throws {
        let request = try Sample.request("GET", Self.page, ["X": "1"])
        func sent(_ policy: RequestCachePolicy) -> MessageFields? {
            let decision = CachingPolicy().lookup(request, among: [], now: Sample.start, requestPolicy: policy)
            return if case .forward(let fields) = decision.outcome { fields } else { nil }
        }
        #expect(sent(.reloadIgnoringLocalCacheData) == ["X": "1"])
        #expect(
            sent(.reloadIgnoringLocalAndRemoteCacheData) == [
                "X": "1", "Cache-Control": "no-cache", "Pragma": "no-cache",
            ])
    }

    @Test("The first rule of the user that matches decides, before the built-in ones")
    func userRules() throws {
        let rules = try CachingRules(
            table: """
                # what         where
                never-store    https://shop.example/account/

                always-ask \t https://shop.example/api/*
                keep           https://shop.example/*
                returnCacheDataDontLoad https://cdn.example/
                useProtocolCachePolicy *.woff2
                """)
        let fields: MessageFields = ["ETag": "\"a\"", "Cache-Control": "max-age=1"]
        #expect(try outcome(rules, "https://shop.example/account/x", fields) == "rule-line-2: forward rule")
        #expect(try outcome(rules, "https://shop.example/api/x", fields) == "rule-line-4: validate rule")
        #expect(try outcome(rules, "https://shop.example/x", fields, after: 99) == "rule-line-5: hit")
        #expect(
            try outcome(rules, "https://shop.example/x", ["Cache-Control": "no-cache, must-revalidate"], after: 99)
                == "rule-line-5: hit")
        #expect(try outcome(rules, "https://cdn.example/x", fields, after: 99) == "rule-line-6: hit")
        #expect(try outcome(rules, "https://cdn2.example/x.woff2", fields, after: 99) == "rule-line-7: validate stale")
        #expect(try outcome(rules, "https://cdn2.example/x.js", fields, after: 99) == "static: hit-then-validate stale")
        let policy = CachingPolicy(rules: rules)
        let account = try Sample.request("GET", "https://shop.example/account/x")
        #expect(policy.storing(Sample.response(200), for: account).obstacles == [.rule])
        // Not even if the server fails.
        let stored = try Sample.stored(
            ["Cache-Control": "max-age=1, stale-if-error=99"], "https://shop.example/account/x")
        #expect(policy.lookup(account, among: [stored], now: Sample.start).choice == nil)
    }

    @Test(
        "A table with an error names its line",
        arguments: [
            ("keep", 1, .wordsInvalid), ("\n# x\nkeep a b", 3, .wordsInvalid),
            ("keep https://a.example/\r\n# x\r\nkeep\r\n", 3, .wordsInvalid),
            ("store https://a.example/", 1, .treatmentUnknown),
            ("Keep https://a.example/", 1, .treatmentUnknown), ("keep a.example/", 1, .patternInvalid),
            ("keep ftp://a.example/", 1, .patternInvalid), ("keep wss://a.example/", 1, .patternInvalid),
            ("keep https://*", 1, .patternInvalid), ("keep https://", 1, .patternInvalid),
            ("keep ftp://*/x", 1, .patternInvalid), ("keep https://bü*.example/x", 1, .patternInvalid),
            ("keep https://*.a.example:x/", 1, .patternInvalid), ("keep https://a b*.example/", 1, .wordsInvalid),
            ("keep https://a.example/#b", 1, .fragment), ("keep *.js#b", 1, .fragment), ("keep # /a", 1, .wordsInvalid),
            ("keep /" + String(repeating: "a", count: 500), 1, .patternInvalid),
        ] as [(String, Int, CachingRulesError.Reason)])
    func errors(table: String, line: Int, reason: CachingRulesError.Reason) {
        #expect(throws: CachingRulesError(line: line, reason: reason)) { try CachingRules(table: table) }
        #expect(CachingRulesError(line: line, reason: reason).description.hasPrefix("line \(line): "))
    }

    @Test("Lines may end as those of Windows do")
    func carriageReturns() throws {
        let table = "# what where\r\nnever-store https://a.example/\r\n\r\nkeep *.js\r\n"
        #expect(try CachingRules(table: table) == CachingRules(table: table.replacing("\r\n", with: "\n")))
        #expect(try CachingRules(table: table).userRules.map(\.line) == [2, 4])
        #expect(throws: CachingRulesError(line: 2, reason: .treatmentUnknown)) {
            try CachingRules(table: "# what where\r\nstore https://a.example/\r\n")
        }
    }

    @Test("A comment may stand after a rule, and a byte order mark before the table")
    func comments() throws {
        let table = "never-store https://a.example/ # the account\nkeep *.js\t#x y z\n"
        let plain = try CachingRules(table: "never-store https://a.example/\nkeep *.js\n")
        #expect(try CachingRules(table: table) == plain)
        #expect(try CachingRules(table: "\u{FEFF}" + table) == plain)
        #expect(try CachingRules(table: "\u{FEFF}# x\nkeep *.js").userRules.map(\.line) == [2])
    }

    @Test("A table has at most 10,000 rules")
    func bounded() throws {
        let rule = "keep https://a.example/\n"
        #expect(try CachingRules(table: String(repeating: rule, count: 10_000)).userRules.count == 10_000)
        #expect(throws: CachingRulesError(line: 10_001, reason: .tooManyRules)) {
            try CachingRules(table: String(repeating: rule, count: 10_001))
        }
    }

    @Test(
        "Prefixes and patterns",
        arguments: [
            ("https://a.example/x", "https://a.example/xy", true),
            ("https://a.example/x", "https://a.example/x?q", true),
            ("https://a.example", "https://a.example/x", true),
            ("https://a.example", "https://a.example.evil/x", false),
            ("https://a.example/x", "https://a.example/X", false), ("https://a.example/x", "http://a.example/x", false),
            ("https://A.example:443/x/../y", "https://a.example/y/z", true),
            ("https://a.example/x?q=1", "https://a.example/x?q=12", true),
            ("/x/", "https://any.example/x/y", true), ("/x/", "https://any.example/y/x/", false),
            ("*.woff2", "https://any.example/f/a.woff2", true), ("*.woff2", "https://any.example/a.woff2?v=1", true),
            ("*.woff2", "https://any.example/a.woff2.js", false), ("*.js?v=*", "https://any.example/a.js?v=1", true),
            ("https://*.a.example/*", "https://b.a.example/x", true),
            ("https://*.a.example/account/", "https://b.a.example/account/x?y", true),
            ("https://*.a.example/account/", "https://b.a.example/accounts", false),
            ("/account/", "https://any.example/account/x", true),
            ("https://*.a.example/*", "https://a.example/x", false),
            ("https://*.a.example/*", "https://evil.example/.a.example/x", false),
            ("https://a.example/*/x/*.css", "https://a.example/1/2/x/3.css", true),
            ("https://a.example/*/x/*.css", "https://a.example/1/2/y/3.css", false),
            ("https://a.example/*", "https://a.example/", true),
            ("https://*.a.example:443/*", "https://b.a.example/x", true),
            ("https://*.A.Example/*", "https://b.a.example/x", true),
            ("https://*.bücher.example/*", "https://www.xn--bcher-kva.example/x", true),
            ("http://localhost:*/*", "http://localhost:8080/x", true),
            ("https://*/a", "https://a.example:8443/a", true),
            ("*a*b*a*", "https://x.example/ababab", true), ("*a*b*c", "https://x.example/abab", false),
        ])
    func patterns(pattern: String, url: String, matches: Bool) throws {
        #expect(try URLPattern(pattern).matches(URLPattern.Target(try RequestURL(url))) == matches)
    }
}
