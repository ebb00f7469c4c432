import Foundation
import Testing

@testable import Captures

@Suite("JSON syntax")
struct JSONSyntaxTests {
    static let values = [
        "null", "true", "false", "nul", "nulll", "True", "truefalse", "0", "-0", "1", "-1", "12", "01", "-", "+1", ".5",
        "1.", "1.5", "1.5.5", "1e5", "1E+5", "1e-5", "1e", "1e+", "1.e5", "0x10", "NaN", "Infinity", "--1", "1-1",
        "123456789012345678901234567890", #""""#, #""a""#, #""a"#, "'a'", #""\n""#, #""\x""#, #""\u00e9""#,
        #""\u00g9""#, #""\u00e""#, #""\ud83d\ude00""#, #""\\""#, #""\""#, #""\/""#, "[]", "[1]", "[1,2]", "[,1]",
        "[,]", "[1 2]", "[1", "1]", "[[]]", "[[]", "{}", #"{"a":1}"#, #"{"a"}"#, #"{"a":}"#, #"{:1}"#,
        #"{"a" 1}"#, #"{"a"::1}"#, #"{"a":1 "b":2}"#, #"{"a":1,"b":2}"#, "{a:1}", "{1:1}", "{]", "[}", #"{"a":[}]"#,
        #"{"a":{"b":[1,{"c":null}]}}"#, " [ 1 , 2 ] ", "[1,\t2\r\n]", "[1\u{A0}]", "[1\u{B}]", "/* */1", "1//", "", " ",
        #"{"a":1}}"#, #"["a"#, #"["a":1]"#, #"{"a",1}"#, "[true,false,null]", #"{"":0}"#, #"["\u0000"]"#,
    ]

    @Test("Foundation agrees on whether a document is well-formed", arguments: values)
    func agreement(value: String) {
        // Skipped, and within what is read.
        for template in [#"{"log":{"_x":@,"entries":[]}}"#, #"{"log":{"entries":[{"startedDateTime":@}]}}"#] {
            let document = template.replacing("@", with: value)
            let isWellFormed = (try? JSONSerialization.jsonObject(with: Data(document.utf8))) != nil
            let codes = Capture(document).failures.map(\.code)
            let isRead = !codes.contains(.jsonMalformed) && !codes.contains(.inputTruncated)
            #expect(isRead == isWellFormed, "\(document)")
        }
    }

    @Test(
        "A comma before the end is broken syntax, though Foundation on Linux lets it pass",
        arguments: [
            "[1,]", #"{"a":1,}"#,
        ])
    func trailingComma(value: String) {
        #expect(
            Capture(#"{"log":{"_x":@,"entries":[]}}"#.replacing("@", with: value)).failures.map(\.code) == [
                .jsonMalformed
            ])
    }

    @Test("The JSON parser accepts two invalid things: control characters and bad UTF-8 within strings")
    func tolerance() {
        #expect(Capture("{\"log\":{\"_x\":\"a\nb\u{1}\",\"entries\":[]}}").items.isEmpty)
        let bytes = Array(#"{"log":{"_x":"?","entries":[]}}"#.utf8).map { $0 == 0x3F ? 0xFF : $0 }
        #expect(Capture(bytes: bytes).items.isEmpty)
    }

    @Test(
        "The JSON parser counts lines and columns in bytes from 1",
        arguments: [
            ("{x", 1, 2), ("\n\n {\n  x", 4, 3), ("{\"é\" x", 1, 7), ("{\"a\nb\" x", 2, 4), ("\u{FEFF}{x", 1, 2),
            ("{\"a\":nux", 1, 8), ("{\"a\":1x", 1, 7), ("{\"a\":1.x", 1, 8), ("{\"\\x", 1, 4), ("{\"\\u00x", 1, 7),
        ])
    func position(text: String, line: Int, column: Int) {
        let capture = Capture(text)
        #expect(capture.failures.map(\.code) == [.jsonMalformed])
        #expect(capture.failures.map(\.place) == [CapturePlace(source: "x", line: line, column: column)])
        #expect(capture.items == capture.items(pieceLength: 1))
    }
}
