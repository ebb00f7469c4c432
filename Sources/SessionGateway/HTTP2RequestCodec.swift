import HTTPMessages
import NIOCore
import NIOHPACK
import NIOHTTP2
import WebPrimitives

/// Lets a stream of an HTTP/2 connection to a server look like a connection of HTTP/1.1 for one request.
///
/// It takes a request as HTTP/1.1 has it and gives its response so. The handshake of a WebSocket is an extended CONNECT to
/// the server (RFC 8441, section 5). A failure of the stream becomes a ``StreamRefusal`` if
/// the server has not processed the request.
final class HTTP2RequestCodec: HTTP2MessageWriter {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = HTTP2Frame.FramePayload

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
        isRepeatable = handshake == nil && framing == .none && ["GET", "HEAD", "OPTIONS"].contains(method)
        var headers = HPACKHeaders()
        headers.add(name: ":method", value: handshake == nil ? method : "CONNECT")
        if handshake != nil { headers.add(name: ":protocol", value: "websocket") }
        headers.add(name: ":authority", value: String(decoding: head.values("host").first ?? [], as: UTF8.self))
        headers.add(name: ":scheme", value: "https")
        headers.add(name: ":path", value: String(decoding: text[inside: line.target], as: UTF8.self))
        let fields = HPACKHeaders(fieldsOf: head, splittingCookies: true)
        headers.add(contentsOf: handshake == nil ? fields : fields.without("sec-websocket-key"))
        written.beginBody(handshake == nil ? framing : .untilClose)
        let isOver = handshake == nil && (framing == .none || framing == .length(0))
        write(.headers(.init(headers: headers, endStream: isOver)), context)
        let context = NIOLoopBound(context, eventLoop: context.eventLoop)
        // The server has not seen a request that could not be sent.
        lastWrite?.whenFailure { _ in context.value.fireErrorCaught(StreamRefusal.unprocessed) }
    }

    // MARK: - The response

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(let frame) where hasHead:
            if isChunked { read(.lastChunk(frame.headers.fieldLines() ?? []), context) }
        case .headers(let frame):
            do {
                read(ByteBuffer(bytes: try head(frame)), context)
                if isOpenWebSocket, frame.endStream { endInput(context) }
            } catch {
                context.fireErrorCaught(error)
            }
        case .data(let frame):
            guard hasHead, !hasNoBody, case .byteBuffer(let octets) = frame.data else { return }
            read(isChunked ? octets.asChunk : octets, context)
            if isChunked, frame.endStream { read(.lastChunk([]), context) }
            if isOpenWebSocket, frame.endStream { endInput(context) }
        default: break
        }
    }

    private func read(_ octets: ByteBuffer, _ context: ChannelHandlerContext) {
        if octets.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(octets)) }
    }

    /// The head of a response as HTTP/1.1 has it.
    private func head(_ frame: HTTP2Frame.FramePayload.Headers) throws -> [UInt8] {
        let headers = frame.headers
        guard let text = headers.first(name: ":status"), let status = Int(text), 100...999 ~= status, status != 101
        else { throw MessageError.startLineInvalid }
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

/// Why a server has not processed a request that came in a stream of HTTP/2. It may be sent once more.
enum StreamRefusal: Error {
    /// RFC 9113, section 8.7.
    case unprocessed
    /// Over HTTP/1.1, it can be.
    case http11Required
}
