import HTTPMessages
import Testing
import WebPrimitives

@Suite("The syntax of HTTP/1.1 messages")
struct MessageSyntaxTests {
    private func head(_ text: String, _ sender: MessageHead.Sender = .client) throws(MessageError) -> MessageHead {
        try MessageHead(Array(text.utf8), from: sender)
    }

    private func text(_ head: MessageHead, _ range: Range<Int>) -> String {
        String(decoding: head.octets[range], as: UTF8.self)
    }

    @Test("A head ends behind its empty line, however it arrives")
    func ends() {
        let text = Array("GET / HTTP/1.1\r\nA: b\r\n\r\nrest".utf8)
        for count in 0..<text.count {
            let bytes = Array(text[..<count])
            // From every place that the search may begin at again.
            for start in 0...max(0, min(count - 3, 19)) {
                #expect(MessageHead.end(in: bytes.span, from: start) == (count < 24 ? nil : 24))
            }
        }
        #expect(MessageHead.end(in: Array("A\n\nB".utf8).span, from: 0) == 3)
    }

    @Test("A head has the ranges of its lines, names and values")
    func fields() throws {
        let head = try head("GET / HTTP/1.1\r\nHost:  a.example \r\nX-Y:\r\nx-y:\t1\t2\t\r\n\r\n")
        #expect(text(head, head.startLine) == "GET / HTTP/1.1")
        #expect(head.fields.map { text(head, $0.name) } == ["Host", "X-Y", "x-y"])
        #expect(head.fields.map { text(head, $0.value) } == ["a.example", "", "1\t2"])
        #expect(head.values("x-y") == ["", "1\t2"])
        #expect(text(head, head.fields[0].line) == "Host:  a.example ")
    }

    @Test(
        "A line that two parsers could read differently is refused from a client",
        arguments: [
            ("A: b\n", MessageError.bareLineFeed), ("A: b\r\rc\r\n", .bareCarriageReturn), ("A: \u{0}\r\n", .nullOctet),
            ("A: b\r\n c\r\n", .foldedLine), (" A: b\r\n", .foldedLine), ("A : b\r\n", .fieldInvalid),
            (": b\r\n", .fieldInvalid), ("A\r\n", .fieldInvalid), ("A(: b\r\n", .fieldInvalid),
            ("\u{E9}: b\r\n", .fieldInvalid), ("A\u{1}: b\r\n", .fieldInvalid),
        ])
    func strictness(lines: String, error: MessageError) {
        #expect(throws: error) { try head("GET / HTTP/1.1\r\n\(lines)\r\n") }
    }

    @Test("A value may have any octet but those that end a line, and NUL")
    func octets() throws {
        let octets = Array(UInt8.min...UInt8.max).filter { ![0, 0x0A, 0x0D].contains($0) }
        for sender in [MessageHead.Sender.client, .server] {
            let start = sender == .client ? "GET / HTTP/1.1" : "HTTP/1.1 200 OK"
            let lines = Array("\(start)\r\nA: x".utf8) + octets + Array("x\r\n\r\n".utf8)
            let head = try MessageHead(lines, from: sender)
            #expect(head.values("a") == [Octets(Array("x".utf8) + octets + Array("x".utf8))])
        }
    }

    @Test(
        "A line of a response that is no field is left out, with the lines folded onto it",
        arguments: ["no colon", ": no name", " : no name", "a b: c", "caf\u{E9}: c", "<!-- -->", " folded", "\t"])
    func leftOut(line: String) throws {
        let unfolded = line.trimmingPrefix { $0 == " " || $0 == "\t" }
        let head = try head("HTTP/1.1 200 OK\r\n\(line)\r\nA: b\r\n\(unfolded)!\r\n c: d\r\n\r\n", .server)
        #expect(head.fields.map { text(head, $0.line) } == ["A: b"])
    }

    @Test(
        "A line that is no field is refused in a response if another parser may find the length of the body in it",
        arguments: [
            "Content-Length 5", "Transfer-Encoding", "Transfer-Encoding\u{B}: chunked", "Content Length: 5",
            "\u{1}content-length: 5", ": transfer-encoding: chunked", " Content-Length: 5",
        ])
    func disguisedFraming(line: String) {
        #expect(throws: MessageError.fieldInvalid) { try head("HTTP/1.1 200 OK\r\n\(line)\r\n\r\n", .server) }
    }

    @Test("Errors that a proxy may repair in a response are repaired")
    func mending() throws {
        let head = try head("HTTP/1.1 200 OK\nA : b\nC: d\r\n  e\r\n\tf\n\n", .server)
        #expect(head.values("a") == ["b"])
        #expect(head.values("c") == ["d    e  \tf"])
        #expect(throws: MessageError.nullOctet) { try self.head("HTTP/1.1 200 OK\r\nA: \u{0}\r\n\r\n", .server) }
    }

