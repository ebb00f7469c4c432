import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOSSL

/// Tells a connection's monitor of the bytes that come.
final class ByteHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let monitor: ConnectionMonitor

    init(_ monitor: ConnectionMonitor) {
        self.monitor = monitor
    }

    func read(context: ChannelHandlerContext) {
        monitor.beginReading()
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        monitor.receive(unwrapInboundIn(data)) {
            // After the last answer bytes are read only so that the connection can end in peace.
            if !monitor.isFinished { context.fireChannelRead(data) }
        }
    }
}

/// Tells a connection's monitor of the requests and answers.
final class MessageHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// An event for a connection: the service stops.
    struct Drain {}

    /// An event from the request's handler: it reads the body now.
    struct ReadBody {}

    private let monitor: ConnectionMonitor

    init(_ monitor: ConnectionMonitor) {
        self.monitor = monitor
    }

    func handlerAdded(context: ChannelHandlerContext) {
        monitor.begin(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        monitor.end()
    }

    func channelInactive(context: ChannelHandlerContext) {
        monitor.end()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        monitor.receive(unwrapInboundIn(data), context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is IOError, is ChannelError: context.fireErrorCaught(error)
        default: monitor.receive(error, context)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        monitor.write(unwrapOutboundIn(data), promise, context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        monitor.becomeWritable(context.channel.isWritable)
        context.fireChannelWritabilityChanged()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        if event is ReadBody {
            monitor.readBody(context)
            promise?.succeed()
        } else {
            context.triggerUserOutboundEvent(event, promise: promise)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is Drain {
            monitor.drain(context)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }
}

/// Admits only requests with an unambiguous head. Reports to the connection's monitor the request after which the
/// connection ends, which depends on the version of HTTP (RFC 9112, section 9.3).
///
/// A request target other than a path is for proxies: one reader could take its authority for the host, another one
/// could ignore it. A transfer coding that the service does not undo hides where the body ends (RFC 9112, section 6.1).
final class RequestHeadHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let monitor: ConnectionMonitor
    private var isRefused = false

    init(_ monitor: ConnectionMonitor) {
        self.monitor = monitor
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        if case .head(let head) = unwrapInboundIn(data) {
            if let error = RequestHeadHandler.refusal(of: head) {
                isRefused = true
                return context.fireErrorCaught(error)
            }
            if !head.isKeepAlive { monitor.receiveLastRequest() }
        }
        context.fireChannelRead(data)
    }

    private static func refusal(of head: HTTPRequestHead) -> (any Error)? {
        guard head.uri.utf8.first == UInt8(ascii: "/") else { return HTTPParserError.invalidURL }
        let codings = head.headers["Transfer-Encoding"]
        guard !codings.isEmpty else { return nil }
        // Before 1.1 there was none: a proxy in front may have passed over the field.
        guard head.version == .http1_1 else { return HTTPParserError.unexpectedContentLength }
        return codings.count == 1 && codings[0].lowercased() == "chunked" ? nil : ServiceFailure.transferCodingUnknown
    }
}

/// One connection: TLS if it is configured, HTTP/1.1, and the monitor of both.
struct ServiceChannel: HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: Responder
    let limits: ServiceLimits
    let connections: OpenConnections
    let health: ServiceHealth
    let tls: NIOSSLContext?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let isRefused = connections.add(channel)
            if isRefused {
                health.warn(
                    ServiceFailure.tooManyConnections.code, "Connections are refused: too many are open",
                    ["limit": "\(limits.connections)"])
            }
            let monitor = ConnectionMonitor(limits: limits, isRefused: isRefused, loop: channel.eventLoop)
            let pipeline = channel.pipeline.syncOperations
            if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
            try pipeline.addHandler(ByteHandler(monitor))
            var decoderLimits = NIOHTTPDecoderLimitConfiguration()
            decoderLimits.maxHeaderFieldSize = limits.headerBytes
            decoderLimits.maxHeaderListSize = limits.headerBytes
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
                withEncoderConfiguration: HTTPResponseEncoder.Configuration(),
                withDecoderLimitConfiguration: decoderLimits)
            try pipeline.addHandler(RequestHeadHandler(monitor))
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: tls != nil))
            try pipeline.addHandler(MessageHandler(monitor))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel,
                configuration: NIOAsyncChannel.Configuration(isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value: Value, logger: Logger) async {
        await handleHTTP(asyncChannel: value, logger: logger)
    }
}
