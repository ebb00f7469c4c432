import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Takes connections at one address, until the service stops.
struct Listener: Service {
    typealias Accepted = NIOAsyncChannel<ServiceChannel.Value, Never>

    /// What is listened on, for people.
    let name: String
    private let server: Accepted
    private let ownership: Ownership
    private let channel: ServiceChannel
    private let connections: OpenConnections
    private let logger: Logger

    /// Where connections come from.
    enum Source {
        case address(SocketAddress)
        /// A socket of this process.
        case unixSocket(UnixSocket)
        /// A descriptor that somebody else listens on, too.
        case inherited(Int32)
    }

    /// Whose the address is.
    private enum Ownership {
        case own
        case unixSocket(UnixSocket)
        case inherited
    }

    /// How many connections wait to be accepted.
    private static let backlog: Int32 = 1024
    /// How long connections are still accepted that were made before the service began to stop.
    private static let acceptGrace = TimeAmount.milliseconds(100)

    /// Begins to listen.
    init(
        _ source: Source, name: String, channel: ServiceChannel, connections: OpenConnections,
        group: any EventLoopGroup,
        logger: Logger
    ) async throws(ServiceStartError) {
        self.channel = channel
        self.connections = connections
        self.logger = logger
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(ChannelOptions.backlog, value: Listener.backlog)
            .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
        do {
            switch source {
            case .address(let address):
                ownership = .own
                server = try await bootstrap.bind(to: address) { channel.setup(channel: $0, logger: logger) }
            case .unixSocket(let socket):
                ownership = .unixSocket(socket)
                server = try await bootstrap.bind(socket.descriptor) { channel.setup(channel: $0, logger: logger) }
                // Of a socket that is bound, NIO does not know how many may wait.
                socket.listen(backlog: Listener.backlog)
            case .inherited(let descriptor):
                ownership = .inherited
                server = try await bootstrap.bind(descriptor) { channel.setup(channel: $0, logger: logger) }
            }
        } catch let error as IOError {
            throw ServiceStartError(
                error.errnoCode == EADDRINUSE ? .addressInUse : .addressUnavailable,
                "\(name): \(error.errnoCode == EADDRINUSE ? "another process listens there" : "\(error)")")
        } catch {
            throw ServiceStartError(.addressUnavailable, "\(name): \(error)")
        }
        // Port 0 is any that is free: people want to know which.
        if case .address = source, let port = server.channel.localAddress?.port, let colon = name.lastIndex(of: ":") {
            self.name = "\(name[..<colon]):\(port)"
        } else {
            self.name = name
        }
    }

    /// The port that is listened on; `nil` for a Unix-domain socket.
    var port: Int? { server.channel.localAddress?.port }

    func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                do {
                    try await server.executeThenClose { connections in
                        for try await connection in connections {
                            group.addTask { await channel.handle(value: connection, logger: logger) }
                        }
                    }
                } catch {
                    logger.error(
                        "Accepting connections failed", metadata: ["listener": "\(name)", "error": "\(error)"])
                }
            }
        } onGracefulShutdown: {
            connections.drain()
            stopAccepting()
        }
    }

    /// Takes no new connections; those that wait to be accepted are, and answered.
    private func stopAccepting() {
        let channel = server.channel
        let loop = channel.eventLoop
        switch ownership {
        case .inherited:
            // Whoever listens for the service keeps those that wait for the next one.
            channel.close(promise: nil)
        case .unixSocket(let socket):
            socket.unlinkPath()
            loop.scheduleTask(in: Listener.acceptGrace) { channel.close(promise: nil) }
        case .own:
            NewConnectionFilter.attach(to: channel).whenComplete { _ in
                loop.scheduleTask(in: Listener.acceptGrace) { channel.close(promise: nil) }
            }
        }
    }
}
