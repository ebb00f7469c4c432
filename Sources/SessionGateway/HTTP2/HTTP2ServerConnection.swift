import HTTPMessages
import NIOCore
import NIOHTTP2

/// A connection to a server that speaks HTTP/2. Requests on one route share it, each in a stream of its own.
actor HTTP2ServerConnection {
    /// How many octets of a response may be on their way, or wait for a client that reads slowly.
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
    /// How many requests are under way, or wait.
    private(set) var streamCount = 0
    /// How many the server takes at the same time (RFC 9113, section 5.1.2). Until it has told, NIOHTTP2 assumes this many.
    private var streamLimit = 100
    /// Whether the server opens WebSockets in streams (RFC 8441, section 3).
    private(set) var acceptsWebSockets = false
    /// The last stream that the server processes, once it has said so (GOAWAY).
    private var lastStream: HTTP2StreamID?
    private var isRetired = false

    /// Speaks HTTP/2 on a connection whose handshake has chosen it.
    init(on stream: ByteStream, idle: TimeAmount) async throws {
        channel = stream.channel
        clock = stream.clock
        executor = channel.eventLoop.executor
        self.idle = idle
        var configuration = NIOHTTP2Handler.Configuration()
        // Fields that a response may not have are dropped one by one: servers are less exact than their clients.
        configuration.connection.headerBlockValidation = .disabled
        // The gateway finds the ends of bodies itself. NIOHTTP2 does not know of HEAD and 304 here.
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
        /// The server takes no more requests at the same time.
        case full
        /// The connection takes no more requests at all.
        case ended

        /// The stream; `nil` if there is none.
        var stream: ByteStream? { if case .stream(let stream) = self { stream } else { nil } }
    }

    /// Opens a stream for a request.
    ///
    /// - Parameter waits: Whether the request waits for the end of others if the server takes no more at the same time.
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

    /// Closes the connection. Requests that are under way fail.
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

    /// Learns how many requests the server takes at the same time, and whether it opens WebSockets.
    fileprivate func apply(_ settings: HTTP2Settings) {
        for setting in settings {
            switch setting.parameter {
            case .maxConcurrentStreams: streamLimit = setting.value
            case .enableConnectProtocol: acceptsWebSockets = setting.value == 1
            default: break
            }
        }
    }

    /// Takes no more requests, and closes the connection after those that are under way.
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
            // It comes before the ends of the streams that it ends.
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
