import CookieModel
import Testing

@testable import Captures

@Suite("Netscape cookie files")
struct NetscapeReaderTests {
    func capture(_ lines: String) -> Capture {
        Capture("# Netscape HTTP Cookie File\n" + lines.replacing("|", with: "\t"))
    }

    @Test("A line of seven columns is a cookie")
    func cookie() {
        let expected = CookieRecord(
            name: "sid", value: "a=b==", domain: "a.test", isHostOnly: true, path: "/sub", isSecure: true,
            isHTTPOnly: true, expiry: Timestamp(seconds: 1_795_316_181))
        let line = "#HttpOnly_a.test|FALSE|/sub|TRUE|1795316181|sid|a=b=="
        for lineEnd in ["", "\n", "\r\n"] {
            guard case .cookie(var record, let place)? = capture(line + lineEnd).items.first else {
                Issue.record("no cookie")
                continue
            }
            #expect(record.unstated.isSuperset(of: [.sameSite, .partition]))
            record.unstated = []
            #expect(record == expected && place == CapturePlace(source: "x", line: 2))
        }
    }

    @Test("Comments and empty lines are nothing, and lines are counted")
    func nothing() {
        let capture = capture("\n# x|y\n \t \r\n\r\n#HttpOnly is no marker|x\na.test|FALSE|/|FALSE|0|n|v\n#\n\n")
        #expect(capture.items.map(\.place) == [CapturePlace(source: "x", line: 7)])
        #expect(Capture("\u{FEFF}\n\na.test\tFALSE\t/\tFALSE\t0\tn\tv").items.map(\.place.line) == [3])
    }

    @Test("Lines that end with carriage returns alone are not taken for a comment")
    func carriageReturns() {
        let file = "# Netscape HTTP Cookie File\ra.test\tFALSE\t/\tFALSE\t0\tn\tv\r"
        #expect(Capture(file).summary == ["line-malformed at x: line 1"])
        #expect(Capture(file.replacing("\r", with: "\r\n")).summary == ["cookie n=v"])
    }

    @Test(
        "Only the second column decides who gets the cookie, except for IP addresses",
        arguments: [
            ("a.test|FALSE", "a.test", true), ("a.test|TRUE", "a.test", false), (".a.test|TRUE", "a.test", false),
            (".a.test|FALSE", "a.test", true), ("a.test|true", "a.test", false), ("a.test|False", "a.test", true),
            ("a.test:8843|FALSE", "a.test", true), ("a.test:8843|TRUE", "a.test", false),
            ("a.test:|TRUE", "a.test:", true),
            ("127.0.0.1|TRUE", "127.0.0.1", true), (".127.0.0.1|TRUE", "127.0.0.1", true),
            ("127.0.0.1:80|TRUE", "127.0.0.1", true), ("[::1]|TRUE", "[::1]", true), ("[::1]:80|TRUE", "[::1]", true),
            ("::1|TRUE", "[::1]", true), ("a1|TRUE", "a1", false), ("bücher.test|TRUE", "bücher.test", false),
        ])
    func domain(columns: String, domain: String, isHostOnly: Bool) {
        let cookies = capture(columns + "|/|FALSE|0|n|v\n").cookies
        #expect(cookies.map(\.domain) == [domain])
        #expect(cookies.map(\.isHostOnly) == [isHostOnly])
    }

    @Test("A second column that contradicts the dot before the domain is noted once, with the first line")
    func contradiction() throws {
        let agreeing = ".a.test|TRUE|/|FALSE|0|n|v\na.test|FALSE|/|FALSE|0|n|v\n127.0.0.1|TRUE|/|FALSE|0|n|v\n"
        #expect(capture(agreeing).failures.isEmpty)
        let capture = capture(agreeing + "a.test|TRUE|/|FALSE|0|n|v\n.a.test|FALSE|/|FALSE|0|n|v\n")
        let note = try #require(capture.failures.first)
        #expect(capture.failures.count == 1 && capture.cookies.count == 5)
        #expect(note.code == .subdomainsContradicted && note.severity == .notice && note.place.line == 5)
        #expect(note.message.contains("1 more line"))
    }

    @Test(
        "The fifth column is seconds since 1970",
        arguments: [
            ("0", nil), ("", nil), ("-1", nil), ("0.0", nil), ("-0", nil), ("-1.0", nil), ("1", 1_000_000),
            ("007", 7_000_000),
            ("1795316181.5", 1_795_316_181_500_000), ("1795316181.123456789", 1_795_316_181_123_456), ("5.", 5_000_000),
            ("-86400", -86_400_000_000), ("-1.5", -1_500_000), (" 5 ", 5_000_000), ("9223372036854775807", .max),
            ("99999999999999999999", .max), ("-99999999999999999999", .min), ("253402300799", 253_402_300_799_000_000),
        ] as [(String, Int64?)])
    func expiry(column: String, microseconds: Int64?) {
        let cookies = capture("a.test|FALSE|/|FALSE|\(column)|n|v\n").cookies
        #expect(cookies.map(\.expiry) == [microseconds.map(Timestamp.init(microseconds:))])
    }

