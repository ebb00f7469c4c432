import Testing

@testable import Captures

@Suite("Broken HARs")
struct HARFailureTests {
    @Test(
        "A broken HAR entry loses only itself",
        arguments: [
            "7", "null", "[]", #""x""#, "{}", "true",
            #"{"request":7}"#, #"{"request":null}"#, #"{"request":{}}"#, #"{"request":{"url":7}}"#,
            #"{"request":{"url":null}}"#, #"{"request":{"url":["https://a.test/"]}}"#,
            HARText.entry(response: "7"), HARText.entry(response: "[]"),
            HARText.entry(response: #"{"headers":7}"#), HARText.entry(response: #"{"headers":{}}"#),
            HARText.entry(response: #"{"headers":"x"}"#), HARText.entry(response: #"{"headers":[7]}"#),
            HARText.entry(response: #"{"headers":[null]}"#), HARText.entry(response: #"{"headers":[[]]}"#),
            HARText.entry(response: #"{"headers":[{}]}"#), HARText.entry(response: #"{"headers":[{"value":"x"}]}"#),
            HARText.entry(response: #"{"headers":[{"name":7,"value":"x"}]}"#),
            HARText.entry(response: #"{"headers":[{"name":"Set-Cookie"}]}"#),
            HARText.entry(response: #"{"headers":[{"name":"Set-Cookie","value":7}]}"#),
            HARText.entry(response: #"{"headers":[{"value":{"a":1},"name":"Set-Cookie"}]}"#),
        ])
    func brokenEntry(entry: String) {
        let good = HARText.entry(setCookie: #""a=1""#)
        #expect(
            Capture(HARText.document(good, entry, good)).summary == [
                "200 https://a.test/ [a=1]", "entry-malformed at x: entry 2", "200 https://a.test/ [a=1]",
            ])
    }

    @Test("A HAR's header that sets no cookie may have any value")
    func otherHeader() {
        let response = #"{"status":200,"headers":[{"name":"X","value":7},{"name":"Y"},{"name":"Z","value":{"a":[]}}]}"#
        #expect(Capture(HARText.document(HARText.entry(response: response))).summary == ["200 https://a.test/ []"])
    }

    @Test(
        "JSON that is not a HAR is one failure",
        arguments: [
            "{}", #"{"log":7}"#, #"{"log":{}}"#, #"{"log":{"entries":{}}}"#, #"{"log":[{"entries":[]}]}"#,
            #"{"entries":[]}"#,
        ])
    func notHAR(document: String) {
        #expect(Capture(document).summary == ["input-unrecognized at x"])
    }

    @Test(
        "Broken syntax in a HAR ends the reading with its position, and complete entries before it count",
        arguments: [
            ("{\"log\":{\"entries\":[@,\n}]}}", "line 2, column 1"),
            ("{\"log\":{\"entries\":[@\n] }]", "line 2, column 4"),
            ("{\"log\":\r\n{\"entries\":\n[@\n, nulL", "line 4, column 6"),
            ("{\"log\":{\"entries\":[@,\n{\"request\":{\"url\":\"\\q", "entry 2, line 2, column 21"),
        ])
    func syntax(template: String, place: String) {
        let entry = HARText.entry(setCookie: #""a=1""#)
        #expect(
            Capture(template.replacing("@", with: entry)).summary
                == ["200 https://a.test/ [a=1]", "json-malformed at x: \(place)"])
    }

    @Test("Anything after a HAR's document is a failure", arguments: ["x", "{}", ",", "]", "\0", "\"", "1"])
    func trailingGarbage(text: String) {
        let document = HARText.document(HARText.entry(setCookie: #""a=1""#))
        #expect(
            Capture(document + "\n" + text).summary
                == ["200 https://a.test/ [a=1]", "json-malformed at x: line 2, column 1"])
    }

    @Test(
        "Unused members of a HAR may be nested deeply, up to a limit",
        arguments: [
            ("[", "]"), (#"{"a":"#, "}"), (#"[{"a":"#, "}]"),
        ])
    func nesting(open: String, close: String) {
        let entry = HARText.entry(setCookie: #""a=1""#)
        func document(_ count: Int) -> String {
            let deep = String(repeating: open, count: count) + "1" + String(repeating: close, count: count)
            return HARText.document(entry, #"{"_x":\#(deep),"request":{"url":"https://b.test/"}}"#, entry)
        }
        let levels = open.count(where: { $0 != "\"" && $0 != "a" && $0 != ":" })
        let most = (CaptureLimits.nestingDepth - 4) / levels
        #expect(
            Capture(document(most)).summary
                == ["200 https://a.test/ [a=1]", "0 https://b.test/ []", "200 https://a.test/ [a=1]"])
        for count in [most + 1, 2 * most] {
            let items = Capture(document(count)).items
            #expect(items.count == 2)
            #expect(items.failures.map(\.code) == [.nestingTooDeep])
            #expect(items.failures.first?.place.entry == 2)
        }
    }

    @Test("A HAR truncated anywhere yields its complete entries, and one failure")
    func truncation() {
        let document = HARText.document(
            HARText.entry(setCookie: #""a=\u00e91""#, #""b=2\nc=3""#), "7", HARText.entry(status: "0"),
            HARText.entry(url: "https://b.test/", setCookie: #""é=1""#))
        let bytes = Array(document.utf8)
        let whole = Capture(document).items
        #expect(whole.count == 4)
        for count in 1..<bytes.count {
            let items = Capture(bytes: Array(bytes[..<count])).items
            guard case .failure(let error)? = items.last else {
                Issue.record("no failure after \(count) bytes")
                continue
            }
            #expect(error.code == .inputTruncated)
            #expect(items.dropLast().elementsEqual(whole.prefix(items.count - 1)))
            #expect(error.place.entry == (items.count == 1 ? nil : items.count - 1))
        }
    }
}
