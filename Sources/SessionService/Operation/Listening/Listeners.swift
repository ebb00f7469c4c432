import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle
import SessionStore

/// All the addresses that the service listens on, together: they stop at the same moment.
struct Listeners: Service {
    let all: [Listener]
    private let unixSocket: UnixSocket?

    /// Creates the channel for connections of one listener.
    typealias MakeChannel = (ListenerKind, NIOSSLContext?) -> ServiceChannel

    /// Begins to listen everywhere.
    ///
    /// - Parameter inherited: sockets that another process listens on for the service; if there are any, the
    ///   configuration's own are left alone.
    init(
        _ configuration: ServiceConfiguration, inherited: [Int32], connections: ConnectionPools, logger: Logger,
        makeChannel: MakeChannel
    ) async throws(ServiceStartError) {
        let group = MultiThreadedEventLoopGroup.singleton
        let tls = try TLSFiles.context(configuration)
        var all: [Listener] = []
        var unixSocket: UnixSocket?
        func listen(_ source: Listener.Source, _ name: String, _ way: ListenerKind) async throws(ServiceStartError) {
            all.append(
                try await Listener(
                    source, name: name, channel: makeChannel(way, way.isEncrypted ? tls : nil),
                    connections: connections[way], group: group, logger: logger))
        }
        for descriptor in inherited {
            let address = InheritedSocket.address(descriptor)
            let name = address.map { InheritedSocket.name($0) } ?? "descriptor \(descriptor)"
            if let address, address.port != nil {
                let way = try Listeners.way(address, name, configuration, tls)
                try await listen(.inherited(descriptor), name, way)
            } else {
                guard let path = address?.pathname, PrivateFile.isPrivate(path) else {
                    throw ServiceStartError(
                        .unprotected,
                        "\(name): other users can reach this socket; give it the mode 0600 (SocketMode= of its unit)")
                }
                try await listen(.inherited(descriptor), name, .socket)
            }
        }
        if inherited.isEmpty {
            for wanted in configuration.addresses {
                let name = wanted.description
                let address: SocketAddress
                do {
                    address = try SocketAddress.makeAddressResolvingHost(wanted.host, port: wanted.port)
                } catch {
                    throw ServiceStartError(.addressUnavailable, "\(name): the host name cannot be resolved")
                }
                let way = try Listeners.way(address, name, configuration, tls)
                try await listen(.address(address), name, way)
            }
            if let path = configuration.socket {
                let socket = try UnixSocket(path: path)
                unixSocket = socket
                try await listen(.unixSocket(socket), path, .socket)
            }
        }
        guard !all.isEmpty else {
            throw ServiceStartError(.configurationInvalid, "no address to listen on: use --socket or --listen")
        }
        self.all = all
        self.unixSocket = unixSocket
    }

    /// The kind of listener for a TCP address; rejected if others can reach it and nothing protects it.
    private static func way(
        _ address: SocketAddress, _ name: String, _ configuration: ServiceConfiguration, _ tls: NIOSSLContext?
    ) throws(ServiceStartError) -> ListenerKind {
        guard tls != nil || InheritedSocket.isLoopback(address) else {
            throw ServiceStartError(
                .unprotected,
                "\(name): other machines can reach this address, so it needs TLS: name a certificate and its key, or "
                    + "listen on 127.0.0.1")
        }
        let hosts = configuration.hosts + (configuration.publicURL.map { [$0.authority] } ?? [])
        return ListenerKind(
            name: "tcp", isOwners: false, isEncrypted: tls != nil, hosts: HostRule(hosts),
            publicOrigin: configuration.publicURL?.origin,
            proxies: configuration.publicURL == nil ? [] : Set(configuration.proxies))
    }

    /// Returns the URL at which browsers reach the service; `nil` if they do not.
    ///
    /// It is the configured URL, or else that of the first TCP listener: with TLS its host is the first of the allowed
    /// hosts, without TLS its address.
    func browserURL(_ configuration: ServiceConfiguration) -> String? {
        if let url = configuration.publicURL { return url.description }
        guard let listener = all.first(where: { $0.port != nil }), let port = listener.port else { return nil }
        let isEncrypted = configuration.certificateFile != nil
        guard isEncrypted else { return "http://\(listener.name)" }
        guard let name = configuration.hosts.first else { return nil }
        // Whatever the allowed name, its default port is the port of the listener.
        let hasPort = name.last != "]" && name.contains(":")
        return hasPort || port == 443 ? "https://\(name)" : "https://\(name):\(port)"
    }

    /// Stops listening before ``run()``.
    func close() async {
        for listener in all { await listener.close() }
        unixSocket?.remove()
    }

    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for listener in all { group.addTask { try await listener.run() } }
            try await group.waitForAll()
        }
        unixSocket?.remove()
    }
}
