import CookieModel
import Testing

@testable import Captures

@Suite("tshark's JSON")
struct TsharkTests {
    static func packet(_ http: String) -> String {
        #"{"_index":"packets","_source":{"layers":{"frame":{},"http":{\#(http)}}}}"#
    }

    @Test("Members that repeat a name all count")
    func repeated() {
        let response =
            #""HTTP/1.1 302 Found\\r\\n":{"http.response.code":"302"},"http.set_cookie":"a=1","http.set_cookie":"b=2","#
            + #""http.response":"1","http.response_for.uri":"http://a.test/x""#
        let request = #""http.request":"1","http.request.full_uri":"http://a.test/x""#
        let orphan = #""http.set_cookie":"c=3""#
        let capture = Capture("[\(Self.packet(request)),\(Self.packet(response)),\(Self.packet(orphan)),7]")
        #expect(
            capture.summary == [
                "302 http://a.test/x [a=1|b=2]", "entry-malformed at x: entry 3", "entry-malformed at x: entry 4",
            ])
    }

    @Test("tshark's own", .enabled(if: Samples.exist, "shared/samples is not beside the package"))
    func sample() throws {
        let capture = try Samples.capture("tshark-http.json")
        #expect(capture.failures.isEmpty)
        #expect(capture.responses.map(\.status) == [200, 302])
        #expect(capture.responses.first?.setCookie == (try Samples.capture("curl-i.txt").responses.first?.setCookie))
        #expect(capture.responses.first?.url == "http://app.example.test:8800/set8")
    }
}
