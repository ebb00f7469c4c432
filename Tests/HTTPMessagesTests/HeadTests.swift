import HTTPMessages
import Testing
import WebPrimitives

@Suite("The heads of HTTP messages")
struct HeadTests {
    private func statusLine(_ text: String, allowsBlanks: Bool = false) -> StatusLine? {
        let bytes = Array(text.utf8)
        return StatusLine(bytes.span, allowsBlanks: allowsBlanks)
    }

    private func match(_ text: some StringProtocol) -> StatusLine.Match {
        let bytes = Array(text.utf8)
        return StatusLine.match(bytes.span)
    }

    private func parts(_ text: String) -> (name: String, value: String)? {
        let bytes = Array(text.utf8)
        guard let parts = bytes.span.fieldParts else { return nil }
        return (String(decoding: bytes[parts.name], as: UTF8.self), String(decoding: bytes[parts.value], as: UTF8.self))
    }

    @Test(
        "A status line has a version, a status of three digits, and perhaps a reason",
        arguments: [
            ("HTTP/1.1 200 OK", 200), ("HTTP/1.0 404 Not Found", 404), ("HTTP/2 200 ", 200), ("HTTP/3 204", 204),
            ("HTTP/1.1 302", 302), ("HTTP/1.1 999 x", 999), ("HTTP/1.1 100 x", 100),
            ("HTTP/1.1 099 x", nil), ("HTTP/1.1 000", nil), ("HTTP/2 020 ", nil),
            ("HTTP/1.1", nil), ("HTTP/1.1 ", nil), ("HTTP/1.1 20", nil), ("HTTP/1.1 2000", nil), ("HTTP/1.1 2xx", nil),
            ("http/1.1 200 OK", nil), ("HTTP/11 200 OK", nil), ("HTTP/1. 200 OK", nil), (" HTTP/1.1 200 OK", nil),
            ("HTTP/1.1200 OK", nil), ("HTTP/1.1  200 OK", nil), ("HTTP/1.1\t200 OK", nil), ("", nil),
        ])
    func statusLines(text: String, status: Int?) {
        #expect(statusLine(text)?.status == status)
    }

    @Test("Blanks may be in the place of the first space, if the caller allows it")
    func blanks() {
        for text in ["HTTP/1.1  200 OK", "HTTP/1.1\t200 OK", "HTTP/1.1 \t 200"] {
            #expect(statusLine(text, allowsBlanks: true)?.status == 200)
        }
        #expect(statusLine("HTTP/1.1200 OK", allowsBlanks: true) == nil)
        #expect(statusLine("HTTP/1.1 ", allowsBlanks: true) == nil)
    }

    @Test("The beginning of a status line may become one, and nothing else may")
    func beginnings() {
        let line = "HTTP/1.1 200 OK"
        for count in 0..<12 {
            #expect(match(line.prefix(count)) == .partly)
            #expect(match(line.prefix(count) + "!") == .no)
        }
        for count in 13...15 { #expect(match(line.prefix(count)) == .yes) }
    }

    @Test(
        "A proxy responds with 407, or with a status that opens a tunnel",
        arguments: [
            ("HTTP/1.1 407 Proxy Authentication Required", true), ("HTTP/1.1 200 Connection established", true),
            ("HTTP/1.0 200 connection ESTABLISHED ", true), ("HTTP/1.1 200 OK", false),
            ("HTTP/1.1 302 Connection established", false),
        ])
    func proxies(text: String, isFromProxy: Bool) {
        #expect(statusLine(text)?.isFromProxy == isFromProxy)
    }

    @Test(
        "A field line is a name, a colon and a value, without the blanks around them",
        arguments: [
            ("Set-Cookie: a=1", "Set-Cookie", "a=1"), ("a:b:c", "a", "b:c"), ("a \t:\t b \t", "a", "b"),
            ("a:", "a", ""), ("Set- Cookie: a=1", "Set- Cookie", "a=1"),
        ])
    func fieldLines(text: String, name: String, value: String) {
        let parts = parts(text)
        #expect(parts?.name == name && parts?.value == value)
    }

    @Test(
        "A field line needs a colon and a name", arguments: ["", "a", " ", ":", ": a", " : a", ":method: GET"])
    func noFieldLines(text: String) {
        #expect(parts(text) == nil)
    }

    /// What the lines come to, in the order in which they do.
    private func outcomes(_ lines: [[UInt8]]) -> [String] {
        var fields = FieldLines()
        var texts: [String] = []
        func note(_ outcome: FieldLines.Outcome) {
            switch outcome {
            case .none: break
            case .field(let line): texts.append("\(line.number) \(Octets(line.octets).description.prefix(40))")
            case .misplaced(let line): texts.append("misplaced \(line)")
            case .tooLong(let line): texts.append("too long \(line)")
            }
        }
        for (index, line) in lines.enumerated() { note(fields.take(line.span, number: index + 1)) }
        note(fields.end())
        return texts
    }

    @Test("A folded line goes on with the field line before it, after one space")
    func folding() {
        let lines = ["a: 1", "  2 \t", "\t3", "b: 1", "c: 1"].map { Array($0.utf8) }
        #expect(outcomes(lines) == ["1 a: 1 2 3", "4 b: 1", "5 c: 1"])
        #expect(outcomes([Array(" a: 1".utf8), Array("b: 1".utf8)]) == ["misplaced 1", "2 b: 1"])
    }

    @Test("A field line that folded lines make too long is left out, and so is its continuation")
    func limit() {
        let half = Array("a:".utf8) + [UInt8](repeating: 0x78, count: LineBuffer.byteLimit / 2)
        let fold = [ASCII.space] + half
        #expect(outcomes([half, fold, fold, Array("b: 1".utf8)]) == ["too long 1", "misplaced 3", "4 b: 1"])
    }
}
