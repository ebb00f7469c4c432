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
    static let tls = "* SSL connection using TLSv1.3 / TLS_AES_256_GCM_SHA384\n"
    static let encrypted = plain + tls
    static let address = "*   Trying 127.0.0.1:443...\n"

    @Test(
        "The URL in curl -v has the connection's scheme, and host and target of the request",
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
            // Current versions report the connection after its TLS handshake; a connection begins with its address.
            (
                address + tls + "* Established connection to a.test (127.0.0.1 port 443)\n" + exchange("/1")
                    + address + "* Established connection to a.test (127.0.0.1 port 80)\n" + exchange("/2"), nil,
                ["200 https://a.test/1 []", "200 http://a.test/2 []"]
            ),
            (
                address + exchange("/1") + "* Reusing existing https: connection with host a.test\n" + exchange("/2"),
                nil, ["200 http://a.test/1 []", "200 https://a.test/2 []"]
            ),
            // Windows' TLS library reports no handshake.
            (
                address + plain + "* schannel: disabled automatic use of client certificate\n"
                    + "* ALPN: curl offers http/1.1\n" + exchange("/x"), nil, ["200 https://a.test/x []"]
            ),
            (address + plain + "* ALPN: curl offers http/1.1\n" + exchange("/x"), nil, ["200 http://a.test/x []"]),
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

    @Test("In curl -v, header lines count, remarks between them do not")
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

    /// What curl writes beside its lines, where its output goes into a file.
    static let heading =
        "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
        + "                                 Dload  Upload   Total   Spent    Left  Speed\n"
    static let meter = "\r  0     0    0     0    0     0      0      0 --:--:--  0:00:01 --:--:--     0"
    static let currentMeter = "\r100   5000 100   5000   0      0   1.2M      0   00:02   00:02           2.4k"
    static let ship = "#=#=#                                                                         \r"
    static let bar = "\r######################################################################## 100.0%"

    @Test(
        "In curl -v, progress is not a part of the next line",
        arguments: [meter, meter + meter, currentMeter, ship + ship, bar],
        [CaptureFormat?.none, .curlVerbose])
    func progress(_ progress: String, format: CaptureFormat?) {
        let lines =
            [Self.plain] + ["> GET / HTTP/1.1\r\n", "> Host: a.test\r\n", "> \r\n"]
            + ["< HTTP/1.1 200 OK\r\n", "< Set-Cookie: a=1\r\n", "< \r\n", "{ [5 bytes data]\n"]
        for place in lines.indices {
            var parts = lines
            parts[place] = progress + parts[place]
            let text = Self.heading + parts.joined() + progress + "\n* Connection #0 left intact\n"
            let second = Self.exchange("/2", "Set-Cookie: b=2")
            #expect(
                Capture(text + second, format: format).summary == [
                    "200 http://a.test/ [a=1]", "200 http://a.test/2 [b=2]",
                ])
        }
        // With `--trace-time` and `--trace-ids`.
        for prefix in ["17:36:01.123456 [0-0] ", "17:36:01.123456 ", "[0-0] ", "[x-12] "] {
            let prefixed = lines.map { prefix + $0 }.joined()
            let glued = Self.heading + lines.map { progress + prefix + $0 }.joined()
            for text in [prefixed, glued] {
                let capture = Capture(text, format: format)
                #expect(capture.summary == ["200 http://a.test/ [a=1]"])
                #expect(capture.items(pieceLength: 1) == capture.items)
            }
        }
    }

    @Test("Progress before `curl -i` is skipped", arguments: [meter, currentMeter, ship, bar], ["", "\n"])
    func progressBeforeResponse(_ progress: String, end: String) {
        let response = "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n\r\nbody"
        for format in [CaptureFormat?.none, .http] {
            let text = Self.heading + progress + end + response
            #expect(Capture(text, url: "https://a.test/", format: format).summary == ["200 https://a.test/ [a=1]"])
        }
    }

    @Test("In curl -v, a proxy's response to CONNECT sets no cookies")
    func proxy() {
        let text =
            "> CONNECT a.test:443 HTTP/1.1\n> Host: a.test:443\n> \n< HTTP/1.1 200 OK\n< Set-Cookie: p=1\n< \n"
            + "* SSL connection using TLSv1.3\n" + Self.exchange("/", "Set-Cookie: a=1")
        #expect(
            Capture(text, url: "https://a.test/").summary == [
                "response-skipped at x: entry 1, line 4", "200 https://a.test/ []", "200 https://a.test/ [a=1]",
            ])
    }

    @Test("In curl -v, requests in a tunnel need no URL of the caller")
    func tunnel() {
        let text =
            "> CONNECT a.test:443 HTTP/1.1\n> Host: a.test:443\n> \n< HTTP/1.1 200 Connection established\n< \n"
            + "* SSL connection using TLSv1.3\n" + Self.exchange("/x", "Set-Cookie: a=1")
        #expect(Capture(text).summary == ["200 https://a.test:443/ []", "200 https://a.test/x [a=1]"])
    }

    @Test("A body in curl -v ends the transcript, because it could look like any line")
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

    @Test("In curl -v, a trailer sets no cookie, and the lines of a truncated block count")
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
