import Foundation
import TestSupport
import Testing

@Suite("Cookies of requests")
struct RequestCookieTests {
    private let home = CrumbHome()

    /// An entry of a HAR.
    ///
    /// - Parameters:
    ///   - age: how many seconds ago the request was made.
    ///   - duration: how many milliseconds the answer took.
    private static func entry(
        _ url: String = "https://www.example.com/", cookie: String?, set: [String] = [],
        fields: [String: String] = [:], age: Double? = nil, duration: Double = 0, hasBrokenTime: Bool = false
    ) -> String {
        let time =
            hasBrokenTime
            ? #""startedDateTime":"yesterday","#
            : age.map {
                let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
                let moment = Date(timeIntervalSinceNow: -$0).formatted(style)
                return #""startedDateTime":"\#(moment)","time":\#(duration),"#
            } ?? ""
        var headers = fields
        headers["Cookie"] = cookie
        let sent = headers.map { #"{"name":"\#($0.key)","value":"\#($0.value)"}"# }.joined(separator: ",")
        let received = set.map { #"{"name":"Set-Cookie","value":"\#($0)"}"# }.joined(separator: ",")
        return """
            {\(time)"request":{"method":"GET","url":"\(url)","headers":[\(sent)]},"response":{"status":200,"headers":[\(received)]}}
            """
    }

    private func cookies(jar: String = "default") throws -> [[String: Any]] {
        try home.crumb("list", "--jar", jar, "--origins", "--values", "--json").objects()
    }

    @Test("A HAR that began after the login gives its request cookies where they are asked for")
    func har() throws {
        let path = try home.write(
            Capture.har([
                Self.entry("https://www.example.com/a/b?q=1", cookie: "sid=old; theme=dark; out=1; dom=0"),
                Self.entry(
                    "https://www.example.com/", cookie: "sid=1; theme=dark; out=1; dom=0",
                    set: ["theme=light; Path=/", "out=; Path=/; Max-Age=0", "dom=1; Path=/; Domain=example.com"]),
                Self.entry("http://plain.example/", cookie: "p=1"),
                Self.entry(
                    "https://other.example/i", cookie: "third=1",
                    fields: ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "image"]),
            ]), to: "page.har")
        #expect(try home.crumb("import", "--jar", "plain", path).text.contains("1 deleted") == true)
        #expect(try home.header(jar: "plain") == "Cookie: theme=light; dom=1")
        let result = try home.crumb("import", "--request-cookies", path)
        #expect(
            result.status == 0
                && result.text.hasSuffix("  request cookies: 2 taken, 3 already set, 1 of third parties left out\n"),
            "\(result.text)")
        #expect(try home.header() == "Cookie: theme=light; dom=1; sid=1")
        #expect(try home.header("http://plain.example/") == "Cookie: p=1")
        #expect(try home.header("https://sub.www.example.com/") == "Cookie: dom=1")
        let sid = try #require(try cookies().first { $0["name"] as? String == "sid" })
        #expect(sid["hostOnly"] as? Bool == true && sid["path"] as? String == "/" && sid["secure"] as? Bool == true)
        #expect(sid["httpOnly"] as? Bool == true && sid["expires"] == nil)
        let origin = try #require(sid["origin"] as? [String: Any])
        #expect(origin["kind"] as? String == "request" && origin["url"] as? String == "https://www.example.com/")
        #expect(origin["capture"] as? String == path)
        let theme = try #require(try cookies().first { $0["name"] as? String == "theme" })
        #expect((theme["origin"] as? [String: Any])?["kind"] == nil)
        #expect(try home.crumb("list", "--origins").text.contains("request https://www.example.com/ in "))
        // A script of a page gets none of them.
        #expect(!(try home.crumb("script", "https://www.example.com/").text.contains("sid")))
        // What is already set stays; the same file again changes nothing.
        #expect(try home.crumb("import", "--request-cookies", path).text.contains("imported before"))
    }

