import CookieModel
import HTTPMessages
import NIOCore
import NIOHPACK
import NIOHTTP2
import WebPrimitives

/// Makes a stream of an HTTP/2 connection to a server look like a connection of HTTP/1.1 for one request.
///
/// It accepts a request in HTTP/1.1, and returns the response in HTTP/1.1. The handshake of a WebSocket is an extended
/// CONNECT to the server (RFC 8441, section 5). A failure of the stream becomes a ``StreamRefusal`` if the server has
/// not processed the request.
final class HTTP2RequestCodec: HTTP2MessageWriter {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = HTTP2Frame.FramePayload

    /// The maximum length of a request's head. Longer ones are sent over HTTP/1.1.
    static let headLimit = 1 << 14

    /// Whether the server has announced that it does not process a stream (GOAWAY).
    private let isDropped: (HTTP2StreamID) -> Bool
    var written = MessageParts()
    private var isToHead = false
    /// Whether the request can be sent over HTTP/1.1 if its response cannot be read without loss.
    private var isRepeatable = false
    /// Whether the final response has begun.
    private var hasHead = false
    private var isChunked = false
    private var hasNoBody = false
    /// How many octets of the body are still missing; `nil` if the response does not state its length.
    private var remaining: Int?
    /// The last octets of the body by its length, held until the stream ends.
    private var held: ByteBuffer?
    private var hasFailed = false
    /// The handshake of the WebSocket that the request opens; `nil` for other requests.
    private var handshake: WebSocketHandshake?
    var isOpenWebSocket = false
    var lastWrite: EventLoopFuture<Void>?
    static let sender = MessageHead.Sender.client

    init(isDropped: @escaping (HTTP2StreamID) -> Bool = { _ in false }) {
        self.isDropped = isDropped
    }

    // MARK: - The request

    /// Writes the head of the request (RFC 9113, section 8.3.1).
    func write(_ head: MessageHead, _ context: ChannelHandlerContext) throws {
        let line = try RequestLine(head.octets.span.extracting(head.startLine))
        let text = head.octets[head.startLine]
        let method = String(decoding: text[inside: line.method], as: UTF8.self)
        let framing = try BodyFraming(ofRequest: head, minorVersion: line.minorVersion)
        isToHead = method == "HEAD"
        handshake = WebSocketHandshake(of: head)
        isRepeatable = handshake == nil && framing == .none && RequestContext.isSafe(method)
        var headers = HPACKHeaders()
        headers.add(name: ":method", value: handshake == nil ? method : "CONNECT")
        if handshake != nil { headers.add(name: ":protocol", value: "websocket") }
        headers.add(name: ":authority", value: String(decoding: head.values("host").first ?? [], as: UTF8.self))
        headers.add(name: ":scheme", value: "https")
        headers.add(name: ":path", value: String(decoding: text[inside: line.target], as: UTF8.self))
        let fields = HPACKHeaders(fieldsOf: head, splittingCookies: true)
        headers.add(contentsOf: handshake == nil ? fields : fields.without("sec-websocket-key"))
        written.beginBody(handshake == nil ? framing : .untilClose)
        let isOver = handshake == nil && framing == .none
        write(.headers(.init(headers: headers, endStream: isOver)), context)
        let context = NIOLoopBound(context, eventLoop: context.eventLoop)
        // The server has not seen a request that could not be sent.
        lastWrite?.whenFailure { _ in context.value.fireErrorCaught(StreamRefusal.unprocessed) }
    }

