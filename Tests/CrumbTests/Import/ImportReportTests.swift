import Foundation
import TestSupport
import Testing

@Suite("Reports of an import")
struct ImportReportTests {
    private let home = CrumbHome()

    @Test("Ten errors are printed and the others counted, in text and in JSON", arguments: ["import", "convert"])
    func manyErrors(command: String) throws {
        let lines = (0..<500).map { "www.example.com\tMAYBE\t/\tFALSE\t0\tn\($0)\tv\n" }
        let good = "www.example.com\tFALSE\t/\tFALSE\t0\tgood\t1\n"
        let path = try home.write("# Netscape HTTP Cookie File\n" + lines.joined() + good, to: "cookies.txt")
        let options = command == "convert" ? ["--to", "json", "--output", home.file("out")] : []
        func run(_ more: String...) throws -> RunResult {
            try home.start([command] + options + more + [path]).wait()
        }
        let text = try run()
        let errors = text.messages.split(separator: "\n").filter { $0.hasPrefix("crumb: ") }
        #expect(text.status == 13 && errors.count == 11, "\(text.messages)")
        #expect(errors.last == "crumb: \(path): 490 more errors")
        try? FileManager.default.removeItem(atPath: home.file("out"))
        let report = try #require(try run("--json").objects().first)
        #expect((report["failures"] as? [Any])?.count == 10 && report["unreadable"] as? Int == 500)
        #expect((report["omitted"] as? [String: Int])?["failures"] == 490)
    }

    @Test("A Set-Cookie line that was joined of several is one cookie, and a note names it")
    func joinedLines() throws {
        let line = "sid=1; Path=/a; HttpOnly, theme=2; Path=/; Secure"
        let path = try home.write(Capture.har([Capture.entry("https://www.example.com/a", [line])]), to: "capture.har")
        let note = "Set-Cookie 1: The line looks like 2 Set-Cookie lines"
        for command in [["import"], ["convert", "--to", "json", "--output", home.file("out")]] {
            let result = try home.start(command + [path]).wait()
            #expect(result.status == 0 && result.messages.contains("note: \(path): entry 1, \(note)"), "\(result)")
        }
        let lines = try home.write(line, to: "lines")
        let explained = try home.crumb("explain", "https://www.example.com/a", "--set-cookie", lines)
        #expect(explained.messages.contains("note: \(note)"), "\(explained)")
    }

    @Test("Ten refusals are printed and the others counted")
    func manyRefusals() throws {
        let lines = (0..<100).map { "n\($0)=1; Domain=other.example" } + ["good=1"]
        let entry = Capture.entry("https://www.example.com/", lines)
        let path = try home.write(Capture.har([entry]), to: "capture.har")
        let text = try home.crumb("import", path).text.split(separator: "\n")
        #expect(text.count == 12 && text[0].hasSuffix("1 taken, 0 replaced, 0 deleted, 100 refused"))
        #expect(text.last == "  refused 90 more")
        let set = try home.crumb("set", "https://www.example.com/", input: lines.joined(separator: "\n"))
        let errors = set.messages.split(separator: "\n").filter { $0.contains(" is refused: ") }
        #expect(set.status == 5 && errors.count == 10 && set.messages.contains("crumb: 90 more errors"))
    }

    @Test("An array that is not a list of cookies is one error")
    func notCookieList() throws {
        let messages = (0..<384).map { #"{"message": "{}", "level": "INFO", "timestamp": \#($0)}"# }
        let path = try home.write("[\(messages.joined(separator: ","))]", to: "log.json")
        let result = try home.crumb("import", "--format", "webdriver", path)
        #expect(result.status == 11 && result.text.isEmpty)
        #expect(
            result.messages == "crumb: \(path): Not a cookie list: entry 1 has no name. 383 more entries like it.\n")
    }

