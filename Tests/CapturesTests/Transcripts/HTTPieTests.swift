import CookieModel
import Testing

@testable import Captures

@Suite("http -v")
struct HTTPieTests {
    private static let login = """
        POST /login HTTP/1.1
        Accept: application/json, */*;q=0.5
        Content-Type: application/json
        Cookie: pre=1
        Host: app.test
        User-Agent: HTTPie/3.2.4

        {
            "user": "anna"
        }


        HTTP/1.1 302 Found
        Location: /home
        Set-Cookie: sid=1; Path=/; Secure

        <html>moved</html>


        GET /home HTTP/1.1
        Host: app.test

        HTTP/1.1 200 OK
        Set-Cookie: home=1

        GET / HTTP/1.1
        Host: app.test

        HTTP/1.1 200 OK
        Set-Cookie: evil=1

        """

    @Test("A transcript of http -v gives requests and responses of one transfer, and no body")
    func transfer() {
        let capture = Capture(Self.login, url: "https://app.test/anything")
        #expect(CaptureFormat.detect(Array(Self.login.utf8).span) == .httpieVerbose)
        #expect(
            capture.summary == [
                "302 https://app.test/login [sid=1; Path=/; Secure]", "200 https://app.test/home [home=1]",
            ])
        #expect(capture.responses.map(\.method) == ["POST", "GET"])
        #expect(capture.responses.map(\.requestCookies) == [["pre=1"], []])
        #expect(capture.items(pieceLength: 1) == capture.items)
    }

    @Test("A transcript of http -v does not show whether it is http or https")
    func scheme() {
        #expect(Capture(Self.login).failures.map(\.code) == [.urlMissing])
        #expect(Capture(Self.login, url: "http://app.test/").responses.first?.url == "http://app.test/login")
    }

    @Test("In http -v, only a request for its Location counts after a redirect")
    func forged() {
        let text = Self.login.replacing("GET /home", with: "GET /other")
        let capture = Capture(text, url: "https://app.test/")
        #expect(capture.responses.map(\.url) == ["https://app.test/login"])
        #expect(capture.failures.map(\.code) == [.responseSkipped])
    }

    @Test("In http -v, a single request header is a copied request")
    func copied() {
        let text = "GET /x HTTP/2\r\nHost: app.test\r\nCookie: sid=1\r\n\r\n"
        let response = Capture(text, url: "https://app.test/").responses.first
        #expect(response?.isCopiedRequest == true && response?.requestCookies == ["sid=1"])
        #expect(response?.url == "https://app.test/x")
    }

    @Test("Terminal colors in http -v are removed only if the output begins with them")
    func colors() {
        let output =
            "\u{1B}[32mGET\u{1B}[39;49;00m \u{1B}[04m\u{1B}[36m/in\u{1B}[39;49;00m \u{1B}[34mHTTP\u{1B}[39;49;00m/"
            + "\u{1B}[34m1.1\u{1B}[39;49;00m\n\u{1B}[36mHost\u{1B}[39;49;00m: a.test\r\n\r\n\n\n"
            + "\u{1B}[34mHTTP\u{1B}[39;49;00m/\u{1B}[34m1.1\u{1B}[39;49;00m \u{1B}[34m200\u{1B}[39;49;00m OK\n"
            + "\u{1B}[36mSet-Cookie\u{1B}[39;49;00m: sid=31d4; Path=/\r\n\r\n\u{1B}[94mhello\u{1B}[39;49;00m\n"
        let capture = Capture(output, url: "https://a.test/in")
        #expect(capture.summary == ["200 https://a.test/in [sid=31d4; Path=/]"])
        for position in 0...capture.bytes.count { #expect(capture.items(cutAt: [position]) == capture.items) }
        let plain = Capture(
            "GET /in HTTP/1.1\nHost: a.test\n\nHTTP/1.1 200 OK\nSet-Cookie: a=\u{1B}[1m1\n\n", url: "https://a.test/in")
        #expect(plain.responses.map(\.setCookie) == [["a=\u{1B}[1m1"]])
    }
}
