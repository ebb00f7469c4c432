import NIOCore
import NIOHTTPTypes

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
