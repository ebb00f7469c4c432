import NIOCore
import Platform

/// Pauses a listener while the system has no descriptor, or no memory, for another connection.
///
/// NIO would keep polling such a listener and use a whole processor. Meanwhile, clients wait in the system's queue.
final class AcceptPause: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private static let length = TimeAmount.milliseconds(100)

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if (error as? IOError)?.isExhaustion == true {
            let channel = context.channel
            try? channel.syncOptions?.setOption(.autoRead, value: false)
            channel.eventLoop.scheduleTask(in: AcceptPause.length) {
                try channel.syncOptions?.setOption(.autoRead, value: true)
            }
        }
        context.fireErrorCaught(error)
    }
}

extension IOError {
    /// Whether an operation failed because the system has no descriptor, or no memory, for it.
    var isExhaustion: Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errnoCode) }
}
