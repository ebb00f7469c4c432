import Foundation
import TestSupport
import Testing

@Suite("crumb import")
struct ImportCommandTests {
    private let home = CrumbHome()
    private let har = Capture.har([
        Capture.entry("https://www.example.com/", ["a=1; Path=/", "b=2; Path=/; Domain=other.example", "bad\u{1}=3"]),
        Capture.entry(
            "https://www.example.com/", ["a=; Path=/; Max-Age=0", "c=3; Path=/", "c=4; Path=/"], status: 404),
    ])

    @Test("The report accounts for every line, with the reason of each refusal")
    func report() throws {
        let path = try home.write(har, to: "capture.har")
        let result = try home.crumb("import", path)
        #expect(result.status == 0 && result.messages.isEmpty)
        let lines = result.text.split(separator: "\n").map(String.init)
        #expect(lines.count == 3)
        #expect(lines[0] == "\(path): 6 Set-Cookie lines in 2 responses: 2 taken, 1 replaced, 1 deleted, 2 refused")
        #expect(lines[1].hasPrefix("  refused \(path): entry 1") && lines[1].contains("Set-Cookie 2 'b'"))
        #expect(lines[1].hasSuffix("(domain-mismatch)") && lines[2].hasSuffix("(control-character)"))
        #expect(!result.text.contains("\u{1}"))
    }