    @Test("Copied requests need no option, and a newer one counts")
    func copied() throws {
        let command = try home.write(
            "curl 'https://www.example.com/x' -H 'Cookie: sid=1; b=2' --compressed", to: "a.txt")
        #expect(try home.crumb("import", command).text.contains("2 taken"))
        #expect(try home.header() == "Cookie: sid=1; b=2")
        let line = try home.crumb("import", "--url", "https://www.example.com/", "-", input: "Cookie: sid=3\n")
        #expect(line.status == 0 && line.text.contains("1 taken"), "\(line.text)")
        #expect(try home.header() == "Cookie: sid=3; b=2")
        let call = #"fetch("https://www.example.com/", {"headers":{"cookie":"c=1"}, "method":"GET"});"#
        #expect(try home.crumb("import", "-", input: call).status == 0)
        #expect(try home.header() == "Cookie: sid=3; b=2; c=1")
        // What a server sets is never replaced.
        try home.receive("sid=4; Path=/")
        #expect(try home.crumb("import", "--again", command).text.contains("1 already set"))
        #expect(try home.header() == "Cookie: sid=4; b=2; c=1")
        let copy = try home.crumb("jars", "copy", "default", "other")
        #expect(copy.status == 0, "\(copy.messages)")
        let kinds = try cookies(jar: "other").map { ($0["origin"] as? [String: Any])?["kind"] as? String }
        #expect(kinds == [nil, "request", "request"])
    }

    @Test("Of several requests the latest counts, within a capture and from one to the next")
    func latest() throws {
        let newer = try home.write(
            Capture.har([
                Self.entry(cookie: "sid=new; a=1", age: 100), Self.entry(cookie: "sid=old; b=2", age: 200),
            ]), to: "newer.har")
        let older = try home.write(Capture.har([Self.entry(cookie: "sid=oldest; c=3", age: 300)]), to: "older.har")
        let newest = try home.write(Capture.har([Self.entry(cookie: "sid=newest", age: 50)]), to: "newest.har")
        for isDry in [true, false] {
            let files = isDry ? ["--dry-run", newer, older] : [newer]
            let result = try home.start(["import", "--request-cookies"] + files).wait()
            #expect(result.text.contains("3 taken") && isDry == result.text.contains("1 older"), "\(result.text)")
        }
        #expect(try Set(home.header().dropFirst(8).split(separator: "; ")) == ["sid=new", "a=1", "b=2"])
        let result = try home.crumb("import", "--request-cookies", older)
        #expect(result.text.contains("1 taken, 0 already set, 1 older than the jar's"), "\(result.text)")
        #expect(try home.header().contains("sid=new;"))
        #expect(try home.crumb("import", "--request-cookies", newest).text.contains("1 taken"))
        #expect(try home.header().contains("sid=newest"))
    }

    @Test("However many a request sends, a cookie that was set stays")
    func limit() throws {
        try home.receive("real=1; Path=/")
        let cookies = (0..<400).map { "c\($0)=\($0)" }.joined(separator: "; ")
        let result = try home.crumb("import", "-", input: "curl 'https://www.example.com/' -b '\(cookies)'")
        #expect(result.status == 0 && result.text.contains("400 request cookies in 1 request: 400 taken"))
        #expect(result.text.contains("221 evicted"), "\(result.text)")
        #expect(try home.header().hasPrefix("Cookie: real=1; "))
        #expect(try home.crumb("list", "--json").objects().count == 180)
    }

