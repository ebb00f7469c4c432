import CookieModel
import Testing

@testable import Captures

@Suite("Several responses in one dump")
struct HTTPSequenceTests {
    static let url = "https://a.test/dir/page?q"

    func capture(_ text: String) -> Capture {
        Capture(text.replacing("\n", with: "\r\n"), url: Self.url)
    }

    @Test(
        "A redirect moves to its Location, resolved against the current URL",
        arguments: [
            ("https://b.test/x", "https://b.test/x"), ("http://b.test:8080", "http://b.test:8080/"),
            ("/x/y?z", "https://a.test/x/y?z"), ("x", "https://a.test/dir/x"), ("./x/../y", "https://a.test/dir/y"),
            ("../../x", "https://a.test/x"), ("?r", "https://a.test/dir/page?r"), ("//b.test/x", "https://b.test/x"),
            ("/x#fragment", "https://a.test/x"), ("#f", "https://a.test/dir/page?q"), ("/a b", "https://a.test/a%20b"),
            ("HTTPS://B.TEST/", "https://b.test/"), ("https://user:password@b.test/", "https://b.test/"),
            (#"https://b.test\@a.test/"#, "https://b.test/@a.test/"), (#"https:\\b.test/"#, "https://b.test/"),
        ])
    func location(reference: String, url: String) {
        for status in [301, 302, 303, 307, 308] {
            let capture = capture(
                "HTTP/1.1 \(status) x\nSet-Cookie: a=1\nLocation: \(reference)\nContent-Length: 99\n\n"
                    + "HTTP/1.1 200 OK\nSet-Cookie: b=2\n\n")
            #expect(capture.summary == ["\(status) \(Self.url) [a=1]", "200 \(url) [b=2]"])
            #expect(capture.responses.map(\.urlOrigin) == [.given, .redirect])
            #expect(capture.responses.map(\.place.line) == [1, 6])
        }
    }

    @Test(
        "A redirect that cannot be followed is the last response",
        arguments: [
            "Location: ftp://b.test/", "Location: mailto:x@b.test", "Location: https://", "Location: https://[x]/",
            "Location:", "X: y",
        ])
    func unusableLocation(field: String) {
        #expect(
            capture("HTTP/1.1 302 x\n\(field)\n\nHTTP/1.1 200 OK\nSet-Cookie: evil=1\n\n").summary
                == ["302 \(Self.url) []", "response-skipped at x: line 4"])
    }

    @Test("A chain of redirects is followed, the first Location of each block")
    func chain() {
        let text = """
            HTTP/1.1 301 x
            Location: https://b.test/one
            Location: https://evil.test/

            HTTP/2 302\u{20}
            location: two
            set-cookie: b=2

            HTTP/2 200\u{20}
            set-cookie: c=3


            """
        #expect(
            capture(text).summary
                == ["301 \(Self.url) []", "302 https://b.test/one [b=2]", "200 https://b.test/two [c=3]"])
    }

    @Test(
        "Informational responses and login retries keep the URL",
        arguments: [
            "HTTP/1.1 100 Continue\n\n", "HTTP/1.1 103 Early Hints\nLink: x\nContent-Length: 9\n\n",
            "HTTP/1.1 101 Switching Protocols\nUpgrade: h2c\n\n",
            "HTTP/1.1 401 Unauthorized\nContent-Length: 1000\n\n", "HTTP/1.1 401 x\nTransfer-Encoding: chunked\n\n",
            "HTTP/1.1 407 x\nContent-Length: 1000\n\n", "HTTP/1.0 200 Connection established\n\n",
            "HTTP/1.1 200 Connection Established\nProxy-Agent: x\n\n",
        ])
    func sameURL(first: String) {
        let capture = capture(first + "HTTP/1.1 200 OK\nSet-Cookie: a=1\nContent-Length: 5\n\nhello")
        #expect(capture.summary.count == 2)
        #expect(capture.summary.last == "200 \(Self.url) [a=1]")
        #expect(capture.responses.map(\.urlOrigin) == [.given, .given])
    }

    @Test(
        "A proxy's own cookies are left out and reported",
        arguments: [
            "HTTP/1.1 407 x\n", "HTTP/1.1 200 Connection established\n",
        ])
    func proxyCookies(line: String) {
        let capture = capture(line + "Set-Cookie: p=1\n\nHTTP/1.1 200 OK\nSet-Cookie: a=1\n\n")
        #expect(capture.failures.map(\.code) == [.responseSkipped])
        #expect(capture.responses.map(\.setCookie) == [[], ["a=1"]])
    }

    @Test(
        "A redirect with a printed body is followed after it, if its length is reliable",
        arguments: [
            ("Content-Length: 5\n\nhello", true), ("Content-Length: 5\n\nhello\n\n", true),
            ("Content-Length: 7\n\nHTTP/1.", true), ("Content-Length: 6\n\nHTTP/1\n\n", true),
            ("Content-Length: 2\n\nxy", true), ("Content-Length: 5\nContent-Length: 5\n\nhello", true),
            ("Content-Length: 4\n\nhello", false), ("Content-Length: 6\n\nhello", false), ("X: y\n\nhello", false),
            ("Content-Length: 5\nTransfer-Encoding: chunked\n\nhello", false),
            ("Content-Length: 5\nContent-Encoding: gzip\n\nhello", false),
            ("Content-Length: 5\nContent-Length: 6\n\nhello", false), ("Content-Length: 5x\n\nhello", false),
            ("Content-Length: -5\n\nhello", false), ("Content-Length: 99999999999999999999999\n\nhello", false),
        ])
    func printedBody(head: String, isFollowed: Bool) {
        let text = "HTTP/1.1 302 x\nLocation: /x\n\(head)HTTP/1.1 200 OK\nSet-Cookie: b=2\n\n"
        let capture = Capture(text, url: Self.url)
        #expect(capture.responses.map(\.status) == (isFollowed ? [302, 200] : [302]))
        #expect(capture.failures.isEmpty)
        #expect(capture.items == capture.items(pieceLength: 1))
    }
}
