import CookieModel
import RequestDecoration
import TestSupport
import Testing

@testable import CrumbCommands

@Suite struct CurlStreamsTests {
    static let dump = Array(
        """
        HTTP/1.1 100 Continue\r
        \r
        HTTP/1.1 401 Unauthorized\r
        Set-Cookie: a=1\r
        \r
        HTTP/2 302 \r
        set-cookie:  b=2; Path=/ \r
        SET-COOKIE: c=3;\r
         Secure\r
        location:\r
        Location: /next\r
        Location: /other\r
        \r
        Set-Cookie: trailer=1\r
        \r

        """.utf8)

    @Test func `every block of a dump is read, wherever it is cut`() throws {
        for size in 1...40 {
            var reader = HeaderDumpReader()
            var blocks: [ResponseHead] = []
            for start in stride(from: 0, to: Self.dump.count, by: size) {
                blocks += reader.read(Array(Self.dump[start..<min(start + size, Self.dump.count)]))
            }
            #expect(blocks.map(\.status) == [100, 401, 302])
            #expect(blocks.map(\.setCookie) == [[], ["a=1"], ["b=2; Path=/", "c=3; Secure"]])
            #expect(blocks.map(\.location) == [nil, nil, "/next"])
        }
    }

    @Test func `a block that was cut off sets nothing`() {
        var reader = HeaderDumpReader()
        #expect(reader.read(Array("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n".utf8)).isEmpty)
    }

    @Test func `octets of a value stay as they are`() {
        var reader = HeaderDumpReader()
        let value: [UInt8] = [0x61, 0x3D, 0x22, 0xFF, 0xC3, 0x09, 0x5C, 0x22]
        let blocks = reader.read(Array("HTTP/1.1 200\r\nSet-Cookie: ".utf8) + value + Array("\r\n\r\n".utf8))
        #expect(blocks.first?.setCookie == [Octets(value)])
    }

    @Test func `a name with a blank in it is another name, and a line without end sets nothing`() {
        var reader = HeaderDumpReader()
        let long = "Set-Cookie: b=" + String(repeating: "x", count: 1 << 20)
        let dump = "HTTP/1.1  200 OK\r\nSet- Cookie: a=1\r\n\(long)\r\n c=1\r\nSet-Cookie : d=1\r\n\r\n"
        #expect(reader.read(Array(dump.utf8)).map(\.setCookie) == [["d=1"]])
    }

    @Test func `what is written out is told from the body, wherever it is cut`() {
        let body: [UInt8] = Array("body \u{1}crumb \u{1}".utf8) + [0xFF, 0x00, 0x01]
        for size in 1...50 {
            var writeOut = WriteOut()
            let format = writeOut.format(
                Array("%%{stderr} %{num_redirects}%{stderr}e%{stdout}o".utf8), redirectCount: 7)
            let stream = body + format
            var output: [UInt8] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                output += writeOut.take(Array(stream[start..<min(start + size, stream.count)]))
            }
            let (rest, pieces) = writeOut.finish()
            #expect(output + rest == body)
            #expect(pieces.map { String(decoding: $0.text, as: UTF8.self) } == ["%%{stderr} 7", "e", "o"])
            #expect(pieces.map(\.toError) == [false, true, false])
        }
    }

    @Test func `only the last complaint waits`() {
        let text = Array(
            "* Trying\n* Maximum (0) redirects followed\ncurl: (28) once\ncurlish\r  5%\rcurl: (47) last\n".utf8)
        for size in 1...text.count {
            var messages = CurlStderrFilter()
            var output: [UInt8] = []
            for start in stride(from: 0, to: text.count, by: size) {
                output += messages.take(Array(text[start..<min(start + size, text.count)]))
            }
            #expect(String(decoding: output, as: UTF8.self) == "* Trying\ncurl: (28) once\ncurlish\r  5%\r")
            #expect(String(decoding: messages.finish(), as: UTF8.self) == "curl: (47) last\n")
        }
    }
}
