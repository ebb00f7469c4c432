import Crypto
import Foundation
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2
import Testing

@testable import SessionGateway

@Suite("A stream of HTTP/2 as a connection of HTTP/1.1")
struct HTTP2StreamTests {
    private let channel: EmbeddedChannel

    init() throws {
        channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(HTTP2StreamCodec())
    }

    private func receive(_ headers: HPACKHeaders, ends: Bool = true) throws {
        let payload = HTTP2Frame.FramePayload.headers(.init(headers: headers, endStream: ends))
        try channel.writeInbound(payload)
    }

    private func octets() throws -> String {
        var text = ""
        while let buffer = try channel.readInbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
        return text
    }

    /// What went out, a line for each frame.
    private func frames() throws -> [String] {
        var frames: [String] = []
        while let frame = try channel.readOutbound(as: HTTP2Frame.FramePayload.self) {
            switch frame {
            case .headers(let headers):
                let fields = headers.headers.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
                frames.append("\(fields)\(headers.endStream ? " end" : "")")
            case .data(let data):
                guard case .byteBuffer(let octets) = data.data else { continue }
                frames.append("data \(String(buffer: octets))\(data.endStream ? " end" : "")")
            case .rstStream(let code): frames.append("reset \(code.networkCode)")
            default: frames.append("other")
            }
        }
        return frames
    }

    private static func request(_ fields: (String, String)...) -> HPACKHeaders {
        HPACKHeaders(
            [(":method", "GET"), (":scheme", "https"), (":authority", "shop.example"), (":path", "/%zz?a|b")] + fields)
    }

    @Test("A request has one Cookie field and no field for one connection only")
    func request() throws {
        try receive(Self.request(("cookie", "a=1"), ("x-a", "Grüße"), ("cookie", "b=2"), ("upgrade", "x")))
        let expected = "GET /%zz?a|b HTTP/1.1\r\nHost: shop.example\r\nx-a: Grüße\r\ncookie: a=1; b=2\r\n\r\n"
        #expect(try octets() == expected)
    }