    @Test("A head has a limit of fields")
    func limits() throws {
        let lines = { String(repeating: "A: b\r\n", count: $0) }
        _ = try head("GET / HTTP/1.1\r\n\(lines(MessageHead.fieldLimit))\r\n")
        #expect(throws: MessageError.headTooLong) {
            try head("GET / HTTP/1.1\r\n\(lines(MessageHead.fieldLimit + 1))\r\n")
        }
    }

    private func line(_ text: String) throws(MessageError) -> RequestLine {
        try RequestLine(Array(text.utf8).span)
    }

    @Test(
        "A request target has one of four forms, and any octets",
        arguments: [
            ("GET / HTTP/1.1", "origin"), ("GET /%zz|[]^\"<> HTTP/1.0", "origin"), ("M-SEARCH * HTTP/1.1", "asterisk"),
            ("GET http://a.example HTTP/1.1", "absolute http a.example "),
            ("GET HTTP://a:80/b?c HTTP/1.1", "absolute HTTP a:80 /b?c"),
            ("GET http://a?b/c HTTP/1.1", "absolute http a ?b/c"),
            ("GET http://[::1]/ HTTP/1.1", "absolute http [::1] /"),
            ("CONNECT a.example:443 HTTP/1.1", "authority"), ("CONNECT / HTTP/1.1", "authority"),
        ])
    func targets(text: String, form: String) throws {
        let bytes = Array(text.utf8)
        let line = try line(text)
        let found =
            switch line.form {
            case .origin: "origin"
            case .asterisk: "asterisk"
            case .authority: "authority"
            case .absolute(let scheme, let authority, let rest):
                "absolute "
                    + [scheme, authority, rest].map { String(decoding: bytes[$0], as: UTF8.self) }
                    .joined(separator: " ")
            }
        #expect(found == form)
    }

    @Test(
        "A request line that is none is refused",
        arguments: [
            ("", MessageError.startLineInvalid), ("GET", .startLineInvalid), ("GET /", .startLineInvalid),
            ("GET  / HTTP/1.1", .startLineInvalid), ("GET /  HTTP/1.1", .startLineInvalid),
            ("GET / HTTP/1.1 ", .startLineInvalid), ("GE(T / HTTP/1.1", .startLineInvalid),
            (" GET / HTTP/1.1", .startLineInvalid),
            ("GET / http/1.1", .startLineInvalid), ("GET / HTTP/1.x", .startLineInvalid),
            ("GET / HTTP/2.0", .versionUnsupported),
            ("GET /\t HTTP/1.1", .targetInvalid), ("GET a HTTP/1.1", .targetInvalid),
            ("GET http:/a HTTP/1.1", .targetInvalid),
            ("GET http:///a HTTP/1.1", .targetInvalid), ("GET http://u:p@a/ HTTP/1.1", .targetInvalid),
        ])
    func requestLines(text: String, error: MessageError) {
        #expect(throws: error) { try line(text) }
    }

    @Test(
        "An authority is a host and perhaps a port",
        arguments: [
            ("a.example", "a.example", nil), ("A.example:80", "a.example", 80), ("[::1]:8080", "[::1]", 8080),
            ("a:", "a", nil),
            ("127.1:1", "127.0.0.1", 1), ("", nil, nil), (":80", nil, nil), ("a:b", nil, nil), ("a:65536", nil, nil),
            ("a:80:80", nil, nil), ("[::1", nil, nil), ("[::1]80", nil, nil), ("a\\b", nil, nil), ("a/b", nil, nil),
        ] as [(String, String?, UInt16?)])
    func authorities(text: String, host: String?, port: UInt16?) {
        let authority = Authority(Octets(text))
        #expect(authority?.host.description == host)
        #expect(authority?.port == port)
    }

    @Test(
        "The framing of a request is certain, or it is refused",
        arguments: [
            ("", .success(.none)), ("Content-Length: 0\r\n", .success(.none)),
            ("content-length: 12\r\n", .success(.length(12))), ("Transfer-Encoding: Chunked\r\n", .success(.chunked)),
            ("Content-Length: 1\r\nContent-Length: 1\r\n", .failure(.lengthRepeated)),
            ("Content-Length: 1, 1\r\n", .failure(.lengthInvalid)),
            ("Content-Length: -1\r\n", .failure(.lengthInvalid)),
            ("Content-Length: 0x1\r\n", .failure(.lengthInvalid)), ("Content-Length:\r\n", .failure(.lengthInvalid)),
            ("Content-Length: 9999999999999999999\r\n", .failure(.lengthInvalid)),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", .failure(.codingUnsupported)),
            ("Transfer-Encoding: gzip, chunked\r\n", .failure(.codingUnsupported)),
            ("Transfer-Encoding: xchunked\r\n", .failure(.codingUnsupported)),
            ("Transfer-Encoding:\r\n", .failure(.codingUnsupported)),
            ("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", .failure(.framingContradictory)),
        ] as [(String, Result<BodyFraming, MessageError>)])
    func requestFraming(fields: String, expected: Result<BodyFraming, MessageError>) throws {
        let head = try head("POST / HTTP/1.1\r\n\(fields)\r\n")
        let framing = Result { () throws(MessageError) in try BodyFraming(ofRequest: head, minorVersion: 1) }
        #expect(framing == expected)
    }

    @Test(
        "The framing of a response depends on its status and its request",
        arguments: [
            (200, false, "", .success(.untilClose)), (200, true, "Content-Length: 5\r\n", .success(.none)),
            (304, false, "Content-Length: 5\r\n", .success(.none)), (204, false, "", .success(.none)),
            (101, false, "", .success(.none)), (200, false, "Content-Length: 5\r\n", .success(.length(5))),
            (200, false, "Content-Length: 5\r\nContent-Length: 5\r\n", .success(.length(5))),
            (200, false, "Content-Length: 5\r\nContent-Length: 6\r\n", .failure(.lengthRepeated)),
            (200, false, "Transfer-Encoding: chunked\r\n", .success(.chunked)),
            (200, false, "Transfer-Encoding: gzip\r\n", .failure(.codingUnsupported)),
            (304, false, "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", .failure(.framingContradictory)),
            (103, false, "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", .success(.none)),
            (100, false, "Content-Length: x\r\nTransfer-Encoding: gzip\r\n", .success(.none)),
        ] as [(Int, Bool, String, Result<BodyFraming, MessageError>)])
    func responseFraming(status: Int, isToHead: Bool, fields: String, expected: Result<BodyFraming, MessageError>)
        throws
    {
        let head = try head("HTTP/1.1 \(status) X\r\n\(fields)\r\n", .server)
        let framing = Result { () throws(MessageError) in
            try BodyFraming(ofResponse: head, status: status, isToHead: isToHead, minorVersion: 1)
        }
        #expect(framing == expected)
    }

    /// Reads a chunked body that arrives in pieces of `size` octets.
    private func body(_ text: String, inPiecesOf size: Int) throws(MessageError) -> (
        data: String, trailers: String, rest: Int
    )? {
        let octets = Array(text.utf8)
        var reader = ChunkedBody()
        var (buffer, data): ([UInt8], [UInt8]) = ([], [])
        var arrived = 0
        while true {
            var position = 0
            let piece = try reader.next(in: buffer.span, from: &position)
            switch piece {
            case .data(let count):
                data += buffer[position..<(position + count)]
                buffer.removeFirst(position + count)
            case .end(let trailers):
                return (
                    String(decoding: data, as: UTF8.self), String(decoding: trailers, as: UTF8.self),
                    octets.count - arrived + buffer.count - position
                )
            case .incomplete:
                buffer.removeFirst(position)
                guard arrived < octets.count else { return nil }
                let end = min(arrived + size, octets.count)
                buffer += octets[arrived..<end]
                arrived = end
            }
        }
    }

    @Test("A body in chunks reads the same in any pieces", arguments: [1, 2, 3, 7, 100])
    func chunks(size: Int) throws {
        let found = try body(
            "0000000000000005;a=\"b\"\r\nhello\r\n0A\r\n, world...\r\n0000000000000000\r\nA: b\r\nC:\r\n\r\nrest",
            inPiecesOf: size)
        let body = try #require(found)
        #expect(body.data == "hello, world...")
        #expect(body.trailers == "A: b\r\nC:\r\n")
        #expect(body.rest == 4)
    }

    @Test(
        "A chunk whose size or end is ambiguous is rejected, in any pieces",
        arguments: [
            ("5\nhello\r\n0\r\n\r\n", MessageError.chunkInvalid), ("5\r\nhello0\r\n\r\n", .chunkInvalid),
            ("5\r\nhello\n0\r\n\r\n", .chunkInvalid), ("+5\r\nhello\r\n0\r\n\r\n", .chunkInvalid),
            ("0x5\r\nhello\r\n0\r\n\r\n", .chunkInvalid), ("5 x\r\nhello\r\n0\r\n\r\n", .chunkInvalid),
            ("\r\n\r\n", .chunkInvalid), ("8000000000000000\r\n", .chunkInvalid),
            ("00000000000000005\r\n", .chunkInvalid), ("FFFFFFFFFFFFFFFF\r\n", .chunkInvalid),
            ("5;\r\u{1}\r\nhello\r\n", .chunkInvalid),
            ("0\r\nA b\r\n\r\n", .trailerInvalid), ("0\r\n A: b\r\n\r\n", .trailerInvalid),
            ("0\r\nA : b\r\n\r\n", .trailerInvalid), ("0\r\nA: \u{0}\r\n\r\n", .trailerInvalid),
            ("0\r\nA: b\rc\r\n\r\n", .trailerInvalid),
        ])
    func invalidChunks(text: String, error: MessageError) {
        for size in [1, 3, 100] { #expect(throws: error) { _ = try body(text, inPiecesOf: size) } }
    }
}
