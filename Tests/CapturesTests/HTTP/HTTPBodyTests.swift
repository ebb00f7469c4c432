import CookieModel
import Testing

@testable import Captures

@Suite("Bodies set no cookies")
struct HTTPBodyTests {
    static let url = "https://a.test/"
    static let forged = "HTTP/1.1 200 OK\r\nSet-Cookie: evil=1\r\n\r\n"

    /// Heads of responses that nothing follows in the same transfer.
    static let heads = [
        "HTTP/1.1 200 OK\r\n", "HTTP/2 200 \r\n", "HTTP/1.1 404 x\r\n", "HTTP/1.1 500 x\r\n", "HTTP/1.1 300 x\r\n",
        "HTTP/1.1 304 x\r\n", "HTTP/1.1 204 x\r\n", "HTTP/1.1 206 x\r\nContent-Type: message/http\r\n",
        "HTTP/1.1 200 OK\r\nLocation: https://b.test/\r\n", "HTTP/1.1 201 x\r\nLocation: /x\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 42\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n",
    ]

    /// Bodies that hold a header block somewhere.
    static let bodies = [
        forged, "\r\n" + forged, "\n\n\n" + forged, "hello" + forged, "hello\r\n" + forged, "hello\r\n\r\n" + forged,
        "H" + forged, "HTTP/" + forged, "HTTP/1.1 20" + forged, forged + forged, "Set-Cookie: evil=1\r\n\r\n",
        "\0\u{1}" + forged, String(repeating: "x", count: 100_000) + "\r\n" + forged,
        "HTTP/1.1 302 x\r\nLocation: https://b.test/\r\n\r\n" + forged,
    ]

    @Test("In an HTTP dump, everything after a final response is its body", arguments: heads, bodies)
    func finalResponse(head: String, body: String) {
        let capture = Capture(head + "Set-Cookie: good=1\r\n\r\n" + body, url: Self.url)
        #expect(capture.responses.flatMap(\.setCookie) == ["good=1"])
        #expect(capture.failures.allSatisfy { $0.code == .responseSkipped })
        #expect(capture.failures.count <= 1)
        #expect(capture.items == capture.items(cutAt: [head.utf8.count + 25]))
    }

    @Test(
        "An HTTP dump's skipped block is reported if it may be a response",
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" + forged, 1),
            ("HTTP/1.1 200 OK\r\n\r\n" + forged, 1),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello" + forged, 1),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\r\n" + forged, 1),
            ("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello" + forged, 0),
            ("HTTP/1.1 200 OK\r\n\r\nhello\r\n\r\n" + forged, 0),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Encoding: br\r\n\r\nhello" + forged, 0),
        ])
    func report(text: String, count: Int) {
        let capture = Capture(text, url: Self.url)
        #expect(capture.failures.map(\.code) == Array(repeating: .responseSkipped, count: count))
        #expect(capture.responses.count == 1)
    }

    @Test(
        "After a redirect, only the very beginning or a reliable length leads to another block",
        arguments: [
            "hello\r\n\r\n" + forged, "<html>\n" + forged, "x" + forged, "HTTP/x\r\n" + forged, " " + forged,
        ])
    func redirectBody(body: String) {
        for head in ["HTTP/1.1 302 x\r\nLocation: https://b.test/\r\n", "HTTP/1.1 401 x\r\n", "HTTP/1.1 100 x\r\n"] {
            for length in ["", "Content-Length: \(body.utf8.count)\r\n", "Transfer-Encoding: chunked\r\n"] {
                let capture = Capture(head + length + "\r\n" + body, url: Self.url)
                #expect(capture.responses.count == 1)
                #expect(capture.responses.allSatisfy { $0.setCookie.isEmpty })
            }
        }
    }

    @Test("A header dump has no bodies, whatever its Content-Length")
    func headerDump() {
        let text = """
            HTTP/1.1 302 Found\r\nContent-Length: 154\r\nLocation: /next\r\nSet-Cookie: a=1\r\n\r
            HTTP/1.1 200 OK\r\nContent-Length: 5000\r\nSet-Cookie: b=2\r\n\r\n
            """
        let capture = Capture(text, url: Self.url)
        #expect(capture.summary == ["302 https://a.test/ [a=1]", "200 https://a.test/next [b=2]"])
    }
}