    // MARK: - The response

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasFailed else { return }
        do {
            switch unwrapInboundIn(data) {
            case .headers(let frame) where hasHead: try readTrailers(frame, context)
            case .headers(let frame):
                read(ByteBuffer(bytes: try head(frame)), context)
                if isOpenWebSocket, frame.endStream { endInput(context) }
            case .data(let frame):
                guard case .byteBuffer(let octets) = frame.data else { return }
                try readBody(octets, endsStream: frame.endStream, context)
            default: break
            }
        } catch {
            hasFailed = true
            context.fireErrorCaught(error)
        }
    }

    /// Reads a piece of the body. Its last piece is passed on only with the end of the stream. Until then, the body may
    /// turn out to be longer than its Content-Length.
    private func readBody(_ octets: ByteBuffer, endsStream: Bool, _ context: ChannelHandlerContext) throws {
        guard hasHead else { throw MessageError.startLineInvalid }
        guard !hasNoBody else { return }
        if let remaining {
            guard octets.readableBytes <= remaining else { throw MessageError.bodyLengthWrong }
            self.remaining = remaining - octets.readableBytes
        }
        if octets.readableBytes > 0 {
            if remaining == 0, !endsStream { held = octets } else { read(isChunked ? octets.asChunk : octets, context) }
        }
        if endsStream { try endBody([], context) }
    }

    private func readTrailers(_ frame: HTTP2Frame.FramePayload.Headers, _ context: ChannelHandlerContext) throws {
        guard frame.endStream, !frame.headers.contains(where: { $0.name.hasPrefix(":") }), frame.headers.hasLowerCase,
            let lines = frame.headers.fieldLines()
        else { throw MessageError.trailerInvalid }
        try endBody(lines, context)
    }

    private func endBody(_ trailers: [UInt8], _ context: ChannelHandlerContext) throws {
        if isOpenWebSocket { return endInput(context) }
        guard !hasNoBody else { return }
        guard remaining ?? 0 == 0 else { throw MessageError.bodyLengthWrong }
        if let held { read(isChunked ? held.asChunk : held, context) }
        held = nil
        if isChunked { read(.lastChunk(trailers), context) }
    }

    private func read(_ octets: ByteBuffer, _ context: ChannelHandlerContext) {
        if octets.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(octets)) }
    }

    /// The head of a response in HTTP/1.1.
    private func head(_ frame: HTTP2Frame.FramePayload.Headers) throws -> [UInt8] {
        let headers = frame.headers
        // RFC 9113, sections 8.1 and 8.3.2.
        guard headers.count(where: { $0.name.hasPrefix(":") }) == 1, let first = headers.first, first.name == ":status",
            first.value.utf8.count == 3, let status = Int(first.value), 100...999 ~= status, status != 101,
            status / 100 != 1 || !frame.endStream
        else { throw MessageError.startLineInvalid }
        guard headers.hasLowerCase else { throw MessageError.fieldInvalid }
        hasHead = status / 100 != 1
        if let handshake, status / 100 == 2 {
            isOpenWebSocket = true
            let fields = headers.without("content-length").without("sec-websocket-accept")
            guard let lines = fields.fieldLines() else { throw MessageError.fieldInvalid }
            return Array("HTTP/1.1 101 \r\n".utf8) + lines + handshake.acceptingLines
                + [ASCII.carriageReturn, ASCII.lineFeed]
        }
        guard !isRepeatable || !headers.hasLostOctets else { throw StreamRefusal.http11Required }
        hasNoBody = !hasHead || isToHead || status == 204 || status == 304
        isChunked = !hasNoBody && !frame.endStream && headers.needsChunks
        guard let lines = headers.fieldLines(chunked: isChunked) else { throw MessageError.fieldInvalid }
        if !hasNoBody { remaining = try headers.length(endsStream: frame.endStream) }
        var head = Array("HTTP/1.1 \(status) \r\n".utf8) + lines
        if isChunked { head.append(field: "Transfer-Encoding", "chunked") }
        if !hasNoBody, frame.endStream, !headers.contains(name: "content-length") {
            head.append(field: "Content-Length", "0")
        }
        return head + [ASCII.carriageReturn, ASCII.lineFeed]
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let closed = error as? NIOHTTP2Errors.StreamClosed else { return context.fireErrorCaught(error) }
        switch closed.errorCode {
        case .refusedStream: context.fireErrorCaught(StreamRefusal.unprocessed)
        case .http11Required: context.fireErrorCaught(StreamRefusal.http11Required)
        default: context.fireErrorCaught(isDropped(closed.streamID) ? StreamRefusal.unprocessed : error)
        }
    }
}

/// The reason why a server has not processed a request in a stream of HTTP/2. The request may be sent once more.
enum StreamRefusal: Error {
    /// The server has not processed it (RFC 9113, section 8.7).
    case unprocessed
    /// The server requires HTTP/1.1 for it.
    case http11Required
}