    @Test(
        "A cookie that a response of the capture let expire or deleted after the request does not come back",
        arguments: [
            ("sid=1; Path=/; Max-Age=60", 3600.0, 0.0, 3590.0, false),
            // The request was made after the cookie had run out: it is another one.
            ("sid=1; Path=/; Max-Age=60", 3600.0, 0.0, 3500.0, true),
            ("sid=; Path=/; Max-Age=0", 3600.0, 0.0, 3610.0, false),
            // The deletion was still on its way.
            ("sid=; Path=/; Max-Age=0", 3600.0, 20_000.0, 3590.0, false),
            ("sid=; Path=/; Max-Age=0", 3600.0, 5_000.0, 3590.0, true),
            ("sid=; Path=/; Domain=example.com; Expires=Thu, 01 Jan 1970 00:00:00 GMT", 3600.0, 0.0, 3610.0, false),
        ])
    func gone(line: String, age: Double, duration: Double, requestAge: Double, isTaken: Bool) throws {
        let response = Self.entry(cookie: nil, set: [line], age: age, duration: duration)
        let request = Self.entry(cookie: "sid=1; other=2", age: requestAge)
        for entries in [[response, request], [request, response]] {
            let home = CrumbHome()
            let path = try home.write(Capture.har(entries), to: "page.har")
            let result = try home.crumb("import", "--request-cookies", path)
            #expect(result.status == 0, "\(result.messages)")
            #expect(try home.header() == (isTaken ? "Cookie: sid=1; other=2" : "Cookie: other=2"), "\(result.text)")
        }
    }

    @Test(
        "A cookie that another capture's response deleted after the request stays deleted, in either order",
        arguments: [
            // How long ago the cookie was set, deleted and sent.
            (3600.0, 1000.0, 2000.0, "1 deleted by a later response"),
            (3600.0, 2000.0, 1000.0, nil),
            // A capture that has the request only, of a time before all.
            (3600.0, 1000.0, 3700.0, "1 deleted by a later response"),
        ] as [(Double, Double, Double, String?)],
        ["sid=; Path=/; Max-Age=0", "sid=; Path=/app; Max-Age=0"])
    func deletedElsewhere(ages: (Double, Double, Double, String?), deletion: String) throws {
        let (set, deleted, sent, reason) = ages
        let isElsewhere = deletion.contains("/app")
        let home = CrumbHome()
        let login = isElsewhere ? "sid=1; Path=/app" : "sid=1; Path=/"
        let responses = try home.write(
            Capture.har([
                Self.entry(cookie: nil, set: [login], age: set), Self.entry(cookie: nil, set: [deletion], age: deleted),
            ]), to: "responses.har")
        let requests = try home.write(
            Capture.har([Self.entry(cookie: "sid=1; other=2", age: sent)]), to: "requests.har")
        // A cookie of another path is not the one that the request sent.
        let isDeleted = reason != nil && !isElsewhere
        for isDry in [true, false] {
            if !isDry { #expect(try home.crumb("import", responses).status == 0) }
            for again in [[], ["--again"]] where !isDry || again.isEmpty {
                let files = isDry ? ["--dry-run", responses, requests] : again + [requests]
                let result = try home.start(["import", "--request-cookies"] + files).wait()
                #expect(result.status == 0)
                #expect(result.text.contains(reason ?? "deleted by") == isDeleted, "\(result.text)")
            }
        }
        #expect(try home.header() == (isDeleted ? "Cookie: other=2" : "Cookie: sid=1; other=2"))
        let report = try #require(
            try home.crumb("import", "--request-cookies", "--json", "--again", requests).objects().first)
        #expect((report["requestCookies"] as? [String: Any])?["deleted"] as? Int == (isDeleted ? 1 : 0))
    }

    @Test(
        "A deleted cookie that the jar never had is not imported from older requests", arguments: [true, false])
    func deletedUnseen(isDeletionFirst: Bool) throws {
        try home.receive("known=1; Path=/")
        let deletions = ["sid=; Path=/; Max-Age=0", "run=1; Path=/; Max-Age=100"]
        let answer = try home.write(
            Capture.har([Self.entry(cookie: nil, set: deletions, age: 1000)]), to: "answer.har")
        let requests = try home.write(
            Capture.har([Self.entry(cookie: "sid=1; run=1; other=2", age: 2000)]), to: "requests.har")
        for path in isDeletionFirst ? [answer, requests] : [requests, answer] {
            let dry = try home.crumb("import", "--dry-run", "--request-cookies", path)
            let result = try home.crumb("import", "--request-cookies", path)
            #expect(dry.status == result.status && result.status == (path == answer && isDeletionFirst ? 9 : 0))
        }
        #expect(try home.header() == "Cookie: known=1; other=2")
        let dry = try home.start(["import", "--dry-run", "--again", "--request-cookies", answer, requests]).wait()
        #expect(dry.text.contains("1 expired, 1 deleted by a later response"), "\(dry.text)")
    }