    @Test("A body without a length is sent in chunks, with its trailers")
    func body() throws {
        try receive(Self.request(), ends: false)
        try channel.writeInbound(HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(ByteBuffer(string: "hello")))))
        try receive(HPACKHeaders([("x-end", "1")]))
        #expect(try octets().hasSuffix("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-end: 1\r\n\r\n"))
    }

    @Test("A body with a length is sent in chunks if trailers are announced, which it could not have otherwise")
    func announcedTrailers() throws {
        try receive(Self.request(("content-length", "5"), ("trailer", "x-end")), ends: false)
        try channel.writeInbound(HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(ByteBuffer(string: "hello")))))
        try receive(HPACKHeaders([("x-end", "1")]))
        let request = try octets()
        #expect(!request.contains("content-length"))
        #expect(request.hasSuffix("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-end: 1\r\n\r\n"))
    }

    @Test(
        "What HTTP/1.1 cannot say is refused, and nothing of it passes",
        arguments: [
            (("x-a", "1\r\nx-b: 2"), "reset 1"), (("x-a", "1\n2"), "reset 1"), (("x-a\r\nx-b", "1"), "reset 1"),
            (("x a", "1"), "reset 1"), (("host", "other.example"), "reset 1"), (("x-a", "caf\u{FFFD}"), "reset 13"),
        ])
    func refused(field: (String, String), frame: String) throws {
        #expect(throws: (any Error).self) { try receive(Self.request(field, ("content-length", "30")), ends: false) }
        // What follows is no request of its own.
        let hidden = ByteBuffer(string: "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n")
        try channel.writeInbound(HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(hidden), endStream: true)))
        #expect(try octets().isEmpty)
        #expect(try frames() == [frame])
    }

    @Test(
        "A response becomes frames, in whatever pieces it is written",
        arguments: [
            ("HTTP/1.1 204 No Content\r\nA: 1\r\n\r\n", [":status=204 a=1 end"]),
            (
                "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                [":status=103 link=x", ":status=200 content-length=0 end"]
            ),
            (
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\nSet-Cookie: a=1\r\n\r\nhi",
                [":status=200 content-length=2 set-cookie=a=1", "data hi end"]
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
                [":status=200", "data hi end"]
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-End: 1\r\n\r\n",
                [":status=200", "data hi", "x-end=1 end"]
            ),
        ], [1, 1000])
    func response(_ response: (octets: String, frames: [String]), size: Int) throws {
        try receive(Self.request())
        var rest = Array(response.octets.utf8)[...]
        while !rest.isEmpty {
            try channel.writeOutbound(ByteBuffer(bytes: rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        let written = try frames()
        guard size > 1 else {
            // Data comes in as many frames as there were pieces.
            let data = written.filter { $0.hasPrefix("data") }.map { $0.dropFirst(5).prefix { $0 != " " } }.joined()
            let expected = response.frames.filter { $0.hasPrefix("data") }.map { $0.dropFirst(5).prefix { $0 != " " } }
            #expect(data == expected.joined())
            #expect(written.count { $0.hasSuffix(" end") } == 1 && written.last?.hasSuffix(" end") == true)
            return
        }
        #expect(written == response.frames)
    }

    @Test("The response to HEAD has no body, whatever its length")
    func head() throws {
        var headers = Self.request()
        headers.replaceOrAdd(name: ":method", value: "HEAD")
        try receive(headers)
        try channel.writeOutbound(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"))
        #expect(try frames() == [":status=200 content-length=5 end"])
    }

    /// The request that opens a WebSocket.
    private static func opening(_ fields: (String, String)...) -> HPACKHeaders {
        HPACKHeaders(
            [
                (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"),
                (":authority", "shop.example"), (":path", "/chat"), ("sec-websocket-version", "13"),
            ] + fields)
    }

    /// Opens a WebSocket.
    ///
    /// - Returns: The server's answer that accepts it.
    private func openWebSocket() throws -> String {
        try receive(Self.opening(("cookie", "a=1")), ends: false)
        let request = try octets()
        #expect(
            request.hasPrefix(
                "GET /chat HTTP/1.1\r\nHost: shop.example\r\nsec-websocket-version: 13\r\ncookie: a=1\r\n"))
        let lines = request.split(separator: "\r\n").map(String.init)
        #expect(lines.contains("Connection: Upgrade") && lines.contains("Upgrade: websocket"))
        let key = try #require(lines.first { $0.hasPrefix("Sec-WebSocket-Key: ") }).dropFirst(19)
        let proof = Insecure.SHA1.hash(data: Data("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
        return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(Data(proof).base64EncodedString())\r\nA: 1\r\n\r\n"
    }

    @Test("An extended CONNECT is the handshake of a WebSocket, whose octets pass both ways to their ends")
    func webSocket() throws {
        try channel.writeOutbound(ByteBuffer(string: openWebSocket() + "hello"))
        #expect(try frames() == [":status=200 a=1", "data hello"])
        let end = HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(ByteBuffer(string: "bye")), endStream: true))
        try channel.writeInbound(end)
        #expect(try octets() == "bye")
        channel.close(mode: .output, promise: nil)
        #expect(try frames() == ["data  end"])
    }

    @Test("An answer that proves no handshake opens no WebSocket")
    func webSocketNotAccepted() throws {
        let answer = try openWebSocket().replacing("Sec-WebSocket-Accept: ", with: "Sec-WebSocket-Accept: x")
        try channel.writeOutbound(ByteBuffer(string: answer + "hello"))
        #expect(try frames() == ["reset 10"])
    }

    @Test(
        "A server that opens no WebSocket answers, and never with a success",
        arguments: [
            (401, [":status=401 content-length=2", "data no end"]),
            (200, [":status=502 content-length=2", "data no end"]),
        ])
    func webSocketRefused(status: Int, expected: [String]) throws {
        _ = try openWebSocket()
        try channel.writeOutbound(ByteBuffer(string: "HTTP/1.1 \(status) A\r\nContent-Length: 2\r\n\r\nno"))
        #expect(try frames() == expected)
    }

    @Test("A CONNECT for anything else is refused")
    func connect() throws {
        var headers = Self.opening()
        headers.replaceOrAdd(name: ":protocol", value: "connect-udp")
        #expect(throws: (any Error).self) { try receive(headers, ends: false) }
        #expect(try frames() == ["reset 1"])
    }

    @Test(
        "A value that is not UTF-8 is sent as the text that it is in Latin-1; in Location, it is percent-encoded",
        arguments: [
            (Array("204 No Content\r\nA: caf".utf8) + [0xE9], ":status=204 a=café end"),
            (Array("302 Found\r\nLocation: /é?".utf8) + [0xFF], ":status=302 location=/%C3%A9?%FF"),
        ])
    func latin(response: [UInt8], frame: String) throws {
        try receive(Self.request())
        try channel.writeOutbound(
            ByteBuffer(bytes: Array("HTTP/1.1 ".utf8) + response + Array("\r\n\r\n".utf8)))
        #expect(try frames() == [frame])
    }
}
