import CookieModel
import Testing

@testable import Captures

@Suite("Captures of scripts")
struct ScriptTests {
    @Test(
        "A string of document.cookie is received through the script interface, pair by pair",
        arguments: [
            ("a=1; b=2", ["0 https://a.test/x [a=1|b=2]"]),
            ("  \"a=1; b=2;;c\"\r\n", ["0 https://a.test/x [a=1|b=2|c]"]),
            ("'a=\"1\"'\n\nb=2", ["0 https://a.test/x [a=\"1\"]", "0 https://a.test/x [b=2]"]),
            ("a=1 ;b= 2 x ", ["0 https://a.test/x [a=1|b= 2 x]"]),
            // A prefix says what the string does not.
            (
                "__Secure-a=1; __host-b=2; __Host-; x__Host-=3",
                ["0 https://a.test/x [__Secure-a=1; Secure|__host-b=2; Secure; Path=/|__Host-|x__Host-=3]"]
            ),
        ])
    func documentCookie(text: String, summary: [String]) {
        let capture = Capture(text, url: "https://a.test/x", format: .documentCookie)
        #expect(capture.summary == summary)
        #expect(capture.responses.allSatisfy { $0.interface == .script && $0.urlOrigin == .given })
        #expect(Capture(text, format: .documentCookie).failures.contains { $0.code == .urlMissing })
    }

    static func message(_ kind: String, _ members: String) -> String {
        #"{"crumb":"capture","kind":"\#(kind)","url":"https://a.test/x"\#(members)}"#
    }

    @Test(
        "The messages of the capture script are imported",
        arguments: [
            (message("cookie", #","line":"a=1; Path=/""#), ["0 https://a.test/x [a=1; Path=/]"]),
            (
                message(
                    "change",
                    #","changed":[{"name":"a","value":"1","path":"/","domain":"a.test","expires":5000.5,"secure":true,"#
                        + #""sameSite":"lax","partitioned":true}],"deleted":[{"name":"b","path":"/y"}]"#),
                [
                    "0 https://a.test/x [a=1; Path=/; Domain=a.test; Expires=Thu, 01 Jan 1970 00:00:05 GMT; Secure; "
                        + "SameSite=Lax; Partitioned|b=; Path=/y; Max-Age=0]"
                ]
            ),
            // What the engine does not tell whole, or what would break out of its line.
            (message("change", #","changed":[{"name":"a","value":"1"}]"#), ["cookies-untold at x: entry 1, line 1"]),
            (
                message("change", #","changed":[{"name":"a","value":"1;2","path":"/"}]"#),
                ["cookies-untold at x: entry 1, line 1"]
            ),
            (message("touched", ""), ["cookies-untold at x: entry 1, line 1"]),
            (message("response", #","status":200"#), []),
            (message("cookie", ""), ["entry-malformed at x: entry 1, line 1"]),
            (message("huh", ""), ["entry-malformed at x: entry 1, line 1"]),
            (#"{"crumb":"other","kind":"cookie","url":"https://a.test/x"}"#, ["entry-malformed at x: entry 1, line 1"]),
            (#"{"crumb":"#, ["entry-malformed at x: entry 1, line 1"]),
        ])
    func messages(text: String, summary: [String]) {
        let good = Self.message("cookie", #","line":"g=1""#)
        let capture = Capture("\(text)\n\n\(good)", format: .captureMessages)
        #expect(capture.summary == summary + ["0 https://a.test/x [g=1]"])
        #expect(capture.responses.allSatisfy { $0.interface == .script })
        #expect(Capture("\(good)\n\(text)").reader(atEndOf: Array(good.utf8)).format == .captureMessages)
    }
}