    @Test("A capture that changed nothing is not remembered")
    func nothingRemembered() throws {
        let deletion = Capture.har([Self.entry(cookie: nil, set: ["sid=; Path=/; Max-Age=0"], age: 1000)])
        let path = try home.write(deletion, to: "logout.har")
        try home.receive("known=1; Path=/")
        for _ in 0..<2 {
            let result = try home.crumb("import", path)
            #expect(result.status == 9 && result.messages.contains("the jar has none of them"), "\(result.messages)")
        }
        try home.receive("sid=1; Path=/")
        #expect(try home.crumb("import", path).text.contains("1 deleted"))
        #expect(try home.header() == "Cookie: known=1")
        #expect(try home.crumb("import", path).text.contains("imported before"))
    }

    @Test(
        "Within a capture a deletion counts for the requests that its path matches",
        arguments: [("/admin", true), ("/", false), ("/app", false), ("/app/", false), ("/ap", true)])
    func deletionPath(path: String, isTaken: Bool) throws {
        for attribute in ["", "; Domain=example.com"] {
            let home = CrumbHome()
            let deletion = "sid=; Path=\(path); Max-Age=0\(attribute)"
            let entries = [
                Self.entry("https://www.example.com/app/x", cookie: "sid=1; other=2", age: 2000),
                Self.entry(cookie: nil, set: [deletion], age: 1000),
            ]
            let file = try home.write(Capture.har(entries), to: "page.har")
            #expect(try home.crumb("import", "--request-cookies", file).status == 0)
            #expect(try home.header() == (isTaken ? "Cookie: sid=1; other=2" : "Cookie: other=2"))
        }
    }

    @Test("A request with a time in the future is not newer than the next one")
    func futureTime() throws {
        let entries = [Self.entry(cookie: "sid=old", age: -600), Self.entry(cookie: "sid=new", age: 10)]
        let path = try home.write(Capture.har([Self.entry(cookie: "a=1", age: 20)] + entries), to: "page.har")
        #expect(try home.crumb("import", "--request-cookies", path).status == 0)
        #expect(try home.header() == "Cookie: a=1; sid=new")
    }

