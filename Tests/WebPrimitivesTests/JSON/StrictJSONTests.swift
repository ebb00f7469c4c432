import Testing

@testable import WebPrimitives

@Suite("JSON that is written for Crumb")
struct StrictJSONTests {
    private func fault(_ text: String) -> String? {
        fault(Array(text.utf8))
    }

    private func fault(_ bytes: [UInt8]) -> String? {
        do throws(StrictJSON.Fault) {
            try StrictJSON.check(bytes)
            return nil
        } catch {
            return error.description
        }
    }

    @Test(
        "JSON is taken, of any kind",
        arguments: [
            "{}", "[]", "1", "-0.5e+3", "null", "true", #""a""#, " \r\n\t{ \"a\" : [ 1 , {} ] }\n",
            #"{"a":{"a":1},"b":{"a":2}}"#,
            #"[{"a":1},{"a":2}]"#, #"{"a":1,"A":2,"":3}"#, #"{"é":1,"e\u0301":2}"#, #"{"a":"\ud83d\ude00 \u0000"}"#,
        ])
    func taken(text: String) {
        #expect(fault(text) == nil)
    }

    @Test(
        "A name that an object has twice is refused, however it is written, and its place is named",
        arguments: [
            (#"{"a":1,"a":1}"#, "a"), (#"{"a":1,"\u0061":1}"#, "a"),
            (#"{"b":0,"x":{"y":[0,{"z":1,"z":2}]}}"#, "x.y.[1].z"),
            (#"[{"a":1,"b":1,"a":2}]"#, "[0].a"), (#"{"/":1,"\/":2}"#, "/"), (#"{"é":1,"\u00e9":2}"#, "é"),
            (#"{"😀":1,"\ud83d\ude00":2}"#, "😀"), (#"{"":1,"":2}"#, ""), (#"{"a":{"a":1,"a":2},"a":3}"#, "a.a"),
        ])
    func duplicates(text: String, place: String) {
        #expect(fault(text) == (place.isEmpty ? "" : "\(place): ") + "this member occurs twice")
    }

    @Test(
        "Text that is not JSON is rejected with its place",
        arguments: [
            (#"{"a":1,}"#, "line 1, column 8: this is not JSON"), ("[1,]", "line 1, column 4: this is not JSON"),
            ("{\n \"a\": 01}", "line 2, column 8: this is not JSON"), ("{'a':1}", "line 1, column 2: this is not JSON"),
            ("{\"a\":\"x\ny\"}", "line 1, column 8: this is not JSON"), ("{} {}", "line 1, column 4: this is not JSON"),
            ("// a\n{}", "line 1, column 1: this is not JSON"), ("NaN", "line 1, column 1: this is not JSON"),
            (#"{"a":"\ud800"}"#, "line 1, column 13: this escape is half of a surrogate pair"),
            (#"["\ud83d\n\ude00"]"#, "line 1, column 10: this escape is half of a surrogate pair"),
            (#"["\udc00"]"#, "line 1, column 8: this escape is half of a surrogate pair"),
            (#"["\ud83dx\ude00"]"#, "line 1, column 9: this escape is half of a surrogate pair"),
            (#"["\ud83d\ud83d"]"#, "line 1, column 14: this escape is half of a surrogate pair"),
            (#"{"\udfff":1}"#, "line 1, column 8: this escape is half of a surrogate pair"),
            (#"{"a":1"#, "the JSON ends too early"), ("", "the JSON is missing"), (" ", "the JSON ends too early"),
        ])
    func malformed(text: String, fault: String) {
        #expect(self.fault(text) == fault)
    }

    @Test("Text that is not plain UTF-8 is refused")
    func encodings() {
        let object = #"{"url":"u"}"#
        let utf16 = Array(object.utf16)
        let bigEndian: [UInt8] = utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] as [UInt8] }
        let littleEndian: [UInt8] = utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] as [UInt8] }
        let utf32: [UInt8] = object.utf8.flatMap { [0, 0, 0, $0] as [UInt8] }
        let others: [[UInt8]] = [
            bigEndian, littleEndian, [0xFE, 0xFF] + bigEndian, [0xFF, 0xFE] + littleEndian, utf32,
        ]
        for bytes in others {
            #expect(fault(bytes) == "the JSON is not in UTF-8; UTF-16 and UTF-32 are not read")
        }
        #expect(
            fault([0xEF, 0xBB, 0xBF] + Array(object.utf8))
                == "the JSON begins with a byte order mark; send it without one")
        // An octet of Latin-1, half a character, a surrogate, and "/" in two octets.
        for octets: [UInt8] in [[0xE9], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0xAF]] {
            #expect(
                fault(Array("{\n\"a\":\"".utf8) + octets + Array("\"}".utf8)) == "line 2, column 6: this is not UTF-8")
        }
    }

    @Test("An object has 10,000 members, and arrays and objects lie 32 deep in each other, but no more")
    func limits() {
        func object(_ count: Int) -> String {
            "{\"o\":{" + (0..<count).map { "\"m\($0)\":0" }.joined(separator: ",") + "}}"
        }
        #expect(fault(object(10_000)) == nil)
        #expect(fault(object(10_001)) == "o: an object has at most 10000 members")
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(fault(nested(32)) == nil)
        #expect(fault(nested(33))?.hasSuffix(": arrays and objects are nested deeper than 32") == true)
        #expect(fault(nested(500_000)) != nil)
    }

    @Test("Twice as many members are no more than twice the work")
    func work() throws {
        for count in [1250, 2500, 5000, 10_000] {
            var checker = StrictJSON()
            try checker.check(Array("{\((0..<count).map { "\"m\($0)\":0" }.joined(separator: ","))}".utf8))
            // Names are compared where their hashes are equal, which is as good as never.
            #expect(checker.comparisonCount < 10, "\(count)")
        }
    }
}
