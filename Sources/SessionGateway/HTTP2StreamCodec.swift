import HTTPMessages
import NIOCore
import NIOHPACK
import NIOHTTP2
import WebPrimitives

/// Lets a stream of an HTTP/2 client look like a connection of HTTP/1.1 with one request.
///
/// NIOHPACK decodes field values as UTF-8. A request with other octets is refused with HTTP_1_1_REQUIRED, upon which
/// browsers send it over HTTP/1.1. In responses, such values are sent as Latin-1 text in UTF-8.
///
/// A WebSocket is opened by an extended CONNECT (RFC 8441); to the server it is the handshake of HTTP/1.1.
final class HTTP2StreamCodec: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = HTTP2Frame.FramePayload

    private enum Response {
        case head
        case length(UInt64)
        case chunked(ChunkedBody)
        /// The octets of a WebSocket, until either side closes.
        case webSocket
        case ended
    }

    private var hasHead = false
    /// Whether the request was refused: nothing of it passes any more.
    private var isRefused = false
    private var isChunked = false
    private var isToHead = false
    /// The handshake of the WebSocket that the request opens; `nil` for other requests.
    private var handshake: WebSocketHandshake?
    private var response = Response.head
    /// Octets of the response that are no whole frame yet.
    private var pending = ByteBuffer()
    private var lastWrite: EventLoopFuture<Void>?

    // MARK: - The request

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        switch unwrapInboundIn(data) {
        case .headers(let frame) where hasHead:
            // Trailers.
            if isChunked { read(.lastChunk(frame.headers.fieldLines.map(Array.init) ?? []), context) }
        case .headers(let frame):
            hasHead = true
            isToHead = frame.headers.first(name: ":method") == "HEAD"
            if frame.headers.first(name: ":protocol") == "websocket", !frame.endStream {
                handshake = WebSocketHandshake()
            }
            isChunked = !frame.endStream && handshake == nil && !frame.headers.contains(name: "content-length")
            switch head(frame.headers, chunked: isChunked) {
            case .success(let octets): read(ByteBuffer(bytes: octets), context)
            case .failure(let refusal):
                isRefused = true
                response = .ended
                context.writeAndFlush(wrapOutboundOut(.rstStream(refusal.code)), promise: nil)
                context.fireErrorCaught(refusal)
            }
        case .data(let frame):
            guard hasHead, case .byteBuffer(let octets) = frame.data else { return }
            read(isChunked ? octets.asChunk : octets, context)
            if isChunked, frame.endStream { read(.lastChunk([]), context) }
            if handshake != nil, frame.endStream { context.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
        default: break
        }
    }

    private func read(_ octets: ByteBuffer, _ context: ChannelHandlerContext) {
        if octets.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(octets)) }
    }

    private struct Refusal: Error {
        let code: HTTP2ErrorCode
    }

    /// The head of a request as HTTP/1.1 has it (RFC 9113, section 8.3.1; RFC 8441, section 5).
    private func head(_ headers: HPACKHeaders, chunked isChunked: Bool) -> Result<[UInt8], Refusal> {
        let written = headers.first(name: ":method") ?? ""
        let method = handshake == nil || written != "CONNECT" ? written : "GET"
        guard let path = headers.first(name: ":path"), let authority = headers.first(name: ":authority"),
            method != "CONNECT", headers["host"].allSatisfy({ $0 == authority }), let lines = headers.fieldLines,
            [method, path, authority].allSatisfy({ !$0.utf8.contains(where: { $0 <= ASCII.space || $0 == 0x7F }) })
        else { return .failure(Refusal(code: .protocolError)) }
        guard !headers.contains(where: { $0.value.unicodeScalars.contains("\u{FFFD}") }) else {
            return .failure(Refusal(code: .http11Required))
        }
        var head = Array("\(method) \(path) HTTP/1.1\r\nHost: \(authority)\r\n".utf8) + lines
        // RFC 9113, section 8.2.3: the parts of a Cookie field are one for servers that speak HTTP/1.1.
        let cookies = headers["cookie"]
        if !cookies.isEmpty { head += Array("cookie: \(cookies.joined(separator: "; "))\r\n".utf8) }
        if isChunked { head += Array("Transfer-Encoding: chunked\r\n".utf8) }
        if let handshake { head += handshake.lines }
        return .success(head + [ASCII.carriageReturn, ASCII.lineFeed])
    }

    // MARK: - The response

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var octets = unwrapOutboundIn(data)
        if pending.readableBytes == 0 { pending = octets } else { pending.writeBuffer(&octets) }
        do {
            while try writeFrame(context) {}
            if let promise {
                if let lastWrite { lastWrite.cascade(to: promise) } else { promise.succeed() }
            }
        } catch {
            // What the gateway writes is a response; this is not reached.
            response = .ended
            promise?.fail(error)
            context.close(promise: nil)
        }
    }

    /// Writes the next frame.
    ///
    /// - Returns: Whether there may be another one.
    private func writeFrame(_ context: ChannelHandlerContext) throws -> Bool {
        switch response {
        case .head:
            let arrived = pending
            guard let end = MessageHead.end(in: arrived.readableBytesUInt8Span, from: 0),
                let octets = pending.readBytes(length: end)
            else { return false }
            try write(MessageHead(octets, from: .server), context)
            return true
        case .length(let rest):
            let count = Int(min(rest, UInt64(pending.readableBytes)))
            guard count > 0, let data = pending.readSlice(length: count) else { return false }
            let isLast = UInt64(count) == rest
            response = isLast ? .ended : .length(rest - UInt64(count))
            write(.data(.init(data: .byteBuffer(data), endStream: isLast)), context)
            return !isLast
        case .chunked(var body):
            var position = 0
            let octets = pending
            let piece = try body.next(in: octets.readableBytesUInt8Span, from: &position)
            pending.moveReaderIndex(forwardBy: position)
            response = .chunked(body)
            switch piece {
            case .incomplete: return false
            case .data(let count):
                guard let data = pending.readSlice(length: count) else { return false }
                write(.data(.init(data: .byteBuffer(data))), context)
                return true
            case .end(let trailers):
                response = .ended
                if trailers.isEmpty {
                    write(.data(.init(data: .byteBuffer(ByteBuffer()), endStream: true)), context)
                } else {
                    let octets = Array("HTTP/1.1 200 OK\r\n".utf8) + trailers + [ASCII.carriageReturn, ASCII.lineFeed]
                    let fields = HPACKHeaders(fieldsOf: try MessageHead(octets, from: .server))
                    write(.headers(.init(headers: fields, endStream: true)), context)
                }
                return false
            }
        case .webSocket:
            guard pending.readableBytes > 0 else { return false }
            write(.data(.init(data: .byteBuffer(pending.take(pending.readableBytes)))), context)
            return false
        case .ended:
            pending.clear()
            return false
        }
    }

    private func write(_ head: MessageHead, _ context: ChannelHandlerContext) throws {
        guard let line = StatusLine(head.octets.span.extracting(head.startLine)) else {
            throw MessageError.startLineInvalid
        }
        if let handshake, line.status / 100 != 1 || line.status == 101 {
            let isOpen = line.status == 101
            guard !isOpen || handshake.isAccepted(by: head) else {
                response = .ended
                return write(.rstStream(.connectError), context)
            }
            if isOpen {
                var headers: HPACKHeaders = [":status": "200"]
                headers.add(contentsOf: HPACKHeaders(fieldsOf: head).withoutAcceptance)
                response = .webSocket
                return write(.headers(.init(headers: headers)), context)
            }
        }
        // A success would open the WebSocket (RFC 8441, section 4).
        let status = handshake != nil && line.status / 100 == 2 ? 502 : line.status
        var headers: HPACKHeaders = [":status": "\(status)"]
        headers.add(contentsOf: HPACKHeaders(fieldsOf: head))
        let framing = try BodyFraming(ofResponse: head, status: line.status, isToHead: isToHead, minorVersion: 1)
        if line.status / 100 == 1 { return write(.headers(.init(headers: headers)), context) }
        switch framing {
        case .length(let count) where count > 0: response = .length(count)
        case .chunked: response = .chunked(ChunkedBody())
        default: response = .ended
        }
        let isOver = if case .ended = response { true } else { false }
        write(.headers(.init(headers: headers, endStream: isOver)), context)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output, case .webSocket = response else { return context.close(mode: mode, promise: promise) }
        response = .ended
        let end = HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(ByteBuffer()), endStream: true))
        context.writeAndFlush(wrapOutboundOut(end), promise: promise)
    }

    private func write(_ frame: HTTP2Frame.FramePayload, _ context: ChannelHandlerContext) {
        let written = context.eventLoop.makePromise(of: Void.self)
        lastWrite = written.futureResult
        context.write(wrapOutboundOut(frame), promise: written)
    }
}

