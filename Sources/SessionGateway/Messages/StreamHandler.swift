import NIOCore
import NIOSSL
import NIOTLS

/// Passes the events of a channel to its stream, on their common event loop.
final class StreamHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let stream: ByteStream

    init(_ stream: ByteStream) {
        self.stream = stream
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let octets = unwrapInboundIn(data)
        stream.assumeIsolated { $0.receive(octets) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        stream.assumeIsolated { $0.endReading() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { stream.assumeIsolated { $0.resumeWriters() } }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { stream.assumeIsolated { $0.end() } }
        if case TLSUserEvent.handshakeCompleted(let name)? = event as? TLSUserEvent {
            stream.assumeIsolated { $0.becomeSecured(speaking: name) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        stream.assumeIsolated {
            // With TLS, the end of the stream closes the connection.
            $0.end()
            $0.fail(ChannelError.ioOnClosedChannel)
        }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Many servers close a connection without a closing alert. That is not a failure, but does not prove the end of
        // a body.
        if case NIOSSLError.uncleanShutdown? = error as? NIOSSLError {
            stream.assumeIsolated { $0.end(truncated: true) }
        } else {
            stream.assumeIsolated { $0.fail(error) }
        }
        context.close(promise: nil)
    }
}

/// The reason why a stream of octets cannot continue.
enum StreamError: Error {
    case endedEarly
    case stopped
    case timedOut
    /// The system of the other side has not confirmed what was sent.
    case unacknowledged
}
