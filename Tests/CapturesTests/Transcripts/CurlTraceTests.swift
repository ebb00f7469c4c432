import CookieModel
import Testing

@testable import Captures

@Suite("curl --trace-ascii and --trace")
struct CurlTraceTests {
    /// Data as curl writes it, as text or in hexadecimal.
    static func section(_ heading: String, _ text: String, inHexadecimal: Bool) -> String {
        let bytes = Array(text.utf8)
        var lines = ["\(heading), \(bytes.count) bytes (0x\(String(bytes.count, radix: 16)))"]
        func offset(_ position: Int) -> String {
            let digits = String(position, radix: 16)
            return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
        var position = 0
        while position < bytes.count {
            if inHexadecimal {
                let row = bytes[position..<min(position + 16, bytes.count)]
                let digits = row.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) + " " }.joined()
                let shown = row.map { (0x20..<0x7F).contains($0) ? String(UnicodeScalar($0)) : "." }.joined()
                lines.append(
                    "\(offset(position)): " + digits + String(repeating: " ", count: 48 - digits.count) + shown)
                position += 16
            } else {
                var line = ""
                let start = position
                while position < bytes.count, position - start < 64, bytes[position] != 0x0D {
                    line += (0x20..<0x7F).contains(bytes[position]) ? String(UnicodeScalar(bytes[position])) : "."
                    position += 1
                }
                if position < bytes.count, bytes[position] == 0x0D { position += 2 }
                lines.append("\(offset(start)): \(line)")
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    @Test("A curl trace may have progress and a handshake before the connection's remark", arguments: [false, true])
    func current(inHexadecimal: Bool) {
        let text =
            CurlVerboseTests.heading + CurlVerboseTests.meter + "== Info:   Trying 127.0.0.1:443...\n"
            + "== Info: SSL connection using TLSv1.3 / TLS_AES_256_GCM_SHA384\n"
            + "== Info: Established connection to a.test (127.0.0.1 port 443) from 127.0.0.1 port 4000\n"
            + Self.section(
                "=> Send header", "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", inHexadecimal: inHexadecimal)
            + CurlVerboseTests.currentMeter
            + Self.section("<= Recv header", "HTTP/1.1 200 OK\r\n", inHexadecimal: inHexadecimal)
            + Self.section("<= Recv header", "Set-Cookie: a=1; Secure\r\n", inHexadecimal: inHexadecimal)
            + Self.section("<= Recv header", "\r\n", inHexadecimal: inHexadecimal)
        #expect(Capture(text).summary == ["200 https://a.test/ [a=1; Secure]"])
    }

    @Test(
        "Lines of any length in a curl trace are restored, even if they end at a line of the trace",
        arguments: [false, true])
    func lengths(inHexadecimal: Bool) {
        for length in Array(0...70) + [127, 128, 129, 1000] {
            let cookie = "a=" + String(repeating: "0 f:", count: 300).prefix(length)
            var text = "== Info: Connected to a.test (127.0.0.1) port 80 (#0)\n"
            text += Self.section(
                "=> Send header", "GET /\(cookie.filter { $0 != " " }) HTTP/1.1\r\nHost: a.test\r\n\r\n",
                inHexadecimal: inHexadecimal)
            for line in ["HTTP/1.1 200 OK\r\n", "Set-Cookie: \(cookie)\r\n", "Set-Cookie: b=2\r\n", "\r\n"] {
                text += Self.section("<= Recv header", line, inHexadecimal: inHexadecimal)
            }
            text += Self.section(
                "<= Recv data", "HTTP/1.1 200 OK\r\nSet-Cookie: body=1\r\n\r\n", inHexadecimal: inHexadecimal)
            let responses = Capture(text).responses
            let trimmed = cookie.hasSuffix(" ") ? String(cookie.dropLast()) : cookie
            #expect(responses.map(\.setCookie) == [[Octets(trimmed), "b=2"]], "\(length)")
            #expect(responses.map(\.url) == ["http://a.test/\(cookie.filter { $0 != " " })"], "\(length)")
        }
    }

    @Test("Octets beyond ASCII in a curl trace survive only in hexadecimal")
    func octets() {
        for inHexadecimal in [true, false] {
            let text = ["HTTP/1.1 200 OK\r\n", "Set-Cookie: a=é\r\n", "\r\n"]
                .map { Self.section("<= Recv header", $0, inHexadecimal: inHexadecimal) }.joined()
            let lines = Capture(text, url: "https://a.test/").responses.flatMap(\.setCookie)
            #expect(lines == [inHexadecimal ? "a=é" : "a=.."])
        }
    }

    @Test("A curl trace without responses is reported")
    func nothing() {
        #expect(Capture("== Info: x\n").summary == ["input-unrecognized at x"])
    }
}