    @Test("Entries before the first cookie of a list are one error, and the cookies are stored")
    func partlyCookieList() throws {
        let cookie = #"{"name": "a", "value": "1", "domain": "www.example.com", "expiry": 4000000000}"#
        let path = try home.write(#"[{"name": "x"}, 7, \#(cookie), {"value": "y"}]"#, to: "list.json")
        let result = try home.crumb("import", path)
        #expect(result.status == 13 && result.text.contains("1 taken"))
        let messages = result.messages.split(separator: "\n")
        #expect(messages.count == 3 && messages[0].contains("entry 1") && messages[0].hasSuffix("It has no value."))
        #expect(messages[1].hasSuffix("One more entry like it.") && messages[2].hasSuffix("It has no name."))
        #expect(try home.header() == "Cookie: a=1")
    }

    @Test("A capture without cookies says why nothing was imported, with a status of its own")
    func nothing() throws {
        let har = try home.write(Capture.har([Capture.entry("https://www.example.com/", [])]), to: "capture.har")
        let result = try home.crumb("import", har)
        #expect(result.status == 9 && result.text.isEmpty)
        #expect(result.messages == "crumb: \(har): No response sets a cookie.\n")
        let report = try #require(try home.crumb("import", "--json", har).objects().first)
        #expect((report["nothingImported"] as? [String: String])?["code"] == "no-set-cookie")
        let list = try home.write("[]", to: "list.json")
        #expect(try home.crumb("import", list).messages == "crumb: \(list): It contains no cookie.\n")
        #expect(try home.crumb("convert", "--to", "netscape", har).status == 9)
        // One capture with cookies is enough.
        let good = try home.write(Capture.har([Capture.entry("https://www.example.com/", ["a=1"])]), to: "good.har")
        #expect(try home.crumb("import", har, good).status == 0)
    }

    @Test("A capture recorded after the login, or sanitized by the browser, is reported with the remedy")
    func recordedTooLate() throws {
        let entry = Capture.entry("https://www.example.com/", [])
            .replacing(#""url""#, with: #""headers": [{"name": "Cookie", "value": "a=1; b=2"}], "url""#)
        let har = try home.write(Capture.har([entry, entry]), to: "late.har")
        let late = try home.crumb("import", har)
        #expect(late.status == 9)
        #expect(
            late.messages == "crumb: \(har): No response sets a cookie. The requests carry 4: use `--request-cookies`, "
                + "or record the login too.\n")
        let report = try #require(try home.crumb("import", "--json", har).objects().first)
        #expect(report["carriedCookies"] as? Int == 4)
        let clean = Capture.har([Capture.entry("https://www.example.com/", [])])
            .replacing(#""version""#, with: #""creator": {"name": "WebInspector", "version": "537.36"}, "version""#)
        let sanitized = try home.crumb("import", try home.write(clean, to: "clean.har"))
        #expect(sanitized.status == 9 && sanitized.messages.contains("Export HAR (with sensitive data)"))
        #expect(sanitized.messages.split(separator: "\n").count == 1)
    }

    @Test("Expired cookies are named, with the way to take them all the same")
    func expired() throws {
        let lines = ["sec", "lax", "a", "b"].map { "\($0)=1; Max-Age=60" }
        let entry = Capture.entry("https://www.example.com/", lines)
            .replacing(#"{"request""#, with: #"{"startedDateTime": "2020-01-01T00:00:00Z", "request""#)
        let path = try home.write(Capture.har([entry]), to: "har")
        let result = try home.crumb("import", path)
        #expect(result.status == 9 && result.text.contains("0 taken, 0 replaced, 0 deleted, 4 expired, 0 refused"))
        #expect(
            result.text.contains("  4 had expired (sec, lax, a, …); `--received-now` counts lifetimes from now.\n"))
        #expect(result.messages.contains("every cookie had expired"))
        #expect(try home.crumb("import", "--received-now", path).status == 0)
        #expect(try home.header().hasPrefix("Cookie: sec=1; lax=1"))
    }

    @Test("An unrecognized capture is reported with the list of formats, unless it is binary")
    func unrecognized() throws {
        let result = try home.crumb("import", "-", input: "hello\n")
        #expect(result.status == 11)
        #expect(
            result.messages.hasPrefix(
                "crumb: standard input: Format not recognized. Use `--format NAME` for recordings: har, http, "))
        #expect(result.messages.contains("; cookie files: netscape, "))
        let binary = try home.crumb("import", "-", input: "\u{1}\u{0}\u{2}")
        #expect(binary.messages == "crumb: standard input: Format not recognized: the input is binary.\n")
        let bare = try home.crumb("import")
        #expect(bare.messages.contains("Name a capture file, '-' for standard input, or use `--browser firefox`."))
    }

    @Test("Deletions without a matching cookie import nothing, and are reported")
    func onlyDeletions() throws {
        let home = CrumbHome()
        let path = try home.write(Capture.dump(["sid=; Path=/; Max-Age=0"]), to: "logout.txt")
        let url = "https://www.example.com/"
        for jar in ["new", "default"] {
            if jar == "default" { try home.receive("other=1; Path=/") }
            let result = try home.crumb("import", "--jar", jar, "--url", url, path)
            #expect(
                result.status == 9 && result.messages.contains("it only deletes cookies, and the jar has none of them"))
        }
        #expect(try home.crumb("list", "--jar", "new").status == 34)
        try home.receive("sid=1; Path=/")
        let result = try home.crumb("import", "--again", "--url", url, path)
        #expect(result.status == 0 && result.text.contains("1 deleted"), "\(result.messages)")
    }

    @Test("An HttpOnly cookie, which an exported cookie file has twice, counts once")
    func netscapeTwice() throws {
        let home = CrumbHome()
        try home.receive("sid=1; Path=/; HttpOnly; Max-Age=1000", "b=2; Path=/; Max-Age=1000")
        let path = try home.write(try home.crumb("export", "--format", "netscape").output, to: "cookies.txt")
        let result = try home.crumb("import", "--jar", "copy", path)
        #expect(result.text.contains("2 cookies: 2 taken, 0 replaced"), "\(result.text)")
        #expect(
            try home.crumb("list", "--jar", "copy", "--json").objects().map { $0["httpOnly"] as? Bool } == [
                true, false,
            ])
        let again = try home.crumb("import", path)
        #expect(again.text.contains("2 cookies: 0 taken, 2 replaced"), "\(again.text)")
        #expect(!again.text.contains("HttpOnly of"))
    }

    @Test("A HAR whose headers lack cookies in its lists is reported with the way to save it")
    func headersSanitized() throws {
        let home = CrumbHome()
        let entry = """
            {"request":{"method":"GET","url":"https://www.example.com/","headers":[]},
            "response":{"status":200,"cookies":[{"name":"sid","value":"1"},{"name":"b","value":"2"}],"headers":[]}}
            """
        let path = try home.write(Capture.har([entry]), to: "page.har")
        let result = try home.crumb("import", path)
        #expect(
            result.status == 9 && result.messages.contains("2 cookies are only in the `cookies` of responses"),
            "\(result.messages)")
        #expect(result.messages.contains("Export HAR (with sensitive data)"))
    }
}
