import HTTPMessages
import NIOCore
import NIOHTTP2

/// An HTTP/2 connection to a server. Requests on one route share it, each in its own stream.
actor HTTP2ServerConnection {
    /// How many octets of a response may be in transit, or wait for a client that reads slowly.
    private static let streamWindow = 1 << 20
    private static let connectionWindow = 8 << 20

    private nonisolated let channel: any Channel
    private nonisolated let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// How long it stays open without a stream.
    private let idle: TimeAmount
    private var idleTimer: GatewayTimer?
    private let clock: any GatewayClock
    private var multiplexer: NIOHTTP2Handler.StreamMultiplexer?
    /// How many requests are in progress or wait.
    private(set) var streamCount = 0
    /// How many requests the server accepts at the same time (RFC 9113, section 5.1.2). Until the server announces it,
    /// NIOHTTP2 assumes this number.
    private var streamLimit = 100
    /// Whether the server supports WebSockets in streams (RFC 8441, section 3).
    private(set) var acceptsWebSockets = false
    /// The last stream that the server processes; `nil` until it has announced it (GOAWAY).
    private var lastStream: HTTP2StreamID?
    private var isRetired = false

    /// Starts HTTP/2 on a connection whose handshake has chosen it.
    init(on stream: ByteStream, idle: TimeAmount) async throws {
        channel = stream.channel
        clock = stream.clock
        executor = channel.eventLoop.executor
        self.idle = idle
        var configuration = NIOHTTP2Handler.Configuration()
        // Only fields that a response must not have are dropped, because servers are less exact than clients.
        configuration.connection.headerBlockValidation = .disabled
        // The gateway finds the ends of bodies itself. NIOHTTP2 does not handle HEAD and 304 here.
        configuration.connection.contentLengthValidation = .disabled
        configuration.connection.targetWindowSize = HTTP2ServerConnection.connectionWindow
        configuration.connection.initialSettings = [
            HTTP2Setting(parameter: .enablePush, value: 0),
            HTTP2Setting(parameter: .initialWindowSize, value: HTTP2ServerConnection.streamWindow),
            HTTP2FrameAdapter.headSetting,
        ]
        configuration.connection.maximumSequentialContinuationFrames = HTTP2FrameAdapter.continuationLimit
        configuration.stream.targetWindowSize = HTTP2ServerConnection.streamWindow
        configuration.stream.outboundBufferSizeHighWatermark = 1 << 16
        configuration.stream.outboundBufferSizeLowWatermark = 1 << 15
        let handler = NIOHTTP2Handler(
            mode: .client, eventLoop: channel.eventLoop, connectionConfiguration: configuration.connection,
            streamConfiguration: configuration.stream
        ) { $0.close() }
        let adapter = HTTP2FrameAdapter(.client)
        try await stream.handOver(to: [adapter, handler, ConnectionObserver(self, adapter)])
        try channel.pipeline.syncOperations.handler(type: HTTP2FrameAdapter.self).begin()
        multiplexer = try channel.pipeline.syncOperations.handler(type: NIOHTTP2Handler.self).syncMultiplexer()
        waitForStream()
    }

    /// Whether the connection has not ended.
    nonisolated var isOpen: Bool { channel.isActive }

    /// Whether another request can be sent.
    var isUsable: Bool { !isRetired && channel.isActive }

    /// The result of opening a stream for a request.
    enum Opening {
        case stream(ByteStream)
        /// The server accepts no more requests at the same time.
        case full
        /// The connection accepts no more requests.
        case ended

        /// The stream; `nil` if none was opened.
        var stream: ByteStream? { if case .stream(let stream) = self { stream } else { nil } }
    }

    /// Opens a stream for a request.
    ///
    /// - Parameter waits: Whether the request waits for others to end if the server accepts no more at the same time.
    func open(waiting waits: Bool = false) async -> Opening {
        guard isUsable, let multiplexer else { return .ended }
        guard waits || streamCount < streamLimit else { return .full }
        streamCount += 1
        idleTimer?.cancel()
        let opened = multiplexer.createStreamChannel { [weak self] stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.syncOptions?.setOption(.autoRead, value: false)
                try stream.pipeline.syncOperations.addHandler(
                    HTTP2RequestCodec { id in self?.assumeIsolated { $0.isDropped(id) } ?? true })
            }
        }
        do {
            let clock = clock
            let stream = try await opened.flatMapThrowing { stream in
                guard stream.isActive else { throw ChannelError.ioOnClosedChannel }
                stream.closeFuture.whenComplete { [weak self] _ in self?.assumeIsolated { $0.endStream() } }
                return try ByteStream.add(to: stream, clock: clock, isStream: true)
            }.get()
            return .stream(stream)
        } catch {
            endStream()
            return .ended
        }
    }

    /// Closes the connection. Requests in progress fail.
    nonisolated func close() {
        channel.close(promise: nil)
    }

    private func isDropped(_ stream: HTTP2StreamID) -> Bool {
        lastStream.map { stream > $0 } ?? false
    }

    private func endStream() {
        streamCount -= 1
        guard streamCount == 0 else { return }
        if isRetired { close() } else { waitForStream() }
    }

    private func waitForStream() {
        idleTimer = clock.schedule(in: idle, on: channel.eventLoop) { [channel] in channel.close(promise: nil) }
    }

    /// Stores how many requests the server accepts at the same time, and whether it supports WebSockets.
    fileprivate func apply(_ settings: HTTP2Settings) {
        for setting in settings {
            switch setting.parameter {
            case .maxConcurrentStreams: streamLimit = setting.value
            case .enableConnectProtocol: acceptsWebSockets = setting.value == 1
            default: break
            }
        }
    }

    /// Accepts no more requests, and closes the connection after those in progress.
    func retire(after last: HTTP2StreamID? = nil) {
        lastStream = last ?? lastStream
        isRetired = true
        if streamCount == 0 { close() }
    }

    /// Watches a connection for its end.
    private final class ConnectionObserver: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame

        private let connection: HTTP2ServerConnection
        private let adapter: HTTP2FrameAdapter

        init(_ connection: HTTP2ServerConnection, _ adapter: HTTP2FrameAdapter) {
            self.connection = connection
            self.adapter = adapter
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data).payload {
            // This event comes before the ends of the streams that it ends.
            case .goAway(let last, _, _): connection.assumeIsolated { $0.retire(after: last) }
            case .settings(.settings(let settings)): connection.assumeIsolated { $0.apply(settings) }
            default: break
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            connection.assumeIsolated { $0.idleTimer?.cancel() }
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            guard adapter.endsConnection(error) else { return }
            connection.assumeIsolated { $0.retire() }
            context.close(promise: nil)
        }
    }
}
