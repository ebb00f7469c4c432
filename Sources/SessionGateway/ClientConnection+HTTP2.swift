import HTTPMessages
import NIOCore
import NIOHTTP2

extension ClientConnection {
    /// Serves the requests of an HTTP/2 connection (RFC 9113), each in a stream of its own, side by side.
    ///
    /// - Parameter server: The connection that the tunnel has opened, for the first of them; `nil` if it has opened none.
    func serveHTTP2(to destination: Destination, _ server: ByteStream?) async throws {
        let (arriving, arrivals) = AsyncStream<ByteStream>.makeStream()
        var configuration = NIOHTTP2Handler.Configuration()
        // Browsers cancel what a page does not need any more; on one machine that is no attack.
        configuration.stream.streamResetFrameRateLimit.maximumCount = 10_000
        configuration.connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: 100),
            HTTP2Setting(parameter: .maxHeaderListSize, value: MessageHead.byteLimit),
        ]
        // Behind a proxy, Firefox opens WebSockets in HTTP/2 without its cookies and its origin. Over HTTP/1.1 it sends both.
        if gate.profile == nil {
            configuration.connection.initialSettings.append(HTTP2Setting(parameter: .enableConnectProtocol, value: 1))
        }
        let ending = NIOHTTP2ServerConnectionManagementHandler(
            eventLoop: client.channel.eventLoop,
            configuration: .init(maxIdleTime: nil, maxAge: nil, maxGraceTime: nil, keepalive: nil))
        try await client.handOver(
            to: NIOHTTP2Handler(
                mode: .server, eventLoop: client.channel.eventLoop,
                connectionConfiguration: configuration.connection, streamConfiguration: configuration.stream,
                streamDelegate: ending.http2StreamDelegate
            ) { stream in
                stream.eventLoop.makeCompletedFuture {
                    try stream.syncOptions?.setOption(.autoRead, value: false)
                    try stream.pipeline.syncOperations.addHandler(HTTP2StreamCodec())
                    guard case .terminated = arrivals.yield(try ByteStream.add(to: stream, isStream: true)) else {
                        return
                    }
                    // The gateway stops: the client may send it elsewhere.
                    let reset = HTTP2Frame.FramePayload.rstStream(.refusedStream)
                    try stream.pipeline.syncOperations.context(handlerType: HTTP2StreamCodec.self)
                        .writeAndFlush(NIOAny(reset), promise: nil)
                }
            }, then: [ending, NIOCloseOnErrorHandler()])
        client.channel.closeFuture.whenComplete { _ in arrivals.finish() }
        streams = [:]
        waitForStream()
        // The gateway may have begun to stop during the handshake.
        if isStopping { await stop() }
        var spare = server
        await withDiscardingTaskGroup { group in
            for await stream in arriving {
                let request = ClientConnection(
                    stream, gate: gate, settings: settings, servers: servers, logins: logins, observing: observe)
                let id = ObjectIdentifier(request)
                streams?[id] = request
                idleTimer?.cancel()
                // The server need not answer a request that the client has cancelled.
                await stream.whenFailing { [weak request] in Task { await request?.abort() } }
                let first = spare
                spare = nil
                group.addTask {
                    await request.run(to: destination, through: first)
                    await self.end(id)
                }
            }
        }
        idleTimer?.cancel()
        await spare?.close()
    }

    /// Serves the request of one stream. Closes it.
    ///
    /// - Parameter server: A connection to the server, without TLS yet.
    private func run(to destination: Destination, through server: ByteStream?) async {
        spare = server
        isSpareSecured = false
        // It fails where the client has cancelled the request, or gone.
        try? await serveRequests(through: destination)
        await spare?.close()
        await client.close()
    }

    private func end(_ stream: ObjectIdentifier) async {
        streams?[stream] = nil
        guard streams?.isEmpty == true else { return }
        if !isStopping { waitForStream() }
    }

    private func waitForStream() {
        idleTimer = client.channel.eventLoop.scheduleTask(in: settings.limits.idle) { [client] in
            client.channel.close(promise: nil)
        }
    }
}