    @Test(
        "Columns may be missing where curl allows it, and libsoup's eighth column is read",
        arguments: [
            ("a.test|FALSE|/|FALSE|0|n", "n", "", "/", SameSite.default),
            ("a.test|FALSE|/|FALSE|0|n|", "n", "", "/", .default),
            ("a.test|FALSE|/|FALSE|0||v", "", "v", "/", .default),
            ("a.test|FALSE||FALSE|0|n|v", "n", "v", "/", .default),
            ("a.test|FALSE|FALSE|0|n|v", "n", "v", "/", .default), ("a.test|FALSE|TRUE|0|n", "n", "", "/", .default),
            ("a.test|FALSE|/|FALSE|0|n|v|Strict", "n", "v", "/", .strict),
            ("a.test|FALSE|/|FALSE|0|n|v|Lax", "n", "v", "/", .lax),
            ("a.test|FALSE|/|FALSE|0|n|v|None", "n", "v", "/", .default),
            ("a.test|FALSE|/|FALSE|0| n | v ", " n ", " v ", "/", .default),
            (#"a.test|FALSE|/x y|FALSE|0|n|"a b,c""#, "n", #""a b,c""#, "/x y", .default),
        ])
    func columns(line: String, name: String, value: String, path: String, sameSite: SameSite) {
        let cookies = capture(line + "\n").cookies
        #expect(cookies.map(\.name) == [Octets(name)])
        #expect(cookies.map(\.value) == [Octets(value)])
        #expect(cookies.map(\.path) == [Octets(path)])
        #expect(cookies.map(\.sameSite) == [sameSite])
    }

    @Test("An eighth column counts only as SameSite, if the heading names 8 columns")
    func furtherColumn() {
        let heading = "# domain|subdomains|path|secure|expires|name|value|size\n"
        let lines = "a.test|FALSE|/|FALSE|0|n|v|2\na.test|FALSE|/|FALSE|0|m|v|Lax\n"
        let cookies = capture(heading + lines).cookies
        #expect(cookies.map(\.value) == ["v", "v"])
        #expect(cookies.map(\.sameSite) == [.default, .lax])
        #expect(capture(lines).summary == ["line-malformed at x: line 2", "cookie m=v"])
        #expect(capture(heading + "a.test|FALSE|/|FALSE|0|n|v|2|x\n").summary == ["line-malformed at x: line 3"])
    }

    @Test(
        "A line that is not a cookie is a failure with a reason, and costs that line only",
        arguments: [
            ("a.test FALSE / FALSE 0 n v", "spaces"), ("a.test", "1 column,"), ("a.test|FALSE|/|FALSE|0", "5 columns"),
            ("a.test|FALSE|/|FALSE|0|n|v|x", "tab"), ("a.test|FALSE|/|FALSE|0|n|v|x|y|z", "tab"),
            ("a.test|FALSE|/|FALSE|0|n|v|Lax|y", "tab"), ("|FALSE|/|FALSE|0|n|v", "domain"),
            (".|TRUE|/|FALSE|0|n|v", "domain"),
            ("#HttpOnly_|FALSE|/|FALSE|0|n|v", "domain"), ("a.test|yes|/|FALSE|0|n|v", "second"),
            ("a.test|FALSE|x|FALSE|0|n|v", "third"), ("a.test|FALSE|/|1|0|n|v", "fourth"),
            ("a.test|FALSE|/|FALSE|soon|n|v", "fifth"), ("a.test|FALSE|/|FALSE|1e9|n|v", "fifth"),
            ("a.test|FALSE|/|FALSE|-|n|v", "fifth"), ("a.test|FALSE|/|FALSE|.5|n|v", "fifth"),
            ("a.test|FALSE|/|FALSE|1.5.5|n|v", "fifth"), ("a.test|FALSE|/|FALSE|+5|n|v", "fifth"),
        ])
    func malformed(line: String, word: String) {
        let capture = capture("\(line)\nb.test|FALSE|/|FALSE|0|n|v\n")
        #expect(capture.summary == ["line-malformed at x: line 2", "cookie n=v"])
        #expect(capture.failures.allSatisfy { $0.message.contains(word) })
    }

    @Test("Names, values and paths are octets; a domain is text")
    func octets() {
        let line: [UInt8] =
            Array("a.test\tFALSE\t/".utf8) + [0xE9] + Array("\tFALSE\t0\t".utf8) + [0xFF, 0x01, 9, 0, 0xC3]
        let cookies = Capture(bytes: line).cookies
        #expect(cookies.map(\.path) == [[0x2F, 0xE9]])
        #expect(cookies.map(\.name) == [[0xFF, 0x01]])
        #expect(cookies.map(\.value) == [[0, 0xC3]])
        let domain: [UInt8] = [0xE9] + Array("\tFALSE\t/\tFALSE\t0\tn\tv".utf8)
        #expect(Capture(bytes: domain).summary == ["line-malformed at x: line 1"])
    }

    @Test("A line above the limit is left out and reported, with or without a line end")
    func tooLong() {
        let start = "a.test|FALSE|/|FALSE|0|n|"
        let value = String(repeating: "v", count: CaptureLimits.fieldByteCount - start.utf8.count)
        #expect(capture(start + value + "\n").cookies.count == 1)
        let long = start + value + "v"
        #expect(capture(long + "\n" + start + "v").summary == ["line-too-long at x: line 2", "cookie n=v"])
        #expect(capture(start + "v\n" + long).summary == ["cookie n=v", "line-too-long at x: line 3"])
    }
}