    @Test("The report in JSON has the same figures")
    func json() throws {
        let path = try home.write(har, to: "capture.har")
        let object = try #require(try home.crumb("import", "--json", path).objects().first)
        #expect(object["source"] as? String == path && object["format"] as? String == "har")
        let figures = ["responses": 2, "lines": 6, "taken": 2, "replaced": 1, "deleted": 1]
        for (name, figure) in figures { #expect(object[name] as? Int == figure, "\(name)") }
        let refused = try #require(object["refused"] as? [[String: Any]])
        #expect(refused.count == 2 && refused[0]["name"] as? String == "b" && refused[0]["line"] as? Int == 2)
        let reasons = refused.compactMap { ($0["reasons"] as? [[String: String]])?.first?["id"] }
        #expect(reasons == ["domain-mismatch", "control-character"])
        #expect((object["failures"] as? [Any])?.isEmpty == true)
    }

    @Test("Importing a capture again changes nothing and reports it, unless --again is used")
    func twice() throws {
        let path = try home.write(har, to: "capture.har")
        #expect(try home.crumb("import", path).text.contains(" 2 taken, "))
        let newer = try home.write(Capture.dump(["c=newer; Path=/"]), to: "newer.txt")
        #expect(try home.crumb("import", "--url", "https://www.example.com/", newer).status == 0)
        let copy = try home.write(har, to: "copy.har")
        for file in [path, copy] {
            let again = try home.crumb("import", file)
            #expect(again.status == 0 && again.text.hasPrefix("\(file): imported before, on "))
            #expect(again.text.contains(" as \(path); nothing was changed"))
        }
        let object = try #require(try home.crumb("import", "--json", path).objects().first)
        #expect((object["alreadyImported"] as? [String: String])?["source"] == path)
        #expect(try home.header() == "Cookie: c=newer")
        #expect(try home.crumb("import", "--jar", "other", path).text.contains(" 2 taken, "))
        #expect(try home.crumb("import", "--received-now", path).text.contains(" 1 taken, 2 replaced, "))
        #expect(try home.header() == "Cookie: c=4")
        #expect(try home.crumb("import", "--again", path).text.contains(" replaced, "))
    }

    @Test("A pipe is recognized like a file, whatever its name")
    func pipes() throws {
        let path = try home.write(har, to: "capture.har")
        #expect(try home.shell("cat \(path) | crumb import -").text.contains(" 2 taken, "))
        for command in ["cat \(path) | crumb import -", "crumb import - < \(path)", "crumb import \(path)"] {
            let again = try home.shell(command)
            #expect(again.status == 0 && again.text.contains("imported before, on "), "\(command)")
        }
        let fifo = "rm -f pipe; mkfifo pipe; cat \(path) > pipe & crumb import"
        #expect(try home.shell("\(fifo) pipe").text.contains("imported before, on "))
        #expect(try home.shell("\(fifo) --again pipe").text.contains(" replaced, "))
    }

    @Test("A pipe longer than the kept part of it is imported completely")
    func longPipe() throws {
        let start = try home.write(String(har.dropLast(4)), to: "start")
        let end = try home.write(String(har.suffix(4)), to: "end")
        let pipe = "{ cat \(start); head -c 34000000 /dev/zero | tr '\\0' ' '; cat \(end); } | crumb import -"
        #expect(try home.shell(pipe).text.contains(" 2 taken, "))
        // Too long to be looked at before.
        #expect(try home.shell(pipe).text.contains(" replaced, "))
        #expect(try home.header() == "Cookie: c=4")
    }

    @Test("A capture that could not be read to its end is read again")
    func brokenTwice() throws {
        let path = try home.write(String(har.dropLast(4)), to: "broken.har")
        for _ in 0..<2 {
            let result = try home.crumb("import", path)
            #expect(result.status != 0 && !result.text.contains("imported before"))
        }
    }

    @Test("Cookies that have to make room are told one by one")
    func evicted() throws {
        let lines = (0..<182).map { "c\($0)=1; Path=/" }
        let path = try home.write(Capture.har([Capture.entry("https://www.example.com/", lines)]), to: "capture.har")
        let text = try home.crumb("import", path).text.split(separator: "\n")
        #expect(text.first?.hasSuffix("182 taken, 0 replaced, 0 deleted, 0 refused, 2 evicted") == true)
        #expect(text.count == 4 && text[1].hasPrefix("  evicted 'c0' of www.example.com/: "))
        #expect(text.last?.contains("--limit domain-cookies=NUMBER") == true)
        #expect(text[2].hasSuffix("(domain-limit)"))
        let other = try home.write(
            Capture.har([Capture.entry("https://example.com/", ["new=1; Path=/"])]), to: "other.har")
        let object = try #require(try home.crumb("import", "--json", other).objects().first)
        let evicted = try #require(object["evicted"] as? [[String: Any]])
        #expect(evicted.count == 1 && evicted[0]["name"] as? String == "c2")
        #expect((evicted[0]["reason"] as? [String: String])?["id"] == "domain-limit")
    }

    @Test("Standard input is a file like any other, and can be named between them")
    func standardInput() throws {
        let result = try home.crumb("import", "-", input: har)
        #expect(result.text.hasPrefix("standard input: 6 Set-Cookie lines"))
        #expect(try home.header() == "Cookie: c=4")
        let path = try home.write(Capture.dump(["d=5; Path=/"]), to: "dump")
        let both = try home.crumb("import", "--url", "https://www.example.com/", path, "-", input: har)
        #expect(both.status == 0)
        #expect(both.text.split(separator: "\n").filter { $0.contains(" taken, ") }.count == 2)
        #expect(try home.header() == "Cookie: c=4; d=5")
    }

    @Test("Several files are several transactions; the first failure decides the exit status, the others are told")
    func severalFiles() throws {
        let good = try home.write(har, to: "good")
        let empty = try home.write("", to: "empty")
        let binary = try home.write([0, 1, 2, 3, 0xFF], to: "binary")
        let result = try home.crumb("import", empty, good, home.file("missing"), binary)
        #expect(result.status == 10)
        #expect(result.text.contains("\(good): 6 Set-Cookie lines"))
        let messages = result.messages.split(separator: "\n")
        #expect(messages.count == 3)
        #expect(messages[0].contains(empty) && messages[1].contains("missing") && messages[2].contains(binary))
        #expect(try home.header() == "Cookie: c=4")
    }

    @Test("Every hop of a dump counts, each for its own URL")
    func hops() throws {
        let dump =
            "HTTP/1.1 302 Found\r\nSet-Cookie: first=1; Path=/\r\nLocation: https://other.example/x/y\r\n\r\n"
            + Capture.dump(["second=2"])
        let path = try home.write(dump, to: "dump")
        #expect(try home.crumb("import", "--url", "https://www.example.com/login", path).status == 0)
        #expect(try home.header("https://www.example.com/") == "Cookie: first=1")
        #expect(try home.header("https://other.example/x/") == "Cookie: second=2")
    }

    @Test(
        "Every status but the informational ones sets cookies",
        arguments: [(200, true), (302, true), (401, true), (503, true), (103, false)])
    func statuses(status: Int, counts: Bool) throws {
        let path = try home.write(
            Capture.har([Capture.entry("https://www.example.com/", ["s=1"], status: status)]), to: "har")
        #expect(try home.crumb("import", path).status == (counts ? 0 : 9))
        #expect(try home.header() == (counts ? "Cookie: s=1" : ""))
    }

    @Test("Lifetimes count from when the capture was made, or from now where that is asked for")
    func lifetimes() throws {
        let entry = Capture.entry("https://www.example.com/", ["old=1; Max-Age=60", "session=2"])
        let dated = entry.replacing(#"{"request""#, with: #"{"startedDateTime": "2020-01-01T00:00:00Z", "request""#)
        let path = try home.write(Capture.har([dated]), to: "har")
        #expect(try home.crumb("import", path).text.contains("1 taken, 0 replaced, 0 deleted, 1 expired"))
        #expect(try home.header() == "Cookie: session=2")
        #expect(try home.crumb("import", "--received-now", path).text.contains("1 taken, 1 replaced, 0 deleted"))
        #expect(try home.header() == "Cookie: session=2; old=1")
    }

    @Test("Octets that are no text go in and come out as they were")
    func octets() throws {
        let line = Array("Set-Cookie: l=".utf8) + [0xE9, 0xFF, 0x80] + Array("\r\n\r\n".utf8)
        let path = try home.write(Array("HTTP/1.1 200 OK\r\n".utf8) + line, to: "dump")
        #expect(try home.crumb("import", "--url", "https://www.example.com/", path).status == 0)
        let header = try home.crumb("header", "https://www.example.com/")
        #expect(header.output == Array("Cookie: l=".utf8) + [0xE9, 0xFF, 0x80, 0x0A])
        let object = try #require(try home.crumb("header", "--json", "https://www.example.com/").objects().first)
        #expect(object["cookie"] is NSNull || object["cookie"] == nil)
        #expect(object["cookieBase64"] as? String == Data(header.output.dropFirst(8).dropLast()).base64EncodedString())
    }

    @Test("A cookie file's line that would go back as another cookie, or as two, is refused")
    func smuggled() throws {
        let pairs = [("n", "a; evil=1"), ("x;y", "v"), ("p=q", "v"), ("s", " v "), ("good", "1")]
        let lines = pairs.map { "www.example.com\tFALSE\t/\tFALSE\t0\t\($0.0)\t\($0.1)\n" }
        let path = try home.write("# Netscape HTTP Cookie File\n" + lines.joined(), to: "cookies.txt")
        let result = try home.crumb("import", path)
        #expect(result.status == 0 && result.text.contains("5 cookies: 1 taken, 0 replaced, 0 deleted, 4 refused"))
        #expect(try home.header() == "Cookie: good=1")
    }

    @Test("Escape sequences in a file's name are shown in reports for people, and kept in JSON")
    func escapes() throws {
        let home = CrumbHome()
        let name = "a\u{1B}]0;title\u{7}\u{1B}[31m.txt"
        try home.write("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n\r\n", to: name)
        let words = ["import", "--url", "https://www.example.com/", home.file(name)]
        let report = try home.start(words).wait()
        #expect(report.status == 0 && report.text.contains(#"a\x1B]0;title\x07\x1B[31m.txt"#), "\(report.text)")
        #expect(!report.output.contains(0x1B) && !report.messages.utf8.contains(0x1B))
        let json = try home.start(words + ["--json", "--again"]).wait()
        #expect(try (json.objects().first?["source"] as? String)?.hasSuffix(name) == true, "\(json.text)")
    }
}
