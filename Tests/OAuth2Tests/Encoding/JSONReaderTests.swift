import Foundation
import TestSupport
import Testing

@testable import OAuth2

@Suite("JSONReader")
struct JSONReaderTests {
    private func isJSON(_ bytes: [UInt8]) -> Bool {
        if case .invalid = JSONReader.document(bytes) { false } else { true }
    }

    @Test(
        "takes what RFC 8259 allows",
        arguments: [
            "{}", " [ ] ", "null", "true", "false", "0", "-0", "-1.5e+10", "1E5", "0.1", #""""#,
            #""\"\\\/\b\f\n\r\t\u00e9""#,
            #"{"a":{"b":[1,{"c":null}]}}"#, #"{"a":1,"a":2}"#, "\t\r\n 1 \n", "\"\u{7F}\u{2028}\"", #""\uD83D\uDE00""#,
        ])
    func valid(_ text: String) {
        #expect(isJSON(Array(text.utf8)))
    }

    @Test(
        "refuses what it does not",
        arguments: [
            "", " ", "{", "}", "[", "]", "[1", "[1,]", "[,1]", "[1 2]", "{1:2}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
            "{\"a\" 1}", "{a:1}", "'a'", "tru", "True", "nul", "NaN", "Infinity", "-", "+1", "01", "-01", "1.", ".1",
            "1e",
            "1e+", "0x1", "1_0", "\"", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\n\"", "\"\u{0}\"", "1 2",
            "{} {}",
            "/**/1", "[1]//", "\u{A0}1",
        ])
    func invalid(_ text: String) {
        #expect(!isJSON(Array(text.utf8)))
    }

    @Test(
        "unescapes strings, and repairs what is no text",
        arguments: [
            (#""\u0041\u00e9\u20AC""#, "Aé€"), (#""\ud83d\ude00""#, "😀"), (#""\ud83d""#, "\u{FFFD}"),
            (#""\ude00x""#, "\u{FFFD}x"), (#""\ud83d\u0041""#, "\u{FFFD}A"), (#""\ud83d\n""#, "\u{FFFD}\n"),
            (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"), (#""\u0000""#, "\u{0}"),
        ])
    func strings(_ text: String, _ expected: String) {
        guard case .other(.string(let value)) = JSONReader.document(Array(text.utf8)) else {
            Issue.record("No string in \(text)")
            return
        }
        #expect(value == expected)
    }

    @Test("repairs bytes that are not UTF-8")
    func notUTF8() {
        guard case .other(let value) = JSONReader.document([0x22, 0x61, 0xFF, 0x22]) else {
            Issue.record("No value")
            return
        }
        #expect(value.text == "a\u{FFFD}")
    }

    @Test("keeps the text of numbers, and of members with one name the last")
    func members() {
        guard case .object(let object) = JSONReader.document(Array(#"{"n":1e999,"a":1,"a":"2","z":null}"#.utf8)) else {
            Issue.record("No object")
            return
        }
        if case .number("1e999")? = object["n"] {} else { Issue.record("The number is lost") }
        #expect(object["a"]?.text == "2")
        #expect(object.first(of: ["missing", "z", "a"])?.text == "2")
        #expect(object.first(of: ["z"]) == nil)
    }

    @Test("bounds the depth")
    func depth() {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(isJSON(nested(JSONReader.maximumDepth)))
        #expect(!isJSON(nested(JSONReader.maximumDepth + 1)))
    }

    @Test("agrees with Foundation on mutated texts", arguments: 1...4 as ClosedRange<UInt64>)
    func twin(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array(#"{}[]",:\ntrue1-.e u0041"#.utf8)
        let original = Array(#"{"a":[1,-2.5e3,"x\n\u0041"],"b":{"c":null,"d":true},"e":""}"#.utf8)
        for _ in 0..<2000 {
            var bytes = original
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                let position = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[position] = alphabet.randomElement(using: &generator) ?? 0
            }
            let foundation =
                (try? JSONSerialization.jsonObject(with: Data(bytes), options: [.fragmentsAllowed])) != nil
            #expect(isJSON(bytes) == foundation, "\(String(decoding: bytes, as: UTF8.self))")
        }
    }
}
