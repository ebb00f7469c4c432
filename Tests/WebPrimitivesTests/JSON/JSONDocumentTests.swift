import Foundation
import TestSupport
import Testing

@testable import WebPrimitives

@Suite("JSON that is read as a whole")
struct JSONDocumentTests {
    private func isJSON(_ bytes: [UInt8]) -> Bool {
        if case .invalid = JSONDocument(bytes) { false } else { true }
    }

    @Test(
        "Every form of JSON in RFC 8259 is accepted",
        arguments: [
            "{}", " [ ] ", "null", "true", "false", "0", "-0", "-1.5e+10", "1E5", "0.1", #""""#,
            #""\"\\\/\b\f\n\r\t\u00e9""#,
            #"{"a":{"b":[1,{"c":null}]}}"#, #"{"a":1,"a":2}"#, "\t\r\n 1 \n", "\"\u{7F}\u{2028}\"", #""\uD83D\uDE00""#,
        ])
    func valid(_ text: String) {
        #expect(isJSON(Array(text.utf8)))
    }

    @Test(
        "Text that is not JSON is rejected",
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
        "Escapes in strings are decoded, and unpaired surrogates replaced",
        arguments: [
            (#""\u0041\u00e9\u20AC""#, "Aé€"), (#""\ud83d\ude00""#, "😀"), (#""\ud83d""#, "\u{FFFD}"),
            (#""\ude00x""#, "\u{FFFD}x"), (#""\ud83d\u0041""#, "\u{FFFD}A"), (#""\ud83d\n""#, "\u{FFFD}\n"),
            (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"), (#""\u0000""#, "\u{0}"),
        ])
    func strings(_ text: String, _ expected: String) {
        guard case .other(let value) = JSONDocument(Array(text.utf8)) else {
            Issue.record("No string in \(text)")
            return
        }
        #expect(value.text == expected)
    }

    @Test("Bytes of a string that are not UTF-8 are replaced")
    func notUTF8() {
        guard case .other(let value) = JSONDocument([0x22, 0x61, 0xFF, 0x22]) else {
            Issue.record("No value")
            return
        }
        #expect(value.text == "a\u{FFFD}")
    }

    @Test("A number of any size is accepted, and the last of repeated members counts")
    func members() {
        guard case .object(let object) = JSONDocument(Array(#"{"n":1e999,"a":1,"a":"2","z":null}"#.utf8)) else {
            Issue.record("No object")
            return
        }
        // A number that no type can hold does not cost the rest of the reply.
        if case .number(let number)? = object["n"] {
            #expect(number.millionths == .max)
        } else {
            Issue.record("The number is lost")
        }
        #expect(object["a"]?.text == "2")
        #expect(object.first(of: ["missing", "z", "a"])?.text == "2")
        #expect(object.first(of: ["z"]) == nil)
    }

    @Test("Nesting beyond the depth limit is rejected")
    func depth() {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(isJSON(nested(JSONDocument.depthLimit)))
        #expect(!isJSON(nested(JSONDocument.depthLimit + 1)))
    }

    @Test("Mutated texts are accepted exactly if Foundation accepts them", arguments: 1...4 as ClosedRange<UInt64>)
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

    @Test(
        "The complete members of a truncated object are found",
        arguments: [
            (#"{"refresh_token":"r","expires_in":36"#, ["refresh_token"]), (#"{"a":"1","b":"2"#, ["a"]),
            (#"{"a":[1,{"x":2}],"b":{"c":3"#, ["a"]), (#"{"a":1,x"#, ["a"]), (#"{"a":1}<"#, ["a"]), (#"[{"a":1},"#, []),
            ("", []),
            (#"{"a":"\ud83d","b":"# + "\n", ["a"]),
        ])
    func broken(_ text: String, _ names: [String]) {
        guard case .invalid(let read) = JSONDocument(Array(text.utf8)) else {
            Issue.record("\(text) is taken for JSON")
            return
        }
        #expect(read.names.map(\.description) == names)
    }
}
