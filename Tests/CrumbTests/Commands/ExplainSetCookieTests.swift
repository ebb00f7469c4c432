import Foundation
import TestSupport
import Testing

@Suite("crumb explain --set-cookie")
struct ExplainSetCookieTests {
    private let home = CrumbHome()
    private static let url = "https://www.example.com/app/login"

    /// What becomes of lines, as JSON; nothing else may have changed.
    private func lines(_ input: String, _ words: [String] = [url]) throws -> [[String: Any]] {
        let before = try home.crumb("list", "--json", "--values").text
        let file = try home.write(input, to: "lines")
        let result = try home.start(["explain", "--json", "--set-cookie", "-"] + words, input: file).wait()
        #expect(result.status == 0 && !result.text.contains("secret"), "\(result.messages)")
        #expect(try home.crumb("list", "--json", "--values").text == before)
        return try #require(try result.objects().first?["lines"] as? [[String: Any]])
    }

    private func identifiers(_ reasons: Any?) -> [String] {
        (reasons as? [[String: String]] ?? []).compactMap { $0["id"] }
    }

    /// A line, and what becomes of it in a jar that has a cookie `sid` already.
    struct Row: Sendable, CustomTestStringConvertible {
        let line: String
        let outcome: String
        let reasons: [String]
        let notSent: [String]
        var words = [url]

        init(
            _ line: String, _ outcome: String, _ reasons: String..., notSent: [String] = [], words: [String] = [url]
        ) {
            (self.line, self.outcome, self.reasons, self.notSent) = (line, outcome, reasons, notSent)
            self.words = words
        }

        var testDescription: String { "\(line) \(words)" }
    }

    private static let rows = [
        Row("a=secret", "stored"),
        Row("sid=secret; Path=/; Secure; HttpOnly", "replaced"),
        Row("sid=secret; Path=/; Max-Age=0", "deleted"),
        Row("sid=secret; Max-Age=0", "deleted"),
        Row("a=secret; Path=/other", "stored", notSent: ["path-mismatch"]),
        Row("a=secret; Domain=other.test; SameSite=None", "rejected", "domain-mismatch", "same-site-none-insecure"),
        Row("__Host-a=secret; Path=/", "rejected", "prefix-host"),
        Row("a=secret\u{1}", "rejected", "control-character"),
        Row("sid=secret; Path=/", "rejected", "overwrite-secure", words: ["http://www.example.com/"]),
        Row("sid=secret; Path=/; Secure", "rejected", "overwrite-http-only", words: ["--script", url]),
        Row(
            "a=secret; Path=/", "rejected", "same-site-cross-site",
            words: [url, "--top-level", "https://blog.test/"]),
    ]

    @Test("Prints the outcome that a line would have, with all reasons, and changes nothing", arguments: rows)
    func outcome(row: Row) throws {
        try home.receive("sid=secret; Path=/; Secure; HttpOnly")
        let line = try #require(try lines(row.line + "\n", row.words).first)
        #expect(line["outcome"] as? String == row.outcome)
        #expect(identifiers(line["reasons"]) == row.reasons)
        #expect(identifiers(line["notSent"]) == row.notSent)
    }

    @Test("Each Set-Cookie line sees the result of the lines before it")
    func order() throws {
        let outcomes = try lines("a=1\r\n\r\na=2\na=; Max-Age=0\n").compactMap { $0["outcome"] as? String }
        #expect(outcomes == ["stored", "replaced", "deleted"])
    }

    @Test("Cookies that would have to make room are named")
    func eviction() throws {
        let capture = Capture.har((0..<180).map { Capture.entry(ExplainSetCookieTests.url, ["c\($0)=secret"]) })
        #expect(try home.crumb("import", try home.write(capture, to: "har")).status == 0)
        let evicted = try #require(try lines("new=secret").first?["evicted"] as? [[String: Any]])
        #expect(evicted.compactMap { ($0["reason"] as? [String: String])?["id"] } == ["domain-limit"])
    }

    @Test("Fields of a whole response will do, and only its Set-Cookie fields count")
    func response() throws {
        let names = try lines(
            "HTTP/1.1 200 OK\r\nDate: today=1\r\nSET-COOKIE: a=secret\r\nset-cookie:b=secret\r\n\r\nbody=3\r\n"
        ).map { $0["name"] as? String }
        #expect(names == ["a", "b"])
    }

    @Test("For a person: the verdict, then each line with its remedy")
    func text() throws {
        let file = try home.write("sid=secret; Path=/; Secure\ntracker=secret; Domain=ads.test\n", to: "lines")
        let result = try home.crumb("explain", "--set-cookie", file, ExplainSetCookieTests.url)
        #expect(result.status == 0 && result.messages.isEmpty)
        #expect(
            result.text == """
                2 Set-Cookie lines from https://www.example.com/app/login would be: 1 stored, 1 rejected; jar 'default' \
                is unchanged

                          NAME     DOMAIN           PATH  EXPIRES           FLAGS
                stored    sid      www.example.com  /     with the session  Secure host-only
                rejected  tracker
                          - Domain is neither the responding host nor a parent of it (domain-mismatch)
                            Fix: check the URL of the response; the server must omit Domain, or set its own

                """)
        #expect(!FileManager.default.fileExists(atPath: home.file("crumb.sqlite")), "nothing is made")
    }

    @Test(
        "A line on the command line is not a file, and is not repeated",
        arguments: ["", String(repeating: "x", count: 9000)])
    func argument(filler: String) throws {
        let result = try home.crumb("explain", "--set-cookie", "sid=secret\(filler); Path=/", ExplainSetCookieTests.url)
        #expect(result.status == 17 && result.output.isEmpty)
        #expect(!result.messages.contains("secret") && result.messages.contains("standard input"))
    }

    @Test(
        "Input that holds no line, or too much, or is not there, has an exit status",
        arguments: [("", 10), ("\r\n \n", 10), (String(repeating: "x", count: 1 << 21), 14)] as [(String, Int32)])
    func badInput(input: String, status: Int32) throws {
        let result = try home.crumb("explain", "--set-cookie", "-", ExplainSetCookieTests.url, input: input)
        #expect(result.status == status && result.output.isEmpty)
        #expect(try home.crumb("explain", "--set-cookie", home.path, ExplainSetCookieTests.url).status == 15)
        #expect(
            try home.crumb("explain", "--set-cookie", "-", "--jar", "no", ExplainSetCookieTests.url, input: "a=1")
                .status
                == 34)
    }
}