    @Test("A HAR entry of unknown time is named, and changes nothing that is known to be newer")
    func untimed() throws {
        let known = try home.write(
            Capture.har([Self.entry(cookie: nil, set: ["sid=new; Path=/"], age: 50)]), to: "a.har")
        #expect(try home.crumb("import", known).status == 0)
        for line in ["sid=old; Path=/", "sid=; Path=/; Max-Age=0"] {
            let entries = ["x=1; Path=/", "x=2; Path=/", line].map {
                Self.entry(cookie: nil, set: [$0], hasBrokenTime: true)
            }
            let path = try home.write(Capture.har(entries), to: "untimed.har")
            for options in [["--dry-run"], ["--again"]] {
                let result = try home.start(["import"] + options + [path]).wait()
                #expect(result.status == 0 && result.text.contains("(time-unknown)"), "\(result.text)")
                #expect(result.messages.contains("note: \(path): entry 1: its startedDateTime cannot be read."))
            }
            #expect(try home.header() == "Cookie: sid=new; x=2")
        }
        // The entry before it is newer than what the jar has.
        let entries = [
            Self.entry(cookie: "b=1", age: 10),
            Self.entry(cookie: nil, set: ["sid=newer; Path=/"], hasBrokenTime: true),
        ]
        let later = try home.write(Capture.har(entries), to: "later.har")
        #expect(try home.crumb("import", later).text.contains("1 replaced"))
        let many = (0..<12).map { Self.entry(cookie: nil, set: ["m\($0)=1"], hasBrokenTime: true) }
        let result = try home.crumb("import", try home.write(Capture.har(many), to: "many.har"))
        #expect(
            result.messages.split(separator: "\n").count == 11 && result.messages.contains("2 more notes"),
            "\(result.messages)")
        let now = try home.write(
            Capture.har([Self.entry(cookie: nil, set: ["sid=now; Path=/"], hasBrokenTime: true)]), to: "now.har")
        #expect(try home.crumb("import", "--received-now", now).text.contains("1 replaced"))
    }

    @Test("A cookie that a server sets or deletes afterwards replaces one known from a request")
    func replaced() throws {
        func copy() throws {
            let command = "curl 'https://www.example.com/app/page' -b 'sid=guess; other=2'"
            #expect(try home.crumb("import", "--again", "-", input: command).status == 0)
        }
        try copy()
        try home.receive("sid=3; Path=/; Domain=example.com")
        #expect(try home.header("https://www.example.com/app/page") == "Cookie: other=2; sid=3")
        try home.receive("sid=; Path=/; Domain=example.com; Max-Age=0")
        #expect(try home.header("https://www.example.com/app/page") == "Cookie: other=2")
        try copy()
        try home.receive("sid=; Path=/app; Max-Age=0")
        #expect(try home.header("https://www.example.com/app/page") == "Cookie: other=2")
        let explanation = try home.crumb("explain", "https://www.example.com/").text
        #expect(explanation.contains("gone: 2 deleted") && explanation.contains("by https://www.example.com/"))
    }

    @Test("`explain` marks assumed cookies, and reports two cookies of one name that are sent")
    func explanation() throws {
        let command = "curl 'https://www.example.com/' -b 'sid=1'"
        #expect(try home.crumb("import", "-", input: command).status == 0)
        try home.receive("sid=2; Path=/app", from: "https://www.example.com/app/")
        let text = try home.crumb("explain", "https://www.example.com/app/").text
        let assumption = "name and value come from a request; host-only, path, expiry and flags are assumed"
        #expect(text.contains(assumption), "\(text)")
        #expect(text.components(separatedBy: "2 cookies named sid are sent; most servers read the first").count == 3)
        let report = try home.crumb("explain", "--json", "https://www.example.com/app/").objects()[0]
        let included = report["included"] as? [[String: Any]]
        let origins = included?.map { ($0["origin"] as? [String: Any])?["kind"] as? String }
        #expect(origins == [nil, "request"])
        #expect(!(try home.crumb("explain", "https://www.example.com/").text.contains("most servers")))
    }

    @Test(
        "The report counts the cookies found",
        arguments: [
            (
                "curl 'https://www.example.com/' -b 'sid=1; b=2; sid=3'", 0,
                "3 request cookies in 1 request: 2 taken, 0 already set, 1 of a name that its request sent before"
            ),
            ("curl 'https://www.example.com/'", 9, "The command carries no cookies."),
            ("Cookie:\n", 9, "The request carries no cookies."),
            ("curl 'https://www.exa mple.com:x/' -b 'sid=1'", 19, "entry 1"),
            ("curl 'https://www.example.com/' \\\n  -b 'sid=1", 13, "entry 1, line 2, column 6"),
            ("curl 'https://www.example.com/' -b \"sid=1", 13, "entry 1, line 1, column 36"),
            ("curl 'https://www.example.com/' -b $'sid=1", 13, "entry 1, line 1, column 37"),
            ("curl ^\"https://www.example.com/^\" ^\r\n  -b ^\"sid=1", 13, "entry 1, line 2, column 7"),
        ])
    func report(input: String, status: Int32, expected: String) throws {
        let result = try home.crumb("import", "--url", "https://www.example.com/", "-", input: input)
        let text = result.text + result.messages
        #expect(result.status == status && text.contains(expected), "\(text)")
        #expect(!result.text.contains("0 Set-Cookie lines"))
    }

    @Test("`convert` writes the cookies of requests, too")
    func convert() throws {
        let converted = try home.crumb(
            "convert", "--to", "json", "-", input: "curl 'https://www.example.com/' -b 'sid=1'")
        #expect(converted.status == 0 && converted.text.contains("\"sid\""), "\(converted.messages)")
    }
}
