import HTTPMessages
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Splits written HTTP/1.1 messages into their parts. The messages may come in pieces of any size.
struct MessageParts {
    /// A part of a message.
    enum Part {
        case head([UInt8])
        case data(ByteBuffer, isLast: Bool)
        /// The end of the body, if it did not come with the last octets, with the lines of the trailer fields.
        case end(trailers: [UInt8])
    }

    private enum State {
        case head
        case body(BodyReader)
        case ended
    }

    private var state = State.head
    /// Octets that do not form a complete part yet.
    private var pending = ByteBuffer()
    /// A piece of the body that was read to find out whether the previous one is the last.
    private var ahead: BodyReader.Piece?

    /// Adds written octets.
    mutating func append(_ octets: ByteBuffer) {
        var octets = octets
        if pending.readableBytes == 0 { pending = octets } else { pending.writeBuffer(&octets) }
    }

    /// Sets the framing of the body that follows the head. Without this call, another head follows.
    mutating func beginBody(_ framing: BodyFraming) {
        switch framing {
        case .none, .length(0): end()
        default: state = .body(BodyReader(framing))
        }
    }

    /// Drops everything that is written from now on.
    mutating func end() {
        state = .ended
        pending.clear()
    }

    /// The next part; `nil` if more octets are needed.
    ///
    /// - Throws: `MessageError` if the chunk is malformed.
    mutating func next() throws -> Part? {
        switch state {
        case .head:
            guard let end = MessageHead.end(in: pending.readableBytesUInt8Span, from: 0) else { return nil }
            return pending.readBytes(length: end).map(Part.head)
        case .body(var reader):
            guard let piece = try ahead ?? reader.next(in: &pending) else {
                state = .body(reader)
                return nil
            }
            ahead = nil
            switch piece {
            case .end(let trailers):
                end()
                return .end(trailers: trailers)
            case .data(let octets):
                let following = try reader.next(in: &pending)
                if case .end(let trailers)? = following, trailers.isEmpty {
                    end()
                    return .data(octets, isLast: true)
                }
                ahead = following
                state = .body(reader)
                return .data(octets, isLast: false)
            }
        case .ended:
            pending.clear()
            return nil
        }
    }

    /// The head of a message that has only trailer fields, in the form for a parser.
    static func trailerHead(_ lines: [UInt8]) throws -> MessageHead {
        try MessageHead(Array("HTTP/1.1 200 OK\r\n".utf8) + lines + Array("\r\n".utf8), from: .server)
    }
}

/// A codec of an HTTP/2 stream that accepts HTTP/1.1 messages for writing.
protocol HTTP2MessageWriter: ChannelDuplexHandler
where OutboundIn == ByteBuffer, OutboundOut == HTTP2Frame.FramePayload {
    /// The state of the message that is written.
    var written: MessageParts { get set }
    /// The result of the last write.
    var lastWrite: EventLoopFuture<Void>? { get set }
    /// Whether octets of a WebSocket are passed on, until either side closes.
    var isOpenWebSocket: Bool { get set }
    /// The side that sends the messages.
    static var sender: MessageHead.Sender { get }
    /// Writes a head as frames, and sets the framing of its body in ``written``.
    func write(_ head: MessageHead, _ context: ChannelHandlerContext) throws
}

extension HTTP2MessageWriter {
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        written.append(unwrapOutboundIn(data))
        do {
            while let part = try written.next() { try write(part, context) }
            if let promise {
                if let lastWrite { lastWrite.cascade(to: promise) } else { promise.succeed() }
            }
        } catch {
            // Not reached: the gateway writes only complete messages.
            written.end()
            promise?.fail(error)
            context.close(promise: nil)
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output, isOpenWebSocket else { return context.close(mode: mode, promise: promise) }
        isOpenWebSocket = false
        written.end()
        let end = HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(ByteBuffer()), endStream: true))
        context.writeAndFlush(wrapOutboundOut(end), promise: promise)
    }

    /// Reports that the other side of a WebSocket sends no more.
    func endInput(_ context: ChannelHandlerContext) {
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }

    private func write(_ part: MessageParts.Part, _ context: ChannelHandlerContext) throws {
        switch part {
        case .head(let octets): try write(MessageHead(octets, from: Self.sender), context)
        case .data(let data, let isLast):
            write(.data(.init(data: .byteBuffer(data), endStream: isLast)), context)
        case .end(let trailers) where trailers.isEmpty:
            write(.data(.init(data: .byteBuffer(ByteBuffer()), endStream: true)), context)
        case .end(let trailers):
            let fields = HPACKHeaders(fieldsOf: try MessageParts.trailerHead(trailers))
            write(.headers(.init(headers: fields, endStream: true)), context)
        }
    }

    /// Writes a frame.
    func write(_ frame: HTTP2Frame.FramePayload, _ context: ChannelHandlerContext) {
        let promise = context.eventLoop.makePromise(of: Void.self)
        lastWrite = promise.futureResult
        context.write(wrapOutboundOut(frame), promise: promise)
    }
}
