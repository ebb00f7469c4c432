import CookieModel
import Testing

@testable import Captures

@Suite("Chromium's net-log")
struct NetLogTests {
    static let constants =
        #""constants":{"logEventTypes":{"REQUEST_ALIVE":2,"URL_REQUEST_START_JOB":7,"#
        + #""HTTP_TRANSACTION_READ_RESPONSE_HEADERS":9},"timeTickOffset":1000}"#

    static func log(_ events: String...) -> String {
        "{\(constants),\"events\":[\(events.joined(separator: ",\n"))]}"
    }

    static func start(_ id: Int, _ url: String) -> String {
        #"{"type":7,"phase":1,"source":{"id":\#(id)},"params":{"url":"\#(url)","method":"POST"}}"#
    }

    static func headers(_ id: Int, _ headers: String...) -> String {
        let list = headers.map { "\"\($0)\"" }.joined(separator: ",")
        return #"{"type":9,"phase":0,"time":"5","source":{"id":\#(id)},"params":{"headers":[\#(list)]}}"#
    }

    @Test("A net-log's overlapping requests are distinguished by their source, and a redirect is a new request")
    func requests() {
        let capture = Capture(
            Self.log(
                Self.start(1, "https://a.test/x"), Self.start(2, "https://b.test/"),
                Self.headers(2, "HTTP/1.1 200", "set-cookie: b=1"),
                Self.headers(1, "HTTP/1.1 302", "Set-Cookie: a=1", "Set-Cookie: a=2"),
                Self.start(1, "https://a.test/y"),
                Self.headers(1, "HTTP/1.1 200 OK"), #"{"type":2,"phase":2,"source":{"id":1}}"#,
                Self.headers(1, "HTTP/1.1 200 OK"), Self.headers(2), #"{"type":9,"source":1}"#, "7"))
        #expect(
            capture.summary == [
                "200 https://b.test/ [b=1]", "302 https://a.test/x [a=1|a=2]", "200 https://a.test/y []",
                "entry-malformed at x: entry 4", "entry-malformed at x: entry 5",
            ])
        #expect(capture.responses.allSatisfy { $0.time?.microseconds == 1_005_000 && $0.method == "POST" })
    }

    @Test("A net-log's line beyond ASCII is decoded from its percent-encoding, and an ASCII line is read unchanged")
    func escaped() {
        let capture = Capture(
            Self.log(
                Self.start(1, "https://a.test/"),
                Self.headers(
                    1, "HTTP/1.1 200", "%ESCAPED:\u{200B} Set-Cookie: u=Gr%C3%BC%C3%9Fe%25%zz%FF%4",
                    "Set-Cookie: a=%41")))
        #expect(capture.responses.first?.setCookie == [Octets("u=Grüße%%zz".utf8 + [0xFF] + "%4".utf8), "a=%41"])
    }

    @Test("Values that the browser left out of a net-log are reported")
    func stripped() {
        let capture = Capture(
            Self.log(
                Self.start(1, "https://a.test/"),
                Self.headers(1, "HTTP/1.1 200", "Set-Cookie: [33 bytes were stripped]", "Set-Cookie: a=1")))
        #expect(capture.summary == ["values-stripped at x: entry 1", "200 https://a.test/ [a=1]"])
    }

    @Test("The complete part of an unfinished net-log is read")
    func unfinished() {
        let text = Self.log(Self.start(1, "https://a.test/"), Self.headers(1, "HTTP/1.1 200", "Set-Cookie: a=1"))
        #expect(
            Capture(String(text.dropLast(2)) + ",\n").summary == [
                "200 https://a.test/ [a=1]", "input-truncated at x: entry 1",
            ])
        #expect(Capture("{\(Self.constants)}").summary == ["input-unrecognized at x"])
    }

    @Test(
        "A net-log of Chromium itself is read", .enabled(if: Samples.exist, "shared/samples is not beside the package"))
    func sample() throws {
        let capture = try Samples.capture("chromium-netlog.json")
        #expect(capture.failures.isEmpty)
        let expected = try Samples.capture("curl-i.txt").responses.map(\.setCookie)
        let responses = capture.responses.filter { $0.url == "https://app.example.test:8843/set8" }
        #expect(responses.map(\.setCookie) == expected)
        #expect(capture.responses.first?.setCookie == ["redir=r1; Path=/"])
        #expect(responses.first?.time?.rfc3339.hasPrefix("2026-11-21T03:23:58") == true)
    }
}
