import CookieModel
import Testing

@testable import Captures

@Suite("JSON lines of our own")
struct CookieLineReaderTests {
    private static let line =
        #"{"crumb":1,"name":"n","value":"v","domain":"a.test","hostOnly":true,"path":"/","secure":false,"httpOnly":false}"#

    @Test("Cookie lines are recognized by the beginning of a line, in pieces of any length")
    func detection() {
        let capture = Capture("\u{FEFF}\n\(CookieLineReaderTests.line)\r\n\n \n\(CookieLineReaderTests.line)")
        let record = CookieRecord.sample()
        let items: [CaptureItem] = [2, 5].map { .cookie(record, CapturePlace(source: "x", line: $0)) }
        #expect(capture.items == items)
        for length in 1...12 { #expect(capture.items(pieceLength: length) == items, "\(length)") }
        #expect(Capture(#"{"crumb"#).summary == ["input-truncated at x"])
        #expect(Capture(#"{"crumbs":[]}"#).failures.map(\.code) == [.inputUnrecognized])
    }

    @Test(
        "A line that is not a cookie is a failure with a reason, and loses only that line",
        arguments: [
            (#"{"crumb":1"#, "JSON"), (#"{"crumb":1}"#, "lacks"), (#"{"crumb":2}"#, "version 2"),
            (#"{"crumb":"1"}"#, "'crumb'"), (#"{"name":"n"}"#, "'crumb'"), ("17", "JSON"), ("[]", "crumb"),
            (line.replacing(#""v""#, with: "17"), "'value'"), (line.replacing("true", with: "1"), "'hostOnly'"),
            (line.replacing("true", with: "null"), "'hostOnly'"), (line.replacing("true", with: "[]"), "'hostOnly'"),
            (line.replacing("true", with: #""true""#), "'hostOnly'"),
            (line.replacing(#""value":"v""#, with: #""valueBase64":"v""#), "'valueBase64'"),
            (line.replacing("}", with: #","sameSite":"lax"}"#), "'sameSite'"),
            (line.replacing("}", with: #","expires":"soon"}"#), "'expires'"),
            (line.replacing("}", with: #","expires":17}"#), "'expires'"),
            (line.replacing("}", with: #","partitionKey":""}"#), "'partitionKey'"),
            (line.replacing(#""name":"n","#, with: ""), "lacks"), (line + "x", "JSON"), (line + line, "JSON"),
        ])
    func malformed(line: String, word: String) {
        let capture = Capture("\(CookieLineReaderTests.line)\n\(line)\n\(CookieLineReaderTests.line)\n")
        #expect(capture.summary == ["cookie n=v", "line-malformed at x: line 2", "cookie n=v"])
        #expect(capture.failures.allSatisfy { $0.message.contains(word) }, "\(capture.failures.map(\.message))")
    }

    @Test("Members of cookie lines from a later version are ignored")
    func unknownMembers() {
        let line = CookieLineReaderTests.line.replacing("}", with: #","note":{"a":[1,"b"]},"more":17,"last":null}"#)
        #expect(Capture(line).cookies == [.sample()])
    }

    @Test("Base64 in cookie lines is decoded, and nothing else is treated as Base64")
    func base64() {
        for count in 0...20 {
            let octets = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + 200) }
            let text = Base64.encode(octets)
            #expect(Base64.decode(text) == octets)
            #expect(text.count == (count + 2) / 3 * 4)
        }
        #expect(String(decoding: Base64.encode([0xFB, 0xFF]), as: UTF8.self) == "+/8=")
        for text in ["A", "A===", "=AAA", "AA=A", "AA-_", "AA==AAAA", "A A="] {
            #expect(Base64.decode(text.utf8) == nil, "\(text)")
        }
    }
}
