import NIOCore
import NIOSSL
import Platform

extension ByteStream {
    /// Says that no more is written, once all of it is.
    func endWriting() async {
        await drain()
        try? await channel.close(mode: .output).get()
    }

    /// Closes the connection. What was written before is sent.
    func close() async {
        guard !isHandshaking else { return abort() }
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
    /// What the client sends is dropped until it has ended, for as long as a write may take.
    func closeLingering() async {
        await endWriting()
        let deadline = clock.now + ByteStream.writeLimit
        while (try? await more(within: deadline - clock.now)) == true { _ = takeAvailable() }
        channel.close(promise: nil)
    }

    /// Waits until everything is sent, for as long as a write may take.
    private func drain() async {
        let timer = clock.schedule(in: ByteStream.writeLimit, on: channel.eventLoop) { [weak self] in
            self?.assumeIsolated { $0.abort() }
        }
        try? await channel.writeAndFlush(ByteBuffer()).get()
        timer.cancel()
    }
}
