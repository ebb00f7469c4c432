import NIOCore
import NIOHTTP2

/// Lets NIOHTTP2 read and write heads that are longer than one frame. It is between NIOHTTP2 and the network.
///
/// NIOHTTP2 writes no CONTINUATION frames, and reads long heads only after the other side has acknowledged its
/// settings. So this handler makes NIOHTTP2 believe that the other side accepts frames of any size and has acknowledged
/// the first settings at once. It splits a HEADERS frame that is too long for the other side into one with CONTINUATION
/// frames after it (RFC 9113, section 6.10), and a DATA frame into several ones.
final class HTTP2FrameAdapter: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The role of the gateway on the connection.
    enum Side {
        case client
        case server
    }

    /// Announces the length of heads that NIOHTTP2 reads. A longer one ends the connection, because the state of the
    /// compression is lost with it. This is larger than `MessageHead.byteLimit`, beyond which only the head itself is
    /// refused.
    static let headSetting = HTTP2Setting(parameter: .maxHeaderListSize, value: 1 << 20)
    /// How many CONTINUATION frames a head has at most. The length of all of them is limited, too.
    static let continuationLimit = 128

    private static let magicLength = 24
    private static let headerLength = 9
    /// The largest possible frame (RFC 9113, section 4.2).
    private static let largestFrame = 1 << 24 - 1
    private static let leastLimit = 1 << 14

    private enum FrameType {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let settings: UInt8 = 4
        static let goAway: UInt8 = 7
        static let continuation: UInt8 = 9
    }

    private enum Flag {
        /// A flag. In SETTINGS it means an acknowledgement, in DATA and HEADERS the end of the stream.
        static let acknowledges: UInt8 = 1
        static let endsStream: UInt8 = 1
        static let endsHeaders: UInt8 = 4
    }

    /// The first nine octets of a frame (RFC 9113, section 4.1).
    private struct Header {
        var length: Int
        let type: UInt8
        var flags: UInt8
        let stream: UInt32

        init(length: Int, type: UInt8, flags: UInt8, stream: UInt32 = 0) {
            (self.length, self.type, self.flags, self.stream) = (length, type, flags, stream)
        }

        /// Reads the header at a position; `nil` if it is incomplete.
        init?(_ octets: ByteBuffer, at position: Int) {
            guard let start = octets.getInteger(at: position, as: UInt32.self),
                let flags = octets.getInteger(at: position + 4, as: UInt8.self),
                let stream = octets.getInteger(at: position + 5, as: UInt32.self)
            else { return nil }
            self.init(length: Int(start >> 8), type: UInt8(truncatingIfNeeded: start), flags: flags, stream: stream)
        }

        /// The header, in a buffer with room for the rest of the frame.
        var octets: ByteBuffer {
            var octets = ByteBuffer()
            octets.reserveCapacity(HTTP2FrameAdapter.headerLength + (type == FrameType.data ? 0 : length))
            octets.writeInteger(UInt32(length) << 8 | UInt32(type))
            octets.writeInteger(flags)
            octets.writeInteger(stream)
            return octets
        }
    }

    /// Finds the frames in the octets of one direction.
    private struct Scanner {
        /// How many octets of the current frame, or of the client's preface, are still missing.
        var rest = 0
        /// Octets that wait for the rest of their frame.
        var pending = ByteBuffer()

        /// Skips octets of the current frame.
        ///
        /// - Returns: How many were skipped.
        mutating func skip(in octets: ByteBuffer, at position: Int) -> Int {
            let count = min(rest, octets.writerIndex - position)
            rest -= count
            return count
        }
    }

    private var inbound = Scanner()
    private var outbound = Scanner()
    /// How long a frame for the other side may be.
    private var frameLimit = HTTP2FrameAdapter.leastLimit
    private var hasBegun = false
    /// Whether the other side's acknowledgement of the first settings was dropped, because NIOHTTP2 has had one
    /// already.
    private var hasDroppedInbound = false
    /// Whether NIOHTTP2's acknowledgement of settings that the other side has not sent was dropped.
    private var hasDroppedOutbound = false
    /// The header of the rest of a DATA frame that is written in parts.
    private var dividedData: Header?

    /// Whether NIOHTTP2 has reported an error of the connection to the other side (RFC 9113, section 5.4.1).
    private var hasFailed = false

    private let side: Side
    private var context: ChannelHandlerContext?

    init(_ side: Side) {
        self.side = side
        if side == .server { inbound.rest = Self.magicLength } else { outbound.rest = Self.magicLength }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Whether an error that NIOHTTP2 or the network reports ends the connection. An error of one stream ends only that
    /// stream (section 5.4.2).
    func endsConnection(_ error: any Error) -> Bool {
        hasFailed || !(error is any NIOHTTP2Error)
    }

    // MARK: - From the other side

    /// Gives NIOHTTP2 the settings that the other side may send much later. If the gateway is the client, call it when
    /// NIOHTTP2 has sent its settings. If it is the server, they follow the client's preface.
    func begin() {
        guard let context, !hasBegun else { return }
        hasBegun = true
        var settings = Header(length: 6, type: FrameType.settings, flags: 0).octets
        settings.writeInteger(Self.frameSizeParameter)
        settings.writeInteger(UInt32(Self.largestFrame))
        settings.writeImmutableBuffer(
            Header(length: 0, type: FrameType.settings, flags: Flag.acknowledges).octets)
        context.fireChannelRead(wrapInboundOut(settings))
        if side == .client { context.fireChannelReadComplete() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let octets = inbound.pending.followed(by: unwrapInboundIn(data))
        inbound.pending = ByteBuffer()
        var start = octets.readerIndex
        var position = start + inbound.skip(in: octets, at: start)
        func pass(to end: Int) {
            if let slice = octets.getSlice(at: start, length: end - start), slice.readableBytes > 0 {
                context.fireChannelRead(wrapInboundOut(slice))
            }
            start = end
        }
        if side == .server, inbound.rest == 0, !hasBegun {
            pass(to: position)
            begin()
        }
        while inbound.rest == 0, let header = Header(octets, at: position) {
            let end = position + Self.headerLength + header.length
            guard header.type == FrameType.settings, header.length <= Self.leastLimit else {
                position += Self.headerLength
                inbound.rest = header.length
                position += inbound.skip(in: octets, at: position)
                continue
            }
            guard end <= octets.writerIndex else { break }
            pass(to: position)
            position = end
            if header.flags & Flag.acknowledges != 0, !hasDroppedInbound {
                hasDroppedInbound = true
                start = end
            } else if let settings = octets.getSlice(at: start, length: end - start) {
                start = end
                context.fireChannelRead(wrapInboundOut(limitless(settings)))
            }
        }
        pass(to: position)
        if position < octets.writerIndex {
            inbound.pending = octets.getSlice(at: position, length: octets.writerIndex - position) ?? ByteBuffer()
        }
    }

    private static let frameSizeParameter: UInt16 = 5

    /// Stores the longest frame that the other side accepts, and hides the limit from NIOHTTP2.
    private func limitless(_ frame: ByteBuffer) -> ByteBuffer {
        var frame = frame
        var position = frame.readerIndex + Self.headerLength
        while let parameter = frame.getInteger(at: position, as: UInt16.self),
            let value = frame.getInteger(at: position + 2, as: UInt32.self)
        {
            // NIOHTTP2 rejects an invalid limit.
            if parameter == Self.frameSizeParameter, Self.leastLimit...Self.largestFrame ~= Int(value) {
                frameLimit = Int(value)
                frame.setInteger(UInt32(Self.largestFrame), at: position + 2)
            }
            position += 6
        }
        return frame
    }

    // MARK: - To the other side

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let octets = outbound.pending.followed(by: unwrapOutboundIn(data))
        outbound.pending = ByteBuffer()
        var parts: [ByteBuffer] = []
        var start = octets.readerIndex
        var position = start
        func pass(to end: Int) {
            if let slice = octets.getSlice(at: start, length: end - start), slice.readableBytes > 0 {
                parts.append(slice)
            }
            start = end
        }
        scan: while true {
            position += outbound.skip(in: octets, at: position)
            guard outbound.rest == 0 else { break }
            if let rest = dividedData {
                pass(to: position)
                parts.append(next(of: rest))
                continue
            }
            guard let header = Header(octets, at: position) else { break }
            let end = position + Self.headerLength + header.length
            switch header.type {
            case FrameType.settings where header.flags & Flag.acknowledges != 0 && !hasDroppedOutbound:
                hasDroppedOutbound = true
                pass(to: position)
                (start, position) = (end, end)
            case FrameType.headers where header.length > frameLimit:
                // NIOHTTP2 writes the whole frame at once.
                guard end <= octets.writerIndex else { break scan }
                pass(to: position)
                parts += divided(header, octets, at: position + Self.headerLength)
                (start, position) = (end, end)
            case FrameType.data where header.length > frameLimit:
                pass(to: position)
                position += Self.headerLength
                start = position
                parts.append(next(of: header))
            case FrameType.goAway:
                guard end <= octets.writerIndex else { break scan }
                let code = octets.getInteger(at: position + Self.headerLength + 4, as: UInt32.self)
                if code != 0 { hasFailed = true }
                position = end
            default:
                position += Self.headerLength
                outbound.rest = header.length
            }
        }
        pass(to: position)
        if position < octets.writerIndex {
            outbound.pending = octets.getSlice(at: position, length: octets.writerIndex - position) ?? ByteBuffer()
        }
        guard let last = parts.popLast() else {
            promise?.succeed()
            return
        }
        for part in parts { context.write(wrapOutboundOut(part), promise: nil) }
        context.write(wrapOutboundOut(last), promise: promise)
    }

    /// The header of the next part of a DATA frame. The octets of the part follow.
    private func next(of rest: Header) -> ByteBuffer {
        var part = rest
        part.length = min(rest.length, frameLimit)
        outbound.rest = part.length
        if part.length < rest.length {
            part.flags &= ~Flag.endsStream
            dividedData = Header(
                length: rest.length - part.length, type: rest.type, flags: rest.flags, stream: rest.stream)
        } else {
            dividedData = nil
        }
        return part.octets
    }

    /// Splits a HEADERS frame into one with CONTINUATION frames after it.
    private func divided(_ whole: Header, _ octets: ByteBuffer, at start: Int) -> [ByteBuffer] {
        stride(from: 0, to: whole.length, by: frameLimit).map { offset in
            let length = min(frameLimit, whole.length - offset)
            let isFirst = offset == 0
            let isLast = offset + length == whole.length
            var flags = isFirst ? whole.flags & ~Flag.endsHeaders : 0
            if isLast { flags |= Flag.endsHeaders }
            var frame = Header(
                length: length, type: isFirst ? whole.type : FrameType.continuation, flags: flags,
                stream: whole.stream
            ).octets
            if let part = octets.getSlice(at: start + offset, length: length) { frame.writeImmutableBuffer(part) }
            return frame
        }
    }
}

extension ByteBuffer {
    /// These octets, followed by others.
    fileprivate func followed(by others: ByteBuffer) -> ByteBuffer {
        guard readableBytes > 0 else { return others }
        var all = self
        all.writeImmutableBuffer(others)
        return all
    }
}
