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
                [":status=200", "data hi", "data  end"]
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

    @Test("A value that is not UTF-8 is sent as the text that it is in Latin-1")
    func latin() throws {
        try receive(Self.request())
        try channel.writeOutbound(
            ByteBuffer(bytes: Array("HTTP/1.1 204 No Content\r\nA: caf".utf8) + [0xE9] + Array("\r\n\r\n".utf8)))
        #expect(try frames() == [":status=204 a=café end"])
    }
}
