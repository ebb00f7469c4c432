import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle

/// Takes connections at one address, until the service stops.
struct Listener: Service {
    typealias Accepted = NIOAsyncChannel<ServiceChannel.Value, Never>

    /// The listener's address, for people.
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
        /// A descriptor that someone else listens on, too.
        case inherited(Int32)
    }

    /// The owner of the address.
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
                "\(name): \(error.errnoCode == EADDRINUSE ? "another process is listening on it" : "\(error)")")
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

    /// Stops listening before ``run()``.
    func close() async {
        try? await server.executeThenClose { _ in }
    }

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
            // The process that holds the listening socket keeps waiting connections for the next service.
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

/// The certificate that the service shows, out of its files.
enum TLSFiles {
    static func context(_ configuration: ServiceConfiguration) throws(ServiceStartError) -> NIOSSLContext? {
        guard configuration.certificateFile != nil || configuration.privateKeyFile != nil else { return nil }
        guard let certificateFile = configuration.certificateFile, let keyFile = configuration.privateKeyFile else {
            throw ServiceStartError(
                .configurationInvalid, "TLS needs both a certificate and its key")
        }
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(certificateFile)
        } catch {
            throw ServiceStartError(.certificateInvalid, "\(certificateFile): this is not a certificate in PEM")
        }
        let key: NIOSSLPrivateKey
        do {
            key = try NIOSSLPrivateKey(file: keyFile, format: .pem)
        } catch {
            throw ServiceStartError(.certificateInvalid, "\(keyFile): this is not a private key in PEM")
        }
        var settings = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        settings.minimumTLSVersion = .tlsv12
        settings.applicationProtocols = ["http/1.1"]
        do {
            return try NIOSSLContext(configuration: settings)
        } catch {
            throw ServiceStartError(
                .certificateInvalid,
                "\(certificateFile): the certificate and the key in \(keyFile) do not belong together, or "
                    + "cannot be used"
            )
        }
    }
}

/// How a connection reached the service.
struct ListenerKind: Sendable {
    /// The name in logs: `socket`, or `tcp`.
    let name: String
    /// Whether every client of the listener is the owner, because no one else can reach it.
    let isOwners: Bool
    /// Whether it is encrypted.
    let isEncrypted: Bool
    /// The names that requests may be for; `nil` for any.
    let hosts: HostRule?
    /// Where the service's own pages are from for browsers that come by a proxy; `nil` if they are from the address
    /// that is listened on.
    var publicOrigin: String?
    /// The IP addresses of proxies, which tell whom they ask for.
    var proxies: Set<String> = []

    /// A Unix-domain socket, which its file's mode protects.
    static let socket = ListenerKind(name: "socket", isOwners: true, isEncrypted: false, hosts: nil)

    /// Returns the sender of a request: an IP address, or the name of the listener.
    ///
    /// For a proxy's connection, it is the last address in `X-Forwarded-For` that is not one of the configured proxies:
    /// the client itself may have sent the addresses before it.
    func peer(of request: HTTPRequest, on channel: any Channel) -> String {
        let peer = channel.remoteAddress?.ipAddress ?? name
        guard proxies.contains(peer), let field = HTTPField.Name("X-Forwarded-For") else { return peer }
        let hops = request.headerFields[values: field].flatMap { $0.split(separator: ",") }.map {
            String($0.drop { $0 == " " }.prefix { $0 != " " })
        }
        guard let client = hops.last(where: { !proxies.contains($0) }),
            let address = try? SocketAddress(ipAddress: client, port: 0).ipAddress
        else { return peer }
        return address
    }
}
