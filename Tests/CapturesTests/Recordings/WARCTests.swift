import CookieModel
import Testing

@testable import Captures

@Suite("WARC")
struct WARCTests {
    static func record(_ type: String, _ block: String, length: Int? = nil, url: String = "https://a.test/") -> String {
        "WARC/1.0\r\nWARC-Type: \(type)\r\nWARC-Target-URI: \(url)\r\nWARC-Date: 1970-01-01T00:00:05Z\r\n"
            + "Content-Length: \(length ?? block.utf8.count)\r\n\r\n\(block)\r\n\r\n"
    }

    static let response =
        "HTTP/1.1 200 OK\r\nSet-Cookie: a=1;\r\n Path=/\r\nDate: x\r\n\r\nbody\nSet-Cookie: b=2\r\n\r\n"

    @Test("In a WARC, responses count, requests and bodies do not")
    func responses() {
        let capture = Capture(
            Self.record("warcinfo", "software: x\r\n") + Self.record("request", "GET / HTTP/1.1\r\n\r\n")
                + Self.record("response", Self.response)
                + Self.record("response", "HTTP/1.1 302\nSet-Cookie: c=3\n\n", url: "<https://b.test/>")
                + Self.record("resource", Self.response) + Self.record("response", "1.2.3.4\r\n")
                + Self.record("response", ""))
        #expect(capture.summary == ["200 https://a.test/ [a=1; Path=/]", "302 https://b.test/ [c=3]"])
        #expect(capture.responses.map(\.time?.seconds) == [5, 5])
        #expect(capture.responses.map(\.place.description) == ["x: entry 3, line 26", "x: entry 4, line 42"])
    }

    @Test("A WARC's header block that is cut off by its record ends there")
    func cutOff() {
        let capture = Capture(
            Self.record("response", "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Coo")
                + Self.record("response", "HTTP/1.1 200 OK\r\n\r\n"))
        #expect(
            capture.summary == [
                "input-truncated at x: entry 1, line 9", "200 https://a.test/ [a=1]", "200 https://a.test/ []",
            ])
    }

    @Test(
        "The end of a WARC record must be known",
        arguments: [
            ("WARC/1.0\r\nWARC-Type: response\r\n\r\n", ["entry-malformed at x: entry 1, line 3"]),
            ("WARC/1.0\r\nContent-Length: -1\r\n\r\n", ["entry-malformed at x: entry 1, line 3"]),
            ("WARC/1.0\r\nContent-Length: 0\r\nbroken\r\n\r\n", ["entry-malformed at x: entry 1, line 4"]),
            (record("response", response, length: 5) + "x", ["entry-malformed at x: entry 1, line 7"]),
            (record("request", "x", length: 50), ["input-truncated at x: entry 1, line 8"]),
            ("WARC/1.0\r\nContent-Len", ["input-truncated at x: entry 1, line 1"]),
            ("WARC/1.1", ["input-truncated at x: entry 1, line 1"]),
        ])
    func broken(text: String, summary: [String]) {
        #expect(Capture(text).summary == summary)
    }
}
