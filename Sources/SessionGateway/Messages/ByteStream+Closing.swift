import NIOCore
import NIOSSL
import Platform

extension ByteStream {
    /// Ends the output after everything was written.
    func endWriting(within limit: TimeAmount = writeLimit) async {
        await drain(within: limit)
        try? await channel.close(mode: .output).get()
    }

    /// Closes the connection after everything that was written is sent.
    func close() async {
        guard !isHandshaking else { return abort() }
        if failure == nil, channel.isActive { await drain() }
        channel.close(promise: nil)
    }

    /// Closes the connection at once. Octets that were not sent yet are lost, and the other side sees a reset.
    func abort() {
        let provider = channel as? any SocketOptionProvider
        let isSet =
            provider?.setSoLinger(linger(l_onoff: 1, l_linger: 0)) ?? channel.eventLoop.makeSucceededVoidFuture()
        isSet.whenComplete { [channel] _ in
            // Below TLS, because the end of TLS would look like the end of a body, and would wait for the other side.
            let pipeline = channel.pipeline.syncOperations
            let tls =
                (try? pipeline.context(handlerType: NIOSSLServerHandler.self))
                ?? (try? pipeline.context(handlerType: NIOSSLClientHandler.self))
            if let tls { tls.close(promise: nil) } else { channel.close(promise: nil) }
        }
    }

    /// Closes a connection whose client may still be sending, so that no reset destroys the response (RFC 9112, section
    /// 9.6). Drops the client's octets until it has stopped sending, at most for a time.
    func closeLingering(within limit: TimeAmount = writeLimit) async {
        let deadline = clock.now + limit
        await endWriting(within: limit)
        while (try? await more(within: deadline - clock.now)) == true { _ = takeAvailable() }
        channel.close(promise: nil)
    }

    /// Waits until everything is sent, at most for a time.
    private func drain(within limit: TimeAmount = writeLimit) async {
        let timer = clock.schedule(in: limit, on: channel.eventLoop) { [weak self] in
            self?.assumeIsolated { $0.abort() }
        }
        try? await channel.writeAndFlush(ByteBuffer()).get()
        timer.cancel()
    }
}
