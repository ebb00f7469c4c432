import HTTPMessages
import NIOCore
import NIOHTTP2

extension ClientConnection {
    /// Serves the requests of an HTTP/2 connection (RFC 9113), each in its own stream, concurrently. The first request
    /// gets the connection that the tunnel has opened, if any.
    func serveHTTP2(to destination: Destination) async throws {
        let (arriving, arrivals) = AsyncStream<ByteStream>.makeStream()
        var configuration = NIOHTTP2Handler.Configuration()
        // Browsers cancel requests that a page no longer needs. Their remaining work is limited separately
        // (`beginWork()`).
        configuration.stream.streamResetFrameRateLimit.maximumCount = 10_000
        configuration.connection.initialSettings = [HTTP2FrameAdapter.headSetting]
        configuration.connection.maximumSequentialContinuationFrames = HTTP2FrameAdapter.continuationLimit
        // Behind a proxy, Firefox opens WebSockets in HTTP/2 without its cookies and its origin. Over HTTP/1.1 it sends both.
        if gate.profile == nil {
            configuration.connection.initialSettings.append(HTTP2Setting(parameter: .enableConnectProtocol, value: 1))
        }
        let ending = NIOHTTP2ServerConnectionManagementHandler(
            eventLoop: client.channel.eventLoop,
            configuration: .init(maxIdleTime: nil, maxAge: nil, maxGraceTime: nil, keepalive: nil))
        let clock = client.clock
        let handler = NIOHTTP2Handler(
            mode: .server, eventLoop: client.channel.eventLoop,
            connectionConfiguration: configuration.connection, streamConfiguration: configuration.stream,
            streamDelegate: ending.http2StreamDelegate
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.syncOptions?.setOption(.autoRead, value: false)
                try stream.pipeline.syncOperations.addHandler(HTTP2StreamCodec())
                let hasRoom = self.assumeIsolated { $0.beginWork() }
                if hasRoom,
                    case .enqueued = arrivals.yield(try ByteStream.add(to: stream, clock: clock, isStream: true))
                {
                    return
                }
                if hasRoom { self.assumeIsolated { $0.work -= 1 } }
                // The client may send the request again.
                let reset = HTTP2Frame.FramePayload.rstStream(.refusedStream)
                try stream.pipeline.syncOperations.context(handlerType: HTTP2StreamCodec.self)
                    .writeAndFlush(NIOAny(reset), promise: nil)
            }
        }
        let adapter = HTTP2FrameAdapter(.server)
        try await client.handOver(to: [adapter, handler, ending, ConnectionCloser(adapter)])
        // Not with the first settings, which NIOHTTP2 takes for acknowledged: the client may not know of them yet.
        let limit = HTTP2Setting(parameter: .maxConcurrentStreams, value: limits.streams)
        client.channel.writeAndFlush(
            HTTP2Frame(streamID: .rootStream, payload: .settings(.settings([limit]))), promise: nil)
        client.channel.closeFuture.whenComplete { _ in arrivals.finish() }
        streams = [:]
        waitForStream()
        // The gateway may have begun to stop during the handshake.
        if isStopping { await stop() }
        var hasRequest = mayConnectInAdvance
        await withDiscardingTaskGroup { group in
            for await stream in arriving {
                hasRequest = true
                let request = ClientConnection(stream, number: number, frame, servers: servers)
                await request.continueTunnel(after: passed)
                let id = ObjectIdentifier(request)
                streams?[id] = request
                idleTimer?.cancel()
                // The server does not have to answer a request that the client has cancelled.
                await stream.whenFailing { [weak request] in Task { await request?.abort() } }
                let first = spare
                spare = nil
                group.addTask {
                    await request.run(to: destination, through: first)
                    await self.end(id)
                }
            }
        }
        if !hasRequest, !isStopping { observeDistrust(of: destination) }
        idleTimer?.cancel()
    }

    /// Sets the gateways that the tunnel of the requests has passed.
    private func continueTunnel(after passed: PassedGateways) {
        self.passed = passed
    }

    /// Serves the request of one stream. Closes it.
    ///
    /// - Parameter server: A connection to the server on which TLS has not begun.
    private func run(to destination: Destination, through server: ByteStream?) async {
        spare = server
        // It fails if the client has cancelled the request or disconnected.
        try? await serveRequests(through: destination)
        await spare?.close()
        await client.close()
    }

    /// Counts a request. A client that cancels requests may send others before the work for those has ended.
    ///
    /// - Returns: Whether the limit permits it.
    private func beginWork() -> Bool {
        guard work < 2 * limits.streams else { return false }
        work += 1
        return true
    }

    private func end(_ stream: ObjectIdentifier) async {
        work -= 1
        streams?[stream] = nil
        guard streams?.isEmpty == true else { return }
        if !isStopping { waitForStream() }
    }

    private func waitForStream() {
        idleTimer = client.clock.schedule(in: limits.idle, on: client.channel.eventLoop) { [client] in
            client.channel.close(promise: nil)
        }
    }
}

/// Closes an HTTP/2 connection after an error of the whole connection.
private final class ConnectionCloser: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    private let adapter: HTTP2FrameAdapter

    init(_ adapter: HTTP2FrameAdapter) {
        self.adapter = adapter
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if adapter.endsConnection(error) { context.close(promise: nil) }
    }
}
