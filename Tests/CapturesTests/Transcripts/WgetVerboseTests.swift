import CookieModel
import Testing

@testable import Captures

@Suite("wget -S")
struct WgetVerboseTests {
    @Test("In wget -S, each request's URL comes before its responses")
    func redirects() {
        let text = """
            --2026-11-21 02:56:22--  https://a.test/x
            HTTP request sent, awaiting response...
              HTTP/1.1 401 Unauthorized
              Set-Cookie: a=1
              HTTP/1.1 302 Found
              Set-Cookie: b=2
              Location: http://b.test/y
            Location: http://b.test/y [following]
            --2026-11-21 02:56:23--  http://b.test/y
            HTTP request sent, awaiting response...
              HTTP/1.1 200 OK
              Set-Cookie: c=3
            Length: 22 [text/html]
              HTTP/1.1 200 OK
              Set-Cookie: late=4

            """
        #expect(
            Capture(text).summary == [
                "401 https://a.test/x [a=1]", "302 https://a.test/x [b=2]", "200 http://b.test/y [c=3]",
                "response-skipped at x: entry 4, line 14",
            ])
    }

    @Test(
        "Escapes in wget -S are undone",
        arguments: [
            (#"a\\b\\"c"#, #"a\b\"c"#), (#"Gr\303\274\303\237e"#, "Grüße"), (#"x\t\141\vx"#, "x\ta\u{B}x"),
            // What is none stays.
            (#"a\x\8\12\477"#, #"a\x\8\12\477"#), (#"a\"#, #"a\"#),
        ])
    func escapes(written: String, value: String) {
        let text = "--2026-11-21 02:56:22--  https://a.test/x\n  HTTP/1.1 200 OK\n  Set-Cookie: c=\(written);\n"
        #expect(Capture(text).responses.first?.setCookie == [Octets("c=\(value);".utf8)])
    }

    @Test("In wget -d, requests and responses are read as on the wire, and responses only once")
    func debugged() {
        let log = """
            Setting --header (header) to Cookie: a=1
            DEBUG output created by Wget 1.21.3 on linux-gnu.

            --2026-11-26 21:28:51--  https://a.test/in
            ---request begin---
            GET /in HTTP/1.1
            Host: a.test
            Cookie: a=1

            ---request end---
            HTTP request sent, awaiting response...
            ---response begin---
            HTTP/1.1 302 Found
            Location: /home
            Set-Cookie: sid=\\303; Path=/

            ---response end---

              HTTP/1.1 302 Found
              Location: /home
              Set-Cookie: sid=\\\\303; Path=/

            --2026-11-26 21:28:52--  https://a.test/home
            ---request begin---
            GET /home HTTP/1.1

            ---request end---
            ---response begin---
            HTTP/1.1 200 OK

            ---response end---
            """
        let capture = Capture(log)
        #expect(capture.summary == [#"302 https://a.test/in [sid=\303; Path=/]"#, "200 https://a.test/home []"])
        #expect(capture.responses.map(\.requestCookies) == [["a=1"], []])
        for position in 0...capture.bytes.count { #expect(capture.items(cutAt: [position]) == capture.items) }
    }
}
