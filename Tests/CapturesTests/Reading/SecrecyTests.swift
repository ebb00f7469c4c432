import CookieModel
import Testing

@testable import Captures

@Suite("Secrets and printed descriptions")
struct SecrecyTests {
    static let captures = [
        Capture(
            HARText.document(
                HARText.entry(setCookie: #""sid=s3cret""#),
                #"{"request":{"url":"https://s3cret/"},"response":"s3cret"}"#)),
        Capture(#"{"log":{"entries":[{"request":"s3cret" s3cret"#),
        Capture(HARText.document(HARText.entry(url: "https://s3cret/?s3cret", setCookie: #""s3cret""#)) + "s3cret"),
        Capture(
            "HTTP/1.1 200 OK\r\ns3cret\r\nSet-Cookie: sid=s3cret\r\nSet-Cookie: s3cret", url: "https://a.test/?s3cret"),
        Capture("HTTP/1.1 s3cret\r\nSet-Cookie: sid=s3cret\r\n", url: "https://a.test/?s3cret"),
        Capture("#HttpOnly_a.test\tTRUE\t/\tFALSE\t0\tn\ts3cret\nb.test\ts3cret\t/\tFALSE\t0\tn\tv\ns3cret\tx s3cret"),
        Capture("s3cret"),
        Capture(
            #"{"cookies":[{"name":"s3cret","value":"s3cret","domain":1},{"name":"s3cret","value":"s3cret","#
                + #""domain":"s3cret.test","sameSite":1},{"name":"n","value":"s3cret","domain":"a.test"},"s3cret"]} s3cret"#
        ),
        Capture(
            "> GET /s3cret HTTP/1.1\n> Host: s3cret\n> \n< HTTP/1.1 200 OK\n< s3cret\n< Set-Cookie: s3cret\n< \ns3cret\n"
                + "< HTTP/1.1 200 s3cret\n"),
        Capture("--2026-11-21 02:56:22--  https://s3cret/\n  HTTP/1.1 200 OK\n  s3cret\n  Set-Cookie: s3cret=s3cret"),
        Capture(
            NetLogTests.log(
                NetLogTests.start(1, "https://s3cret/"),
                NetLogTests.headers(1, "HTTP/1.1 200", "s3cret", "Set-Cookie: s3cret"), NetLogTests.headers(2, "s3cret")
            )),
        Capture(
            WARCTests.record("response", "HTTP/1.1 200 OK\r\ns3cret\r\nSet-Cookie: s3cret", url: "https://s3cret/")),
        Capture("s3cret; s3cret", url: "https://a.test/?s3cret", format: .documentCookie),
        Capture(ScriptTests.message("s3cret", #","line":"s3cret""#)),
    ]

    @Test(
        "No captured item shows a cookie, a field or a URL when it is printed, dumped or reported", arguments: captures)
    func secrecy(capture: Capture) {
        for item in capture.items {
            var text = "\(item) \(String(reflecting: item))"
            dump(item, to: &text)
            switch item {
            case .response(let response):
                text += "\(response) \(String(reflecting: response))"
                dump(response, to: &text)
            case .failure(let error):
                text += "\(error) \(error as any Error) \(String(reflecting: error)) \(error.message)"
                dump(error, to: &text)
            case .cookie: break
            case .storage(let stored, _):
                text += "\(stored) \(String(reflecting: stored))"
                dump(stored, to: &text)
            }
            #expect(!text.contains("s3cret"), "\(text)")
            #expect(text.contains("x"))
        }
        #expect(!capture.items.isEmpty)
    }

    @Test(
        "The position of a failure is written for users",
        arguments: [
            (CapturePlace(source: "standard input"), "standard input"),
            (CapturePlace(source: "capture.har", entry: 3), "capture.har: entry 3"),
            (CapturePlace(source: "cookies.txt", line: 12), "cookies.txt: line 12"),
            (CapturePlace(source: "d.txt", entry: 2, line: 10), "d.txt: entry 2, line 10"),
            (CapturePlace(source: "c.har", line: 1, column: 5), "c.har: line 1, column 5"),
        ])
    func place(place: CapturePlace, text: String) {
        #expect(place.description == text)
    }

    @Test("A capture's failure has its position, its cause, and the next step")
    func sentence() {
        let failures = Capture("HTTP/1.1 200 OK\n\n").failures
        #expect(failures.map(\.code.description) == ["url-missing"])
        #expect(
            failures.map(\.description) == [
                "x: entry 1, line 1: The input does not contain the URL of its request."
            ])
    }
}
