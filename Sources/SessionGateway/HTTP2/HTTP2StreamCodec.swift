import HTTPMessages
import NIOCore
import NIOHPACK
import NIOHTTP2
import WebPrimitives

/// Makes a stream of an HTTP/2 client look like a connection of HTTP/1.1 with one request.
///
/// NIOHPACK decodes field values as UTF-8. A request with other octets is refused with HTTP_1_1_REQUIRED, and browsers
/// then send it over HTTP/1.1. In responses, such values are sent as Latin-1 text in UTF-8.
///
/// A WebSocket is opened by an extended CONNECT (RFC 8441), which becomes the handshake of HTTP/1.1.
final class HTTP2StreamCodec: HTTP2MessageWriter {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = HTTP2Frame.FramePayload

    private var hasHead = false
    /// Whether the request was refused. Then nothing more of it is passed on.
    private var isRefused = false
    private var isChunked = false
    private var isToHead = false
    /// The handshake of the WebSocket that the request opens; `nil` for other requests.
    private var handshake: WebSocketHandshake?
    var isOpenWebSocket = false
    var written = MessageParts()
    var lastWrite: EventLoopFuture<Void>?
    static let sender = MessageHead.Sender.server

    // MARK: - The request

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        switch unwrapInboundIn(data) {
        case .headers(let frame) where hasHead:
            // Trailers.
            if isChunked { read(.lastChunk(frame.headers.fieldLines() ?? []), context) }
        case .headers(let frame):
            hasHead = true
            isToHead = frame.headers.first(name: ":method") == "HEAD"
            if frame.headers.first(name: ":protocol") == "websocket", !frame.endStream {
                handshake = WebSocketHandshake()
            }
            isChunked = !frame.endStream && handshake == nil && frame.headers.needsChunks
            switch head(frame.headers, chunked: isChunked) {
            case .success(let octets): read(ByteBuffer(bytes: octets), context)
            case .failure(let refusal):
                isRefused = true
                written.end()
                context.writeAndFlush(wrapOutboundOut(.rstStream(refusal.code)), promise: nil)
                context.fireErrorCaught(refusal)
            }
        case .data(let frame):
            guard hasHead, case .byteBuffer(let octets) = frame.data else { return }
            read(isChunked ? octets.asChunk : octets, context)
            if isChunked, frame.endStream { read(.lastChunk([]), context) }
            if handshake != nil, frame.endStream { endInput(context) }
        default: break
        }
    }

    private func read(_ octets: ByteBuffer, _ context: ChannelHandlerContext) {
        if octets.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(octets)) }
    }

    private struct Refusal: Error {
        let code: HTTP2ErrorCode
    }

    /// The head of a request in HTTP/1.1 (RFC 9113, section 8.3.1; RFC 8441, section 5).
    private func head(_ headers: HPACKHeaders, chunked isChunked: Bool) -> Result<[UInt8], Refusal> {
        let written = headers.first(name: ":method") ?? ""
        let method = handshake == nil || written != "CONNECT" ? written : "GET"
        guard let path = headers.first(name: ":path"), let authority = headers.first(name: ":authority"),
            method != "CONNECT", headers["host"].allSatisfy({ $0 == authority }),
            let lines = headers.fieldLines(chunked: isChunked),
            [method, path, authority].allSatisfy({ !$0.utf8.contains(where: { $0 <= ASCII.space || $0 == 0x7F }) })
        else { return .failure(Refusal(code: .protocolError)) }
        guard !headers.hasLostOctets else { return .failure(Refusal(code: .http11Required)) }
        var head = Array("\(method) \(path) HTTP/1.1\r\nHost: \(authority)\r\n".utf8) + lines
        // RFC 9113, section 8.2.3: the parts of a Cookie field are joined for servers that speak HTTP/1.1.
        let cookies = headers["cookie"]
        if !cookies.isEmpty { head += Array("cookie: \(cookies.joined(separator: "; "))\r\n".utf8) }
        if isChunked { head += Array("Transfer-Encoding: chunked\r\n".utf8) }
        if let handshake { head += handshake.lines }
        return .success(head + [ASCII.carriageReturn, ASCII.lineFeed])
    }

    // MARK: - The response

    func write(_ head: MessageHead, _ context: ChannelHandlerContext) throws {
        guard let line = StatusLine(head.octets.span.extracting(head.startLine)) else {
            throw MessageError.startLineInvalid
        }
        if let handshake, line.status / 100 != 1 || line.status == 101 {
            let isSwitch = line.status == 101
            guard !isSwitch || handshake.isAccepted(by: head) else {
                written.end()
                return write(.rstStream(.connectError), context)
            }
            if isSwitch {
                isOpenWebSocket = true
                var headers: HPACKHeaders = [":status": "200"]
                headers.add(contentsOf: HPACKHeaders(fieldsOf: head).without("sec-websocket-accept"))
                written.beginBody(.untilClose)
                return write(.headers(.init(headers: headers)), context)
            }
        }
        // A success would open the WebSocket (RFC 8441, section 4).
        let status = handshake != nil && line.status / 100 == 2 ? 502 : line.status
        var headers: HPACKHeaders = [":status": "\(status)"]
        headers.add(contentsOf: HPACKHeaders(fieldsOf: head))
        let framing = try BodyFraming(ofResponse: head, status: line.status, isToHead: isToHead, minorVersion: 1)
        if line.status / 100 == 1 { return write(.headers(.init(headers: headers)), context) }
        written.beginBody(framing)
        write(.headers(.init(headers: headers, endStream: framing == .none || framing == .length(0))), context)
    }
}
