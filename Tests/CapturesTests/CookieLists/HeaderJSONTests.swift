import CookieModel
import Testing

@testable import Captures

@Suite("curl's header_json")
struct HeaderJSONTests {
    static let url = "https://a.test/x"

    @Test(
        "The Set-Cookie lines of header_json are strings, or in an array",
        arguments: [
            (#"{"set-cookie":["a=1","b=2"]}"#, ["0 https://a.test/x [a=1|b=2]"]),
            (#"{"Set-Cookie":"a=1","date":"Thu, 01 Jan 1970 00:00:05 GMT"}"#, ["0 https://a.test/x [a=1]"]),
            (#"{"server":["x"]}"#, ["0 https://a.test/x []"]),
            (#"{"x":["y"],"set-cookie":["a=1",2,"b=2"]}"#, ["line-malformed at x", "0 https://a.test/x [a=1|b=2]"]),
            (#"{"x":["y"],"set-cookie":["a=1","b"#, ["0 https://a.test/x [a=1]", "input-truncated at x"]),
        ])
    func lines(text: String, summary: [String]) {
        #expect(Capture(text, url: Self.url, format: .headerJSON).summary == summary)
    }

    @Test("The URL for header_json comes from the caller, and the time from Date")
    func place() {
        let text = #"{"date":["Thu, 01 Jan 1970 00:00:05 GMT"],"set-cookie":["a=1"]}"#
        #expect(Capture(text).summary == ["url-missing at x: entry 1"])
        let responses = Capture(text, url: Self.url).responses
        #expect(responses.map(\.time?.seconds) == [5] && responses.map(\.urlOrigin) == [.given])
        #expect(Capture("[]", url: Self.url, format: .headerJSON).summary == ["input-unrecognized at x"])
    }
}
