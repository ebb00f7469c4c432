import NIOCore
import NIOSSL

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension ByteStream {
    /// Says that no more is written, once all of it is.
    func endWriting() async {
        await drain()
        try? await channel.close(mode: .output).get()
    }

    /// Closes the connection. What was written before is sent.
    func close() async {
        if failure == nil, channel.isActive { await drain() }
        channel.close(promise: nil)
    }

    /// Closes the connection at once. What was not sent yet is lost, and the other side can tell.
    func abort() {
        let provider = channel as? any SocketOptionProvider
        let isSet =
            provider?.setSoLinger(linger(l_onoff: 1, l_linger: 0)) ?? channel.eventLoop.makeSucceededVoidFuture()
        isSet.whenComplete { [channel] _ in
            // Beneath TLS, whose own end would look like that of a body, and would wait for the other side.
            let pipeline = channel.pipeline.syncOperations
            let tls =
                (try? pipeline.context(handlerType: NIOSSLServerHandler.self))
                ?? (try? pipeline.context(handlerType: NIOSSLClientHandler.self))
            if let tls { tls.close(promise: nil) } else { channel.close(promise: nil) }
        }
    }

    /// Closes a connection whose client may still be sending: the answer is not lost to a reset (RFC 9112, section 9.6).
    func closeLingering(within limit: TimeAmount) async {
        await endWriting()
        var rest = 1 << 20
        let deadline = NIODeadline.now() + limit
        while rest > 0, (try? await more(within: deadline - .now())) == true {
            rest -= takeAvailable().readableBytes
        }
        channel.close(promise: nil)
    }

    /// Waits until everything is sent, but not for long: the other side may not read.
    private func drain() async {
        let timer = channel.eventLoop.scheduleTask(in: .seconds(2)) { [weak self] in
            self?.assumeIsolated { $0.abort() }
        }
        try? await channel.writeAndFlush(ByteBuffer()).get()
        timer.cancel()
    }
}
