import CookieModel
import RequestDecoration
import SessionOperations
import Testing

@testable import CrumbCommands

@Suite struct CurlPlanTests {
    /// Options by name; `=` before a value.
    static func plan(_ options: String...) throws -> CurlPlan {
        try CurlPlan(
            options.map { text in
                let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return CurlOption(name: String(parts[0]), value: parts.count > 1 ? Array(parts[1].utf8) : nil)
            })
    }

    static func hop(_ plan: CurlPlan) -> RedirectChain {
        var context = RequestContext(url: plan.target.url)
        context.method = plan.method
        return RedirectChain(context)
    }

    static func redirect(_ status: Int, _ location: String) throws -> ResponseHead {
        var block = try #require(ResponseHead(statusLine: Array("HTTP/1.1 \(status) Found".utf8)))
        block.take(Array("Location: \(location)".utf8))
        return block
    }

    static func names(_ plan: CurlPlan, _ hop: RedirectChain) -> [String] {
        plan.options(for: hop).map { option in
            option.name + (option.value.map { "=" + String(decoding: $0, as: UTF8.self) } ?? "")
        }
    }

    @Test(
        arguments: [
            (["url=http://a/", "next"], "--next"),
            (["url=http://a/", "url=http://b/"], "2 URLs"),
            (["url=http://a/[1-3]"], "--globoff"),
            (["url=http://a/{x,y}"], "--globoff"),
            (["url=http://[::1]/{x}"], "--globoff"),
            (["url=http://a\\@b/"], "backslash"),
            (["url=@urls"], "a file of URLs"),
            (["url=http://a/", "cookie=jar.txt"], "crumb import"),
            (["url=http://a/", "cookie="], "crumb import"),
            (["url=http://a/", "cookie-jar=f"], "remove the option"),
            (["url=http://a/", "junk-session-cookies"], "session"),
            (["url=http://a/", "header=Host: b"], "--connect-to"),
            (["url=http://a/", "header=Cookie:"], "remove the Cookie header"),
            (["url=http://a/", "header=Cookie;"], "remove the Cookie header"),
            (["url=http://a/", "header=X: a\nCookie: b"], "line break"),
            (["url=http://a/", "hsts=f"], "https"),
            (["url=http://a/", "libcurl=f"], "source code"),
            (["url=http://a/", "trace=f"], "readable to others"),
            (["url=http://a/", "dump-header=-", "include"], "--include"),
            (["url=http://a/", "location", "stderr=f"], "shell"),
            (["url=http://a/", "location", "retry-all-errors"], "--retry"),
            (["url=http://a/", "location", "proto=https", "proto-redir=https"], "--proto"),
            (["url=http://a/", "location", "write-out=%output{f}x"], "%output"),
            (["url=http://a/", "location", "data=@/dev/null"], "only once"),
            (["url=http://a/", "max-redirs=x"], "not a number"),
        ] as [([String], String)])
    func `what cannot be kept is refused with a reason`(options: [String], reason: String) throws {
        let problem = #expect(throws: CommandFailure.self) {
            try CurlPlan(
                options.map { text in
                    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                    return CurlOption(name: String(parts[0]), value: parts.count > 1 ? Array(parts[1].utf8) : nil)
                })
        }
        #expect(problem?.failure == .curlArgumentsUnsupported)
        #expect(problem?.message.contains(reason) == true, "\(problem?.message ?? "")")
    }

    @Test(arguments: [
        ("a.example/p", "http://a.example/p"), ("localhost:81", "http://localhost:81/"), ("HTTP://A/", "http://a/"),
        ("http://u:p@h/", "http://h/"), ("http://[::1]:8/", "http://[::1]:8/"), ("http:/h/x", "http://h/x"),
    ])
    func `a URL is completed as by curl`(text: String, expected: String) throws {
        #expect(try Self.plan("url=\(text)").target.url.description == expected)
    }

    @Test(arguments: ["", "ftp.example.com", "ftp://h/", "file:///etc/passwd", "ws://h/", "http://"])
    func `a URL that carries no cookies is refused`(text: String) {
        let problem = #expect(throws: CommandFailure.self) { try Self.plan("url=\(text)") }
        #expect(problem?.failure == .urlInvalid)
    }

    @Test(
        arguments: [
            ([], "GET"), (["data=x"], "POST"), (["form=a=b"], "POST"), (["json={}"], "POST"),
            (["data=x", "get"], "GET"),
            (["head"], "HEAD"), (["upload-file=f"], "PUT"), (["data=x", "request=patch"], "PATCH"),
            (["request="], "GET"),
        ] as [([String], String)])
    func `the method is the one that curl will use`(options: [String], method: String) throws {
        let given = (options + ["url=http://a/", "globoff"]).map { text in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return CurlOption(name: String(parts[0]), value: parts.count > 1 ? Array(parts[1].utf8) : nil)
        }
        #expect(try CurlPlan(given).method == method)
    }

    @Test func `the first request is the user's own`() throws {
        let plan = try Self.plan("silent", "user=a:b", "cookie=x=y", "max-redirs=3", "location", "url=h")
        #expect(
            Self.names(plan, Self.hop(plan))
                == ["silent", "user=a:b", "location", "max-redirs=0", "suppress-connect-headers", "url=h"])
        #expect(plan.cookies == [Array("x=y".utf8)])
        #expect(plan.redirectLimit == 3)
    }

    @Test func `credentials stay behind at the first border, for good`() throws {
        let plan = try Self.plan(
            "user=a:b", "oauth2-bearer=t", "header=Authorization: x", "header=X-A: 1", "cert=c", "key=k", "netrc",
            "proxy-user=p:q", "cookie=x=y", "location", "url=https://u:p@a/1")
        let same = try #require(
            try Self.hop(plan).following(Self.redirect(302, "/2"), keptPosts: []))
        #expect(Self.names(plan, same).contains("url=https://u:p@a/2"))
        #expect(Self.names(plan, same).contains("user=a:b"))
        #expect(!plan.cookies(for: same).isEmpty)
        for location in ["https://b/", "https://a:444/", "http://a/"] {
            let other = try #require(try same.following(Self.redirect(302, location), keptPosts: []))
            let back = try #require(try other.following(Self.redirect(302, "https://a/3"), keptPosts: []))
            for hop in [other, back] {
                #expect(
                    Self.names(plan, hop).dropLast() == [
                        "header=X-A: 1", "proxy-user=p:q", "globoff", "location", "max-redirs=0",
                        "suppress-connect-headers",
                    ])
                #expect(plan.cookies(for: hop).isEmpty)
            }
            #expect(Self.names(plan, back).last == "url=https://a/3")
        }
    }

    @Test func `trusted origins get Authorization, but not in the clear, and no cookies or keys`() throws {
        let plan = try Self.plan(
            "user=a:b", "header=Authorization: x", "cert=c", "cookie=x=y", "location-trusted", "url=https://a/")
        let other = try #require(try Self.hop(plan).following(Self.redirect(302, "https://b/"), keptPosts: []))
        #expect(Self.names(plan, other).prefix(2) == ["user=a:b", "header=Authorization: x"])
        #expect(!Self.names(plan, other).contains("cert=c"))
        #expect(plan.cookies(for: other).isEmpty)
        let clear = try #require(try other.following(Self.redirect(302, "http://b/"), keptPosts: []))
        #expect(!Self.names(plan, clear).contains { $0.hasPrefix("user") || $0.hasPrefix("header") })
    }

    @Test(
        arguments: [
            (302, [], "GET", false), (303, [], "GET", false), (307, [], "POST", true), (308, [], "POST", true),
            (300, [], "POST", true), (302, [302], "POST", true), (301, [302], "GET", false),
        ] as [(Int, Set<Int>, String, Bool)])
    func `the body goes with the method`(status: Int, kept: Set<Int>, method: String, keeps: Bool) throws {
        let plan = try Self.plan("json={}", "header=Content-Type: x", "request=POST", "location", "url=http://a/")
        let hop = try #require(try Self.hop(plan).following(Self.redirect(status, "/b"), keptPosts: kept))
        #expect(hop.context.method == method)
        #expect(Self.names(plan, hop).contains("json={}") == keeps)
        #expect(Self.names(plan, hop).contains("request=POST") == keeps)
        #expect(Self.names(plan, hop).contains("header=Content-Type: x") == keeps)
        #expect(Self.names(plan, hop).contains("header=Accept: application/json") == !keeps)
    }

    @Test func `later requests are shaped by the first`() throws {
        let plan = try Self.plan(
            "data=q=1", "get", "url-query=a=b", "remote-name", "referer=;auto", "proto-redir=https", "digest",
            "location",
            "url=http://a/dir/file.txt?x#y")
        let hop = try #require(try Self.hop(plan).following(Self.redirect(302, "other"), keptPosts: []))
        #expect(
            Self.names(plan, hop) == [
                "output=file.txt", "referer=http://a/dir/file.txt?x", "digest", "globoff", "proto=https", "location",
                "proto-redir=-all", "suppress-connect-headers", "url=http://a/dir/other",
            ])
    }

    @Test(arguments: ["ftp://h/", "mailto:a@b", "http://", "ws://h/"])
    func `a redirect to elsewhere than http is a failure`(location: String) throws {
        let plan = try Self.plan("location", "url=http://a/")
        let problem = #expect(throws: CommandFailure.self) {
            try Self.hop(plan).following(Self.redirect(302, location), keptPosts: [])
        }
        #expect(problem?.failure == .redirectInvalid)
    }

    @Test func `an upload names its file once`() throws {
        let plan = try Self.plan("upload-file=/tmp/a b", "location", "url=http://a/d/")
        #expect(plan.target.url.description == "http://a/d/a%20b")
        let hop = try #require(try Self.hop(plan).following(Self.redirect(307, "/e/"), keptPosts: []))
        #expect(plan.problem(with: hop)?.failure == .redirectInvalid)
    }

    @Test func `the caller's cookies win by name, octet for octet`() throws {
        let own: [Octets] = ["a=1; b =2", [0x63, 0x3D, 0xFF]]
        #expect(CookieMerge(own: own, jar: []).octets.bytes == Array("a=1; b =2; c=".utf8) + [0xFF])
        var decoration = CurlDecoration()
        decoration.add(cookieString: CookieMerge(own: [], jar: []).octets)
        #expect(decoration.configuration.isEmpty)
    }
}
