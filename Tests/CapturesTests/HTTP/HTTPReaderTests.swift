import CookieModel
import Testing

@testable import Captures

@Suite("Raw HTTP responses")
struct HTTPReaderTests {
    static let url = "https://a.test/dir/page?q#f"

    func capture(_ text: String) -> Capture {
        Capture(text, url: Self.url, format: .http)
    }

    @Test(
        "A status line of any version begins a response",
        arguments: [
            ("HTTP/1.1 200 OK", 200), ("HTTP/1.0 404 Not Found", 404), ("HTTP/1.1 200", 200), ("HTTP/1.1 200 ", 200),
            ("HTTP/2 204 ", 204), ("HTTP/2 503", 503), ("HTTP/3 200", 200), ("HTTP/1.1 999 x", 999),
        ])
    func statusLine(line: String, status: Int) {
        for lineEnd in ["\r\n", "\n"] {
            let responses = capture([line, "set-cookie: a=1", "", ""].joined(separator: lineEnd)).responses
            #expect(responses.map(\.status) == [status])
            #expect(responses.map(\.setCookie) == [["a=1"]])
            #expect(responses.map(\.url) == [Self.url])
            #expect(responses.map(\.urlOrigin) == [.given])
        }
    }

    @Test(
        "An invalid status line is one failure, and nothing after it is read",
        arguments: [
            "HTTP/1.1 OK", "HTTP/1.1  200 OK", "HTTP/ 200 OK", "HTTP/11 200 OK", "HTTP/1. 200 OK", "HTTP/1.1 20 OK",
            "HTTP/1.1 2000 OK", "HTTP/1.1\t200 OK", "http/1.1 200 OK", "Set-Cookie: a=1",
        ])
    func malformedStatusLine(line: String) {
        #expect(
            capture(line + "\r\nSet-Cookie: a=1\r\n\r\n").summary == ["entry-malformed at x: entry 1, line 1"])
    }

    @Test(
        "Field values of an HTTP dump are octets without white space at their ends",
        arguments: [
            ("Set-Cookie: a=1; Path=/", "a=1; Path=/"), ("SET-COOKIE:a=1", "a=1"), ("set-cookie:\t a=1 \t", "a=1"),
            ("Set-Cookie : a=1", "a=1"), ("Set-Cookie:", ""), ("Set-Cookie: a:b=c:d", "a:b=c:d"),
            ("Set-Cookie: a=\u{0}\u{1}\u{7F}\r.", "a=\u{0}\u{1}\u{7F}\r."), ("Set-Cookie: a=é", "a=é"),
            ("Set-Cookie: a=1;\r\n  Path=/;\r\n\tSecure", "a=1; Path=/; Secure"), ("Set-Cookie:\r\n a=1", "a=1"),
        ])
    func value(field: String, value: String) {
        #expect(
            capture("HTTP/1.1 200 OK\r\nX: y\r\n\(field)\r\nY: z\r\n\r\n").responses.map(\.setCookie)
                == [[Octets(value)]])
    }

    @Test(
        "An HTTP dump's line that is not a field is left out, and the rest counts",
        arguments: [
            ("no colon", 2), (": no name", 2), (" folded to nothing", 2), ("\t: folded", 2), ("\u{0}", 2),
        ])
    func malformedLine(line: String, number: Int) {
        #expect(
            capture("HTTP/1.1 200 OK\r\n\(line)\r\nSet-Cookie: a=1\r\n\r\n").summary
                == ["line-malformed at x: entry 1, line \(number)", "200 \(Self.url) [a=1]"])
    }

    @Test(
        "The time of an HTTP dump's response is its Date",
        arguments: [
            ("Date: Sat, 21 Nov 2026 02:56:21 GMT", 1_795_229_781),
            ("date: Saturday, 21-Nov-26 02:56:21 GMT", 1_795_229_781),
            ("Date: Sat Nov 21 02:56:21 2026", 1_795_229_781), ("Date: yesterday", nil), ("Expires: 0", nil),
        ] as [(String, Int64?)])
    func date(field: String, seconds: Int64?) {
        let responses = capture("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n").responses
        #expect(responses.map(\.time) == [seconds.map(Timestamp.init(seconds:))])
        #expect(responses.map(\.method) == [nil])
    }

    @Test("An HTTP dump without a URL is one failure")
    func urlMissing() {
        let text = "HTTP/1.1 302 Found\nLocation: https://b.test/\n\nHTTP/1.1 200 OK\nSet-Cookie: a=1\n\n"
        #expect(Capture(text).summary == ["url-missing at x: entry 1, line 1"])
    }

    @Test(
        "A truncated header block gives its complete lines and a failure",
        arguments: [
            ("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n", ["200 \(url) [a=1]"]),
            ("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2; Sec", ["200 \(url) [a=1]"]),
            ("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n\r", ["200 \(url) [a=1]"]),
            ("HTTP/1.1 200 OK\r\n", ["200 \(url) []"]),
            ("HTTP/1.1 200 OK", []),
            ("HTTP/1", []),
        ])
    func truncation(text: String, responses: [String]) {
        let summary = capture(text).summary
        #expect(summary.first?.hasPrefix("input-truncated at x") == true)
        #expect(Array(summary.dropFirst()) == responses)
    }

    @Test("An HTTP dump's line above the limit is left out and reported, and the rest counts")
    func tooLong() {
        let limit = CaptureLimits.fieldByteCount
        func text(_ name: String, _ length: Int) -> String {
            let line = name + String(repeating: "x", count: length - name.utf8.count)
            return "HTTP/1.1 200 OK\n\(line)\nSet-Cookie: a=1\n\n"
        }
        #expect(capture(text("Set-Cookie: l=", limit)).responses.map(\.setCookie.count) == [2])
        for name in ["Set-Cookie: l=", "X-Other: "] {
            #expect(
                capture(text(name, limit + 1)).summary
                    == ["line-too-long at x: entry 1, line 2", "200 \(Self.url) [a=1]"])
        }
        #expect(
            capture(text("Set-Cookie: l=", 10_000_000)).summary
                == ["line-too-long at x: entry 1, line 2", "200 \(Self.url) [a=1]"])
        let fold = " " + String(repeating: "x", count: limit / 2) + "\n"
        #expect(
            capture("HTTP/1.1 200 OK\nSet-Cookie: l=\n\(fold)\(fold)Set-Cookie: a=1\n\n").summary
                == ["line-too-long at x: entry 1, line 2", "200 \(Self.url) [a=1]"])
        let statusLine = "HTTP/1.1 200 " + String(repeating: "x", count: limit)
        #expect(capture(statusLine + "\nSet-Cookie: a=1\n\n").summary == ["line-too-long at x: entry 1, line 1"])
    }
}
