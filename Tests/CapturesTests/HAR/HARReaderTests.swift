import CookieModel
import Testing

@testable import Captures

@Suite("HAR")
struct HARReaderTests {
    @Test("A HAR gives every entry, with or without cookies")
    func entries() {
        let capture = Capture(
            HARText.document(
                HARText.entry(setCookie: #""a=1""#, #""b=2; Path=/""#),
                HARText.entry(url: "https://b.test/x?y", status: "404"),
                HARText.entry(status: "0"),
                HARText.entry(response: "null"),
                HARText.entry(response: "{}"),
                #"{"request":{"url":"https://c.test/"}}"#))
        #expect(
            capture.summary == [
                "200 https://a.test/ [a=1|b=2; Path=/]", "404 https://b.test/x?y []", "0 https://a.test/ []",
                "0 https://a.test/ []", "0 https://a.test/ []", "0 https://c.test/ []",
            ])
        #expect(capture.responses.map(\.place.entry) == [1, 2, 3, 4, 5, 6])
        #expect(capture.responses.map(\.method) == ["GET", "GET", "GET", "GET", "GET", nil])
    }

    @Test("The order of a HAR's members does not matter")
    func order() {
        let document = """
            {"x":[{"log":{"entries":[1]}}],"log":{"entries":[
            {"response":{"headers":[{"value":"a=1","name":"set-cookie"},
            {"value":"no","name":"X"}],"status":201},"_x":{"response":{"headers":[{"name":"set-cookie","value":"no"}]}},
            "startedDateTime":"2026-11-21T02:59:54.881+00:00","request":{"method":"POST","headers":
            [{"name":"Set-Cookie","value":"no=1"}],"url":"https://a.test/"}}],"version":"1.2"},"y":{"entries":[{}]}}
            """
        let capture = Capture(document)
        #expect(capture.summary == ["201 https://a.test/ [a=1]"])
        #expect(capture.responses.first?.method == "POST")
        #expect(capture.responses.first?.time == Timestamp(microseconds: 1_795_229_994_881_000))
    }

    @Test(
        "A time's offset from UTC may lack its colon, as ISO 8601 allows",
        arguments: [
            ("2026-11-21T08:29:54.881+0530", true), ("2026-11-20T21:59:54.881-0500", true),
            ("2026-11-21T02:59:54.881+00", false), ("2026-11-21T08:29:54.8810530", false), ("+0530", false),
            ("", false),
        ])
    func offsets(time: String, isRead: Bool) {
        let request = #""request":{"url":"https://a.test/"},"response":{"status":200,"headers":[]}"#
        let document = #"{"log":{"entries":[{"startedDateTime":"\#(time)",\#(request)}]}}"#
        let expected = Timestamp(microseconds: 1_795_229_994_881_000)
        #expect((Capture(document).responses.first?.time == expected) == isRead)
    }

    @Test(
        "Chromium's tools decode octets as windows-1252, others correctly",
        arguments: [
            (#""creator":{"name":"Playwright"},"browser":{"name":"chromium"}"#, true),
            (#""browser":{"version":"1","name":"chromium"},"creator":{"version":"1","name":"Playwright"}"#, true),
            (#""creator":{"name":"WebInspector","version":"537.36"}"#, true),
            (#""creator":{"name":"Playwright"},"browser":{"name":"firefox"}"#, false),
            (#""creator":{"name":"mitmproxy"},"browser":{"name":"chromium"}"#, false),
            (#""creator":{"x":{"name":"WebInspector"}}"#, false), (#""creator":["WebInspector"]"#, false),
            (#""creator":{"name":7},"browser":null"#, false),
        ])
    func encodings(members: String, isWindows1252: Bool) {
        func lines(_ value: String) -> [Octets]? {
            let entry = HARText.entry(setCookie: "\"\(value)\"")
            return Capture(#"{"log":{\#(members),"entries":[\#(entry)]}}"#).responses.first?.setCookie
        }
        #expect(lines("a=GrÃ¼ÃŸe") == [isWindows1252 ? "a=Grüße" : "a=GrÃ¼ÃŸe"])
        let octets = Octets("a=".utf8 + [0xFF, 0x81, 0x80])
        #expect(lines(#"a=\u00ff\u0081\u20ac"#) == [isWindows1252 ? octets : "a=ÿ\u{81}€"])
        // What no octet becomes stays as it is.
        #expect(lines("a=Ã¼中") == ["a=Ã¼中"])
        #expect(lines("a=1") == ["a=1"])
    }

    @Test(
        "A HAR's Set-Cookie values are read as octets",
        arguments: [
            (#""a=1""#, ["a=1"]),
            (#"" \t a=1; Path=/ \t""#, ["a=1; Path=/"]),
            (#""a=1\nb=2\nc=3""#, ["a=1", "b=2", "c=3"]),
            (#""a=1\r\nb=2\n\n c=3 \n""#, ["a=1", "b=2", "c=3"]),
            (#""a=1\u000ab=2""#, ["a=1", "b=2"]),
            (#""""#, [""]),
            (#""a=\u00e9\u4e2d\ud83d\ude00""#, ["a=é中😀"]),
            (#""a=\"\\\/\b\f\t.""#, ["a=\"\\/\u{8}\u{C}\t."]),
            (#""a=\u0000;\r""#, ["a=\0;\r"]),
            (#""a=é中😀""#, ["a=é中😀"]),
            (#""a=\ud83d.""#, ["a=\u{FFFD}."]),
            (#""a=\ud83d\ud83d\ude00""#, ["a=\u{FFFD}😀"]),
            (#""a=\ude00""#, ["a=\u{FFFD}"]),
            (#""a=\ud83d\u0041""#, ["a=\u{FFFD}A"]),
            (#""a=\ud83d\n""#, ["a=\u{FFFD}"]),
            ("\"a=\u{1}\t.\"", ["a=\u{1}\t."]),
        ])
    func values(json: String, expected: [String]) {
        #expect(
            Capture(HARText.document(HARText.entry(setCookie: json))).responses.map(\.setCookie)
                == [expected.map { Octets($0) }])
    }

    @Test("A HAR's bytes that are not UTF-8 are preserved, raw or as Python escapes them")
    func rawBytes() {
        var bytes = Array(HARText.document(HARText.entry(setCookie: #""a=?\udce9\udcff""#)).utf8)
        bytes = bytes.map { $0 == 0x3F ? 0xE8 : $0 }
        #expect(Capture(bytes: bytes).responses.map(\.setCookie) == [[[0x61, 0x3D, 0xE8, 0xE9, 0xFF]]])
    }

    @Test(
        "A HAR's header names are unescaped and compared without case",
        arguments: [
            ("Set-Cookie", 1), ("set-cookie", 1), ("SET-COOKIE", 1), (#"\u0053et-\u0063ookie"#, 1), ("Set-Cookie2", 0),
            ("Set-Cookie ", 0), ("Cookie", 0), ("", 0),
        ])
    func names(name: String, count: Int) {
        let response = #"{"headers":[{"name":"\#(name)","value":"a=1"}]}"#
        #expect(
            Capture(HARText.document(HARText.entry(response: response))).responses.map(\.setCookie.count) == [count])
    }

    @Test("The rebuilt cookies member is not a Set-Cookie; without the header it shows that headers were left out")
    func cookiesMember() {
        let response = #"{"cookies":[{"name":"a","value":"1"}],"status":200,"headers":[]}"#
        #expect(
            Capture(HARText.document(HARText.entry(response: response))).summary
                == ["200 https://a.test/ []", "cookies-sanitized at x"])
    }

    @Test("In a HAR, the last of members with the same name counts")
    func duplicates() {
        let entry = """
            {"request":7,"request":{"url":5,"url":"https://a.test/","method":"GET"},"response":{"headers":3},
            "response":{"headers":[{"name":"Set-Cookie","value":"old"}],"headers":[{"name":"X","name":"Set-Cookie",
            "value":{},"value":"old","value":"new"}],"status":500,"status":200}}
            """
        #expect(Capture(HARText.document(entry)).summary == ["200 https://a.test/ [new]"])
    }

    @Test("A byte order mark and white space around a HAR are accepted")
    func surroundings() {
        let document = HARText.document(HARText.entry(setCookie: #""a=1""#))
        #expect(Capture("\u{FEFF}\r\n " + document + "\n\n").summary == ["200 https://a.test/ [a=1]"])
        #expect(Capture("\u{FEFF}" + document, format: .har).summary == ["200 https://a.test/ [a=1]"])
        #expect(Capture(HARText.document()).summary == [])
    }

    @Test(
        "Other members of a HAR entry may have any type",
        arguments: [
            (#""status":"200""#, 0), (#""status":null"#, 0), (#""status":2e2"#, 0), (#""status":200.0"#, 0),
            (#""status":99999999999999999999"#, 0), (#""status":-1"#, -1), (#""status":[1]"#, 0),
            (#""status":200"#, 200),
        ])
    func status(member: String, status: Int) {
        let document = HARText.document(HARText.entry(response: "{\(member)}"))
        #expect(Capture(document).responses.map(\.status) == [status])
        let entry = #"{"startedDateTime":5,"request":{"method":{},"url":"https://a.test/"},"response":{}}"#
        #expect(Capture(HARText.document(entry)).summary == ["0 https://a.test/ []"])
    }
}
