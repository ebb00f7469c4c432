import NIOCore
import NIOEmbedded
import Testing

@testable import SessionGateway

@Suite("Frames that are longer than the other side takes them")
struct HTTP2FrameAdapterTests {
    private static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 1, _ payload: [UInt8]) -> [UInt8] {
        let length = payload.count
        return [UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type, flags]
            + [24, 16, 8, 0].map { UInt8(stream >> $0 & 0xFF) } + payload
    }

    private static let acknowledgement = frame(4, flags: 1, stream: 0, [])
    private static let magic = [UInt8]("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private static func frameSize(_ size: Int) -> [UInt8] {
        frame(4, stream: 0, [0, 5] + [24, 16, 8, 0].map { UInt8(size >> $0 & 0xFF) })
    }

    /// The frames in octets: type, flags and payload.
    private static func frames(_ octets: [UInt8]) -> [(type: UInt8, flags: UInt8, payload: [UInt8])] {
        var frames: [(type: UInt8, flags: UInt8, payload: [UInt8])] = []
        var rest = octets[...]
        while rest.count >= 9 {
            let header = Array(rest.prefix(9))
            let length = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
            frames.append((header[3], header[4], Array(rest.dropFirst(9).prefix(length))))
            rest = rest.dropFirst(9 + length)
        }
        return frames
    }

    private static func channel(_ side: HTTP2FrameAdapter.Side) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(HTTP2FrameAdapter(side))
        return channel
    }

    private static func receive(_ octets: [UInt8], in channel: EmbeddedChannel, piece: Int) throws -> [UInt8] {
        var rest = octets[...]
        while !rest.isEmpty {
            try channel.writeInbound(ByteBuffer(bytes: rest.prefix(piece)))
            rest = rest.dropFirst(piece)
        }
        var received: [UInt8] = []
        while let octets = try channel.readInbound(as: ByteBuffer.self) { received += Array(buffer: octets) }
        return received
    }

    private static func send(_ octets: [UInt8], in channel: EmbeddedChannel, piece: Int = .max) throws -> [UInt8] {
        var rest = octets[...]
        while !rest.isEmpty {
            try channel.writeOutbound(ByteBuffer(bytes: rest.prefix(piece)))
            rest = rest.dropFirst(piece)
        }
        var sent: [UInt8] = []
        while let octets = try channel.readOutbound(as: ByteBuffer.self) { sent += Array(buffer: octets) }
        return sent
    }

    @Test(
        "The other side seems to take frames of any size, and to have acknowledged the first settings",
        arguments: [1, 10, 1000])
    func settings(piece: Int) throws {
        let channel = try Self.channel(.server)
        let data = Self.frame(0, Array("hello".utf8))
        let octets = Self.magic + Self.frameSize(20_000) + data + Self.acknowledgement + data + Self.acknowledgement
        let received = try Self.receive(octets, in: channel, piece: piece)
        let largest = Self.frameSize(0xFF_FFFF)
        #expect(
            received == Self.magic + largest + Self.acknowledgement + largest + data + data + Self.acknowledgement)
        // Of its own acknowledgements, the first one is for settings that nobody has sent.
        #expect(try Self.send(Self.acknowledgement + Self.acknowledgement, in: channel) == Self.acknowledgement)
    }

    @Test("A head that is too long for one frame has CONTINUATION frames", arguments: [0, 20_000])
    func heads(limit: Int) throws {
        let channel = try Self.channel(.server)
        if limit > 0 { _ = try Self.receive(Self.magic + Self.frameSize(limit), in: channel, piece: 1000) }
        let head = (0..<45_000).map { UInt8(truncatingIfNeeded: $0) }
        let short = Self.frame(1, flags: 5, Array(head.prefix(100)))
        let sent = try Self.send(Self.frame(1, flags: 5, head) + short, in: channel)
        let frames = Self.frames(sent)
        #expect(frames.map(\.type) == [1, 9, 9, 1])
        // The first one ends the stream, the last one the head.
        #expect(frames.map(\.flags) == [1, 0, 4, 5])
        #expect(frames.prefix(3).flatMap(\.payload) == head)
        #expect(frames.allSatisfy { $0.payload.count <= max(limit, 16_384) })
        #expect(sent.suffix(short.count).elementsEqual(short))
    }

    @Test(
        "A body has frames that the other side takes, in whatever pieces it is written", arguments: [7, 10_000, .max])
    func bodies(piece: Int) throws {
        let channel = try Self.channel(.client)
        let body = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let octets = Self.magic + Self.frame(0, flags: 1, body) + Self.frame(0, stream: 3, [1, 2])
        // A frame's header is written whole.
        let start = Self.magic.count + 9
        var sent = try Self.send(Array(octets.prefix(start)), in: channel)
        sent += try Self.send(Array(octets.dropFirst(start)), in: channel, piece: piece)
        #expect(sent.starts(with: Self.magic))
        let frames = Self.frames(Array(sent.dropFirst(Self.magic.count)))
        #expect(frames.map(\.payload.count) == [16_384, 16_384, 7232, 2])
        #expect(frames.map(\.flags) == [0, 0, 1, 0])
        #expect(frames.prefix(3).flatMap(\.payload) == body)
    }
}
