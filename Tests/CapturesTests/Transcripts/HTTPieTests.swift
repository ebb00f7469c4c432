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

    @Test("Requests and responses of one transfer, and no body")
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

    @Test("It does not tell http from https")
    func scheme() {
        #expect(Capture(Self.login).failures.map(\.code) == [.urlMissing])
        #expect(Capture(Self.login, url: "http://app.test/").responses.first?.url == "http://app.test/login")
    }

    @Test("Behind a redirect, only a request for its Location counts")
    func forged() {
        let text = Self.login.replacing("GET /home", with: "GET /other")
        let capture = Capture(text, url: "https://app.test/")
        #expect(capture.responses.map(\.url) == ["https://app.test/login"])
        #expect(capture.failures.map(\.code) == [.responseSkipped])
    }

    @Test("A request's header alone is a copied request")
    func copied() {
        let text = "GET /x HTTP/2\r\nHost: app.test\r\nCookie: sid=1\r\n\r\n"
        let response = Capture(text, url: "https://app.test/").responses.first
        #expect(response?.isCopiedRequest == true && response?.requestCookies == ["sid=1"])
        #expect(response?.url == "https://app.test/x")
    }
}
