import CookieModel
import Testing

@testable import Captures

@Suite("curl -v")
struct CurlVerboseTests {
    /// A request and its response as curl tells them.
    static func exchange(
        _ path: String = "/", host: String = "a.test", status: String = "200 OK", _ fields: String...
    ) -> String {
        let response = (["HTTP/1.1 \(status)"] + fields + [""]).map { "< \($0)\r\n" }.joined()
        return "> GET \(path) HTTP/1.1\r\n> Host: \(host)\r\n> \r\n" + response
    }

    static let plain = "* Connected to a.test (127.0.0.1) port 80 (#0)\n"
    static let encrypted = plain + "* SSL connection using TLSv1.3 / TLS_AES_256_GCM_SHA384\n"

    @Test(
        "The URL is the request's: scheme by the connection, host and target as they were sent",
        arguments: [
            (plain + exchange("/x?y=1"), nil, ["200 http://a.test/x?y=1 []"]),
            (encrypted + exchange("/x", host: "a.test:8443"), nil, ["200 https://a.test:8443/x []"]),
            // A second connection is as encrypted as it says; one that is used again is what it was.
            (
                encrypted + exchange("/1") + plain + exchange("/2") + encrypted + exchange("/3"), nil,
                ["200 https://a.test/1 []", "200 http://a.test/2 []", "200 https://a.test/3 []"]
            ),
            (
                encrypted + exchange("/1") + "* Re-using existing connection with host a.test\n" + exchange("/2"), nil,
                ["200 https://a.test/1 []", "200 https://a.test/2 []"]
            ),
            // What the transcript does not say, the caller may.
            (exchange("/x"), "https://a.test/", ["200 https://a.test/x []"]),
            (exchange("/x"), "https://b.test/", ["200 http://a.test/x []"]),
            (
                "> GET http://b.test/x HTTP/1.1\n> Host: b.test\n> \n< HTTP/1.1 200 OK\n< \n", nil,
                ["200 http://b.test/x []"]
            ),
            // Without requests, the caller's URL and where its redirects lead.
            ("< HTTP/1.1 200 OK\n< \n", nil, ["url-missing at x: entry 1, line 1"]),
            (
                "< HTTP/1.1 302 x\n< Location: /y\n< \n< HTTP/1.1 200 x\n< \n< HTTP/1.1 200 x\n< Set-Cookie: a=1\n< \n",
                "https://a.test/x",
                ["302 https://a.test/x []", "200 https://a.test/y []", "response-skipped at x: entry 3, line 6"]
            ),
        ] as [(String, String?, [String])])
    func urls(text: String, url: String?, summary: [String]) {
        #expect(Capture(text, url: url, format: .curlVerbose).summary == summary)
    }

    @Test("Header lines count, remarks between them do not")
    func lines() {
        let text =
            Self.plain
            + "> GET / HTTP/1.1\n> Host: a.test\n> \n< HTTP/1.1 200 OK\n* Added cookie a=\"1\" for domain a.test\n"
            + "< Set-Cookie: a=1;\n<   Path=/\n< nonsense\n{ [5 bytes data]\n< set-cookie:b=2\n< \n"
        #expect(
            Capture(text).summary == [
                "line-malformed at x: entry 1, line 9", "200 http://a.test/ [a=1; Path=/|b=2]",
            ])
    }

    @Test("A proxy's answer to CONNECT sets nothing")
    func proxy() {
        let text =
            "> CONNECT a.test:443 HTTP/1.1\n> Host: a.test:443\n> \n< HTTP/1.1 200 OK\n< Set-Cookie: p=1\n< \n"
            + "* SSL connection using TLSv1.3\n" + Self.exchange("/", "Set-Cookie: a=1")
        #expect(
            Capture(text, url: "https://a.test/").summary == [
                "response-skipped at x: entry 1, line 4", "200 https://a.test/ []", "200 https://a.test/ [a=1]",
            ])
    }

    @Test("The end of a tunnel needs no URL that the caller gives")
    func tunnel() {
        let text =
            "> CONNECT a.test:443 HTTP/1.1\n> Host: a.test:443\n> \n< HTTP/1.1 200 Connection established\n< \n"
            + "* SSL connection using TLSv1.3\n" + Self.exchange("/x", "Set-Cookie: a=1")
        #expect(Capture(text).summary == ["200 https://a.test:443/ []", "200 https://a.test/x [a=1]"])
    }

    @Test("A body between the lines ends the transcript: it could look like any of them")
    func bodies() {
        let forged = Self.exchange("/", host: "bank.test", "Set-Cookie: forged=1")
        let start = Self.plain + Self.exchange("/", "Set-Cookie: a=1")
        #expect(
            Capture(start + "<html>\n" + forged).summary == [
                "200 http://a.test/ [a=1]", "response-skipped at x: line 12",
            ])
        // The progress meter is no body.
        let meter = "  % Total    % Received\r  0     0    0 --:--:--     0\n"
        #expect(Capture(meter + start + meter + forged, format: .curlVerbose).responses.count == 2)
    }

    @Test("A trailer sets no cookie, and a block that is cut off counts as far as it goes")
    func ends() {
        let start = Self.plain + Self.exchange("/", "Set-Cookie: a=1")
        #expect(
            Capture(start + "< Set-Cookie: late=1\n").summary == [
                "200 http://a.test/ [a=1]", "response-skipped at x: line 8",
            ])
        #expect(
            Capture(String(start.dropLast(4))).summary == [
                "input-truncated at x: entry 1, line 6", "200 http://a.test/ [a=1]",
            ])
        #expect(Capture("* nothing\n", format: .curlVerbose).summary == ["input-unrecognized at x"])
    }
}
