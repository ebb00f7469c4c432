import CookieModel
import Foundation
import TestSupport
import Testing

@Suite("crumb explain")
struct ExplainCommandTests {
    private let home = CrumbHome()

    private func explain(_ words: String...) throws -> String { try home.explanation(words) }

    private func report(_ words: String...) throws -> [String: Any] {
        let result = try home.start(["explain", "--json"] + words).wait()
        #expect(result.status == 0 && !result.text.contains("secret"))
        return try #require(try result.objects().first)
    }

    private func reasons(_ excluded: Any?) -> [String: [String]] {
        let entries = excluded as? [[String: Any]] ?? []
        let pairs = entries.map { entry in
            (
                (entry["cookie"] as? [String: Any])?["name"] as? String ?? "",
                (entry["reasons"] as? [[String: String]] ?? []).compactMap { $0["id"] }
            )
        }
        return Dictionary(pairs) { $0 + $1 }
    }

    @Test("The verdict comes first, then a row for each cookie with every reason and its remedy")
    func layout() throws {
        try home.receive(
            "sid=secret; Path=/; HttpOnly; Secure; SameSite=Lax", "site=1; Domain=example.com; Path=/x",
            "=nameless; Path=/")
        try home.receive("other=3; Path=/", from: "https://other.test/")
        #expect(
            try explain("http://www.example.com/") == """
                1 of 3 cookies of example.com in jar 'default' is sent to http://www.example.com/

                          NAME       DOMAIN           PATH  EXPIRES           FLAGS
                sent      (no name)  www.example.com  /     with the session  host-only
                not sent  site       .example.com     /x    with the session  -
                          - the request's path is not at or below /x (path-mismatch)
                            Fix: check the path in the URL; the server can set Path=/
                not sent  sid        www.example.com  /     with the session  Secure HttpOnly SameSite=Lax host-only
                          - it is Secure and the connection is not (secure-only)
                            Fix: use https

                2 of them would be sent to https://www.example.com/

                """)
        let script = try explain("--script", "https://www.example.com/x")
        #expect(script.hasPrefix("2 of 3 cookies of example.com in jar 'default' are visible to scripts of https://"))
        #expect(script.contains("(http-only)") && script.contains("\nhidden   sid"))
    }

    /// A request that a session does not survive, and why not.
    struct Situation: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let line: String
        let words: [String]
        let reasons: [String]

        init(_ description: String, _ line: String, _ words: String..., reasons: String...) {
            (testDescription, self.line, self.words, self.reasons) = (description, line, words, reasons)
        }
    }

    private static let situations = [
        Situation("http for https", "Secure; Path=/", "http://www.example.com/", reasons: "secure-only"),
        Situation("the parent domain", "Path=/", "https://example.com/", reasons: "host-only-mismatch"),
        Situation("a sibling", "Path=/", "https://app.example.com/", reasons: "host-only-mismatch"),
        Situation(
            "above a domain cookie", "Domain=www.example.com", "https://example.com/", reasons: "domain-mismatch"),
        Situation("another path", "Path=/account", "https://www.example.com/accounts", reasons: "path-mismatch"),
        Situation(
            "a strict cookie and a link from elsewhere", "SameSite=Strict; Path=/", "https://www.example.com/",
            "--initiator", "https://mail.test/", reasons: "same-site-strict"),
        Situation(
            "a lax cookie in somebody's frame", "SameSite=Lax; Path=/", "https://www.example.com/", "--top-level",
            "https://blog.test/", reasons: "same-site-lax"),
        Situation(
            "a form of another site", "Path=/", "https://www.example.com/", "--initiator", "https://pay.test/",
            "--method", "POST", reasons: "same-site-default"),
        Situation(
            "a partition", "Secure; SameSite=None; Partitioned; Path=/", "https://www.example.com/", "--top-level",
            "https://blog.test/", reasons: "partition-mismatch"),
        Situation(
            "all at once", "Secure; HttpOnly; Path=/a", "http://example.com/", "--script",
            reasons: "host-only-mismatch", "path-mismatch", "secure-only", "http-only"),
    ]

    @Test("Says why the session does not go, all that applies", arguments: situations)
    func situation(_ situation: Situation) throws {
        try home.receive("sid=secret; \(situation.line)")
        let result = try home.start(["explain"] + situation.words).wait()
        #expect(result.text.hasPrefix("0 of 1 cookie of example.com in jar 'default' "), "\(result.text)")
        for reason in situation.reasons { #expect(result.text.contains("(\(reason))\n")) }
        #expect(result.text.components(separatedBy: "Fix: ").count == situation.reasons.count + 1)
        let object = try #require(try home.start(["explain", "--json"] + situation.words).wait().objects().first)
        #expect(reasons(object["excluded"]) == ["sid": situation.reasons])
    }

    @Test("With a browser's decision, it counts, and is told with its source")
    func verdict() throws {
        try home.receive(
            "strict=secret; SameSite=Strict", "lax=secret; SameSite=Lax", "none=secret; SameSite=None; Secure")
        let text = try explain("https://www.example.com/", "--verdict", "witness:lax,none,default")
        #expect(
            text.hasPrefix(
                """
                2 of 3 cookies of example.com in jar 'default' are sent to https://www.example.com/
                the browser's decision: cross-site navigation (lax, none, default), by the gateway's witness cookies

                """), "\(text)")
        let report = try report("https://www.example.com/", "--verdict", "none:")
        let verdict = try #require(report["verdict"] as? [String: Any])
        #expect(verdict["source"] as? String == "none" && (verdict["classes"] as? [Any])?.isEmpty == true)
        let reasons = reasons(report["excluded"])
        #expect(reasons["strict"] == ["same-site-strict"] && reasons["none"] == ["browser-omits"], "\(report)")
        // A line of the log has them too.
        for (text, classes) in [
            ("origin:lax", ["lax"]), ("witness: same-site", ["strict", "lax", "none", "default"]),
            ("witness: cross-site navigation", ["lax", "none", "default"]), ("sec-fetch: cross-site", ["none"]),
            ("none: no cookies", []), ("witness: lax, none", ["lax", "none"]),
        ] {
            let verdict = try self.report("https://www.example.com/", "--verdict", text)["verdict"] as? [String: Any]
            #expect(verdict?["classes"] as? [String] == classes, "\(text): \(verdict ?? [:])")
        }
        for wrong in ["witness:all", "guess:lax", "witness: same site"] {
            let result = try home.start(["explain", "https://a.test/", "--verdict", wrong]).wait()
            #expect(result.status == 64 && result.messages.contains("use one of"), "\(result.messages)")
        }
    }

    @Test("An expired session says when it ended, a living one when it will")
    func lifetimes() throws {
        try home.receive(
            "old=secret; Path=/; Max-Age=1", "new=secret; Path=/; Max-Age=8640000", "short=1; Max-Age=90",
            at: Timestamp.now.advanced(bySeconds: -30))
        let text = try explain("https://www.example.com/")
        #expect(text.contains(#/not sent  old .* ended \d+ seconds? ago, \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ /#))
        #expect(text.contains(#/sent      new .* in 99 days, \d{4}-\d\d-\d\dT/#))
        #expect(text.contains(#/sent      short .* in \d+ seconds, /#))
        #expect(text.contains("(expired)\n            Fix: log in again and import the new session\n"))
        let excluded = try #require(try report("https://www.example.com/")["excluded"] as? [[String: Any]])
        let cookie = try #require(excluded.first?["cookie"] as? [String: Any])
        #expect(cookie["expires"] is String && (cookie["expiresIn"] as? Int ?? 0) < 0)
    }

    @Test("Without cookies of the site, reports that and where to look")
    func nothing() throws {
        let never = try explain("https://www.example.com/x")
        #expect(
            never.hasPrefix("jar 'default' has no cookie of example.com: none is sent to https://www.example.com/x\n"))
        #expect(never.contains("crumb import FILE\n") && never.contains("crumb curl"))
        try home.receive("a=secret; Path=/", from: "https://www.example.org/")
        try home.receive("a=secret", from: "https://exemple.com/")
        try home.receive("a=secret", from: "https://unlike.test/")
        try home.receive("sid=secret; Path=/", "b=2; Path=/b", jar: "my work")
        let text = try explain("https://www.example.com/?a=1&b=2")
        #expect(
            text.contains(
                "jar 'my work' would send 1 cookie, including sid, which this jar does not send: "
                    + "crumb explain --jar 'my work' 'https://www.example.com/?a=1&b=2'\n"))
        #expect(text.contains("similar sites: example.org, exemple.com\n"))
        let object = try report("https://www.example.com/")
        #expect((object["included"] as? [Any])?.isEmpty == true && object["site"] as? String == "example.com")
        #expect(object["similarSites"] as? [String] == ["example.org", "exemple.com"])
        let other = try #require((object["otherJars"] as? [[String: Any]])?.first)
        #expect(other["name"] as? String == "my work" && other["cookies"] as? Int == 2 && other["sent"] as? Int == 1)
        #expect(try explain("--jar", "my work", "https://nowhere.test/").contains("crumb import --jar 'my work' FILE"))
    }

    @Test("A session in another jar is named only if it has cookies that are not sent")
    func otherJar() throws {
        try home.receive("seen=1; Path=/")
        try home.receive("seen=2; Path=/", jar: "copy")
        #expect(try !explain("https://www.example.com/").contains("jar 'copy'"))
        try home.receive("sid=secret; Path=/", jar: "work")
        #expect(try explain("https://www.example.com/").contains("jar 'work' would send 1 cookie, including sid, "))
    }

    @Test("A jar whose cookies would not go to the URL is not named, even if this jar has none")
    func uselessJar() throws {
        try home.receive("sid=secret; Path=/account; Secure", jar: "work")
        let object = try report("https://www.example.com/")
        #expect((object["otherJars"] as? [Any])?.isEmpty == true)
        let other = try #require(
            (try report("https://www.example.com/account")["otherJars"] as? [[String: Any]])?.first)
        #expect(other["lacking"] as? [String] == ["sid"])
    }

    @Test(
        "A cookie of a public suffix does not go to subdomains, and no other list is blamed for it",
        arguments: [("github.io", "foo.github.io"), ("localhost", "shop.localhost"), ("co.uk", "shop.co.uk")])
    func publicSuffix(suffix: String, host: String) throws {
        try home.receive("a=secret; Path=/", from: "https://\(suffix)/")
        let text = try explain("https://\(host)/")
        #expect(
            text.contains("- \(suffix) is a public suffix; its cookies never go to subdomains (domain-public-suffix)"))
        #expect(reasons(try report("https://\(host)/")["excluded"]) == ["a": ["domain-public-suffix"]])
        #expect(text.contains("1 of them would be sent to https://\(suffix)/"))
    }

    @Test("After a logout, says which cookie was deleted, when, and by which response")
    func deleted() throws {
        try home.receive("sid=secret; Path=/; HttpOnly", "theme=1; Path=/", "lang=1; Path=/")
        try home.receive("sid=; Path=/; Max-Age=0", from: "https://www.example.com/logout?token=secret")
        try home.receive("theme=2; Path=/", from: "https://www.example.com/settings")
        #expect(try home.crumb("remove", "lang").status == 0)
        let text = try explain("https://www.example.com/")
        #expect(
            text.hasPrefix(
                "1 of 1 cookie of example.com in jar 'default' is sent to https://www.example.com/; "
                    + "gone: 1 deleted, 1 removed\n"))
        let moment = #/\d+ seconds? ago, \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/#
        #expect(text.contains(#/sent     theme .*\n +- replaced \d+ s.* by https://www.example.com/settings in /#))
        #expect(
            text.contains(
                #/deleted  sid  +www.example.com  / .*\n +- deleted \d+ s.* by https://www.example.com/logout in /#))
        #expect(
            text.contains(
                #/removed  lang .*\n +- removed by a crumb command, such as 'session end', or by the API \d+ s/#))
        #expect(text.contains(moment) && !text.contains("token"))
        let changes = try #require(try report("https://www.example.com/")["changes"] as? [[String: Any]])
        #expect(changes.compactMap { $0["cause"] as? String } == ["removed", "replaced", "deleted"])
        #expect(changes.compactMap { $0["name"] as? String } == ["lang", "theme", "sid"])
        #expect(changes.last?["url"] as? String == "https://www.example.com/logout")
        #expect((changes.last?["capture"] as? String)?.contains("response-") == true)
        // A new login is no loss.
        try home.receive("sid=secret; Path=/")
        #expect(try !explain("https://www.example.com/").contains("deleted"))
    }

    @Test("If the jar lost all its cookies of the site, reports that before it suggests a login")
    func allDeleted() throws {
        try home.receive("sid=secret; Path=/")
        try home.receive("sid=; Path=/; Max-Age=0", from: "https://www.example.com/logout")
        let text = try explain("https://www.example.com/")
        #expect(
            text.hasPrefix(
                "jar 'default' has no cookie of example.com: none is sent to https://www.example.com/; gone: "))
        #expect(
            text.contains("by https://www.example.com/logout")
                && text.contains("Fix: log in at https://www.example.com with\n       crumb browse "))
    }

    @Test("A terminal gets times of the user's time zone, and how far they are; others get those of RFC 3339")
    func times() throws {
        try home.receive("sid=1; Max-Age=9999999")
        let local = DateFormatter()
        local.locale = Locale(identifier: "en_US_POSIX")
        local.timeZone = TimeZone(secondsFromGMT: 7200)
        local.dateFormat = "yyyy-MM-dd HH:mm"
        for command in ["explain http://www.example.com/", "list"] {
            let plain = try home.shell("crumb \(command)").text
            let match = try #require(plain.firstMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}/))
            let end = try #require(ISO8601DateFormatter().date(from: "\(match.output)Z"))
            let text = try home.shell("TZ=XYZ-2 script -qec 'crumb \(command)' /dev/null").text
            #expect(text.contains("  in 115 days, \(local.string(from: end))  "), "\(text)")
        }
    }

    @Test("A terminal gets the verdicts in color, unless NO_COLOR or an option says no")
    func color() throws {
        try home.receive("sid=1; Path=/; Secure")
        func text(_ words: String) throws -> String {
            try home.shell("\(words.replacing("crumb", with: "script -qec 'crumb")) http://www.example.com/' /dev/null")
                .text
        }
        #expect(try text("crumb explain").contains("\n\u{1B}[2mnot sent\u{1B}[0m  sid "))
        for plain in ["crumb explain --no-color", "NO_COLOR=1 crumb explain"] {
            #expect(try text(plain).contains("\nnot sent  sid "))
        }
        #expect(try explain("http://www.example.com/").contains("\nnot sent  sid "))
    }

    @Test("Names this machine by its other names")
    func loopback() throws {
        try home.receive("sid=secret; Path=/", from: "http://localhost:8080/")
        #expect(try explain("http://127.0.0.1:8080/").contains("similar sites: localhost\n"))
        #expect(try !explain("http://10.0.0.1:8080/").contains("similar sites"))
    }

    @Test("The URL that would get more is named: another host of the site, and https")
    func better() throws {
        try home.receive("sid=secret; Path=/; Secure", "id=secret; Domain=example.com; Path=/")
        let object = try report("http://example.com/x")
        let better = try #require(object["better"] as? [String: Any])
        #expect(better["url"] as? String == "https://www.example.com/x" && better["sent"] as? Int == 2)
        #expect(try report("https://www.example.com/")["better"] == nil)
    }

    @Test("Changes nothing, not even the time of the last access")
    func unchanged() throws {
        try home.receive("sid=secret; Path=/")
        let database = home.file("crumb.sqlite")
        #expect(try home.shell("sqlite3 '\(database)' 'UPDATE cookie SET last_access_at = 1'").status == 0)
        _ = try explain("https://www.example.com/")
        func lastAccess() throws -> String {
            try home.shell("sqlite3 '\(database)' 'SELECT last_access_at FROM cookie'").text
        }
        #expect(try lastAccess() == "1\n")
        _ = try home.header()
        #expect(try lastAccess() != "1\n")
    }
}
