import NIOCore
import Platform

/// Lets a listener pause while the system has no descriptor, or no memory, for another connection.
///
/// NIO goes on polling such a listener and would use a whole processor. Meanwhile, clients wait in the system's queue.
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
    /// Whether the system has no descriptor, or no memory, for what was wanted.
    var isExhaustion: Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errnoCode) }
}