extension HPACKHeaders {
    /// The fields for one connection only (RFC 9113, section 8.2.2), and those that the codec writes itself.
    private static let omitted: Set<String> = [
        "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade", "host", "cookie",
    ]

    /// The fields without that by which a server accepts the handshake of HTTP/1.1.
    fileprivate var withoutAcceptance: HPACKHeaders {
        HPACKHeaders(map { ($0.name, $0.value) }.filter { $0.0 != "sec-websocket-accept" })
    }

    /// The fields as lines of HTTP/1.1, without Host and Cookie; `nil` if one would not be one line.
    fileprivate var fieldLines: [UInt8]? {
        var lines: [UInt8] = []
        for (name, value, _) in self where !name.hasPrefix(":") && !HPACKHeaders.omitted.contains(name) {
            guard name.utf8.allSatisfy(ASCII.isTokenCharacter),
                !value.utf8.contains(where: { $0 == ASCII.carriageReturn || $0 == ASCII.lineFeed || $0 == 0 })
            else { return nil }
            lines.append(field: name, Octets(value))
        }
        return lines
    }

    /// The fields of a message of HTTP/1.1.
    fileprivate init(fieldsOf head: MessageHead) {
        self.init()
        for field in head.fields {
            let name = head.lowercasedName(field)
            guard name == "cookie" || !HPACKHeaders.omitted.contains(name) else { continue }
            let octets = head.octets[field.value]
            let value = String(validating: octets, as: UTF8.self) ?? String(octets.map { Character(UnicodeScalar($0)) })
            add(name: name, value: value, indexing: name == "set-cookie" ? .neverIndexed : .indexable)
        }
    }
}
