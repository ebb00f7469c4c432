import CookieModel
import Testing

@testable import Captures

@Suite("Set-Cookie lines that a HAR's writer joined")
struct HARJoinedTests {
    static let rows: [(value: String, names: [String], lines: [Octets]?)] = [
        // Cut in front of each name, wherever else commas stand.
        ("a=1, b=2", ["a", "b"], ["a=1", "b=2"]),
        ("a=1; Path=/, b=2; Secure", ["a", "b"], ["a=1; Path=/", "b=2; Secure"]),
        (
            "a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT, b=2", ["a", "b"],
            ["a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT", "b=2"]
        ),
        ("a=x, y, a=2", ["a", "a"], ["a=x, y", "a=2"]),
        ("a=1,b=2, b=3", ["a", "b"], ["a=1,b=2", "b=3"]),
        ("a=, b=", ["a", "b"], ["a=", "b="]),
        // One name is one line, as it came.
        ("a=1, b=2", ["a"], ["a=1, b=2"]),
        ("a=1, b=2", [], ["a=1, b=2"]),
        // A name that is not there in its turn: nothing is stored, and the entry says so.
        ("a=1, b=2", ["b", "a"], nil),
        ("a=1, b=2", ["a", "c"], nil),
        ("a=1, b", ["a", "b"], nil),
        ("a=1, bb=2", ["a", "b"], nil),
        ("a=1, =2", ["a", ""], nil),
    ]

    @Test("Joined Set-Cookie lines of a HAR are split by the names in cookies, or left out", arguments: rows)
    func joined(value: String, names: [String], lines: [Octets]?) {
        let cookies = names.map { #"{"name": "\#($0)", "value": "not read", "secure": 1}"# }.joined(separator: ", ")
        let headers = #"[{"name": "Set-Cookie", "value": "\#(value)"}]"#
        for response in [
            #""cookies": [\#(cookies)], "headers": \#(headers)"#, #""headers": \#(headers), "cookies": [\#(cookies)]"#,
        ] {
            var reader = CaptureReader(source: "x.har")
            var items: [CaptureItem] = []
            let text =
                #"{"log": {"entries": [{"request": {"url": "https://a.test/"}, "response": {"status": 200, \#(response)}}]}}"#
            reader.read(Array(text.utf8).span) { items.append($0) }
            reader.finish { items.append($0) }
            let found = items.compactMap { item -> [Octets]? in
                if case .response(let response) = item { response.setCookie } else { nil }
            }
            let codes = items.compactMap { item -> CaptureError.Code? in
                if case .failure(let error) = item { error.code } else { nil }
            }
            #expect(found == [lines ?? []])
            #expect(codes == (lines == nil ? [.setCookieJoined] : []))
        }
    }

    @Test("A HAR's response with separate lines is not changed, whatever its cookies contain")
    func apart() {
        var reader = CaptureReader(source: "x.har")
        var lines: [Octets] = []
        let text = """
            {"log": {"entries": [{"request": {"url": "https://a.test/"}, "response": {"status": 200, "cookies": \
            [{"name": "x"}, {"name": "y"}, {"name": "z"}], "headers": [{"name": "set-cookie", "value": "a=1, b=2"}, \
            {"name": "set-cookie", "value": "c=3"}]}}]}}
            """
        reader.read(Array(text.utf8).span) { item in
            if case .response(let response) = item { lines += response.setCookie }
        }
        #expect(lines == ["a=1, b=2", "c=3"])
    }
}
