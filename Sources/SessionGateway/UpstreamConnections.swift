import HTTPMessages
import NIOCore
import NIOPosix
import NIOSSL
import OAuth2
import WebPrimitives

/// The connections of one jar to servers, on one event loop.
///
/// They are never shared between jars: a server may have authenticated the connection.
actor UpstreamConnections {
    typealias Destination = ForwardedRequest.Destination

    /// How requests get to a server.
    struct Route: Sendable, Hashable {
        let destination: Destination
        /// The proxy in front of it; `nil` if there is none.
        let proxy: GatewaySettings.UpstreamProxy?
        /// Whether the proxy opens a tunnel, in which requests look as they do without it.
        let isTunnel: Bool

        /// Whether requests are sent in absolute form.
        var isToProxy: Bool { proxy != nil && !isTunnel }
    }

    private nonisolated let loop: any EventLoop
    private nonisolated let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let limits: GatewaySettings.Limits
    private let tls: ServerTLS
    /// Whether nothing may connect to an address.
    private let isProhibited: @Sendable (SocketAddress) -> Bool
    /// Connections that wait for a request, the one that was used last at the end.
    private var idle: [Route: [ByteStream]] = [:]
    private var idleCount = 0
    /// The routes with such connections, the one that was added first at the beginning.
    private var order: [Route] = []

    init(
        on loop: any EventLoop, limits: GatewaySettings.Limits, tls: ServerTLS,
        isProhibited: @escaping @Sendable (SocketAddress) -> Bool
    ) {
        self.loop = loop
        executor = loop.executor
        self.limits = limits
        self.tls = tls
        self.isProhibited = isProhibited
    }

    /// A connection that is open already; `nil` if there is none.
    func takeIdle(_ route: Route) async -> ByteStream? {
        while let stream = idle[route]?.popLast() {
            idleCount -= 1
            if idle[route]?.isEmpty == true {
                idle[route] = nil
                order.removeAll { $0 == route }
            }
            if await stream.isIdle { return stream }
            await stream.abort()
        }
        return nil
    }

    /// Keeps a connection for further requests.
    func put(_ stream: ByteStream, _ route: Route) async {
        guard await stream.isIdle else { return await stream.abort() }
        if idleCount >= limits.idleServers { await removeOldest() }
        await stream.readAhead()
        if idle[route] == nil { order.append(route) }
        idle[route, default: []].append(stream)
        idleCount += 1
    }

    /// Closes connections that have ended, and of the others the one that waits longest.
    private func removeOldest() async {
        var isRemoved = false
        for route in order {
            guard let stream = idle[route]?.first else { continue }
            if isRemoved, await stream.isIdle { continue }
            isRemoved = true
            idle[route]?.removeFirst()
            if idle[route]?.isEmpty == true { idle[route] = nil }
            idleCount -= 1
            await stream.abort()
        }
        order = order.filter { idle[$0] != nil }
    }

    /// Closes what waits for a request.
    func closeIdle() async {
        let streams = idle.values.joined()
        idle = [:]
        idleCount = 0
        for stream in streams { await stream.close() }
    }

    /// Opens a connection for requests.
    func open(_ route: Route) async throws(GatewayFailure) -> ByteStream {
        let stream: ByteStream
        if let proxy = route.proxy, route.isTunnel {
            stream = try await tunnel(to: route.destination, through: proxy)
        } else {
            stream = try await connect(to: route.destination, through: route.proxy)
        }
        if route.destination.isEncrypted { try await secure(stream, to: route.destination) }
        return stream
    }

    /// Puts TLS under a connection, and verifies the server.
    func secure(_ stream: ByteStream, to destination: Destination) async throws(GatewayFailure) {
        do {
            // An address goes into no SNI field.
            let name = destination.host.isIPAddress ? nil : destination.host.description
            try await stream.startTLS(
                NIOSSLClientHandler(context: tls.context(for: destination.host), serverHostname: name),
                within: limits.connect)
        } catch {
            await stream.close()
            throw GatewayFailure(
                .tlsCertificateError, 502, "the TLS connection to \(destination.description) fails: \(error)",
                nextStep: "Check the server's certificate. Name a private authority with --ca-file.")
        }
    }

    /// Opens a connection to a server, or to the proxy in front of it.
    ///
    /// Addresses of both families are tried as RFC 8305 describes. The address that is checked is the one that is
    /// connected to, so a name that changes its address gains nothing.
    private func connect(
        to destination: Destination, through proxy: GatewaySettings.UpstreamProxy?
    ) async throws(GatewayFailure) -> ByteStream {
        let host = proxy?.host ?? destination.host.unbracketed
        let port = proxy?.port ?? Int(destination.port)
        let server = proxy.map { "the proxy \($0.host):\($0.port)" } ?? destination.description
        guard WebHost.isReachable(destination.host.addressOctets) else {
            throw UpstreamConnections.prohibited(destination.description)
        }
        let stream: ByteStream
        do {
            stream = try await ClientBootstrap(group: loop)
                .connectTimeout(limits.connect)
                .channelOption(.autoRead, value: false)
                .channelOption(.allowRemoteHalfClosure, value: true)
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .connect(host: host, port: port) { channel in
                    channel.eventLoop.makeCompletedFuture { try ByteStream.add(to: channel) }
                }
        } catch {
            throw UpstreamConnections.failure(error, server, host)
        }
        if let address = stream.channel.remoteAddress, isProhibited(address) {
            await stream.abort()
            throw UpstreamConnections.prohibited(server)
        }
        return stream
    }

    private static func prohibited(_ server: String) -> GatewayFailure {
        GatewayFailure(
            .destinationIPProhibited, 403, "the gateway does not connect to \(server)",
            nextStep: "Use another address: the gateway itself and the metadata services of clouds are not reachable.")
    }

    /// Opens a tunnel to a server through a proxy.
    private func tunnel(
        to destination: Destination, through proxy: GatewaySettings.UpstreamProxy
    ) async throws(GatewayFailure) -> ByteStream {
        let stream = try await connect(to: destination, through: proxy)
        var head = Array("CONNECT \(destination.description) HTTP/1.1\r\n".utf8)
        head.append(field: "Host", Octets(destination.description))
        if let credentials = proxy.authorization { head.append(field: "Proxy-Authorization", Octets(credentials)) }
        head += [ASCII.carriageReturn, ASCII.lineFeed]
        do {
            try await stream.write(ByteBuffer(bytes: head))
            guard let octets = try await stream.head(idle: limits.connect, within: limits.connect) else {
                throw StreamError.endedEarly
            }
            let head = try MessageHead(octets, from: .server)
            let status = StatusLine(head.octets.span.extracting(head.startLine))?.status ?? 0
            guard status / 100 == 2 else {
                await stream.close()
                throw GatewayFailure(
                    .destinationUnavailable, 502,
                    "the proxy \(proxy.host):\(proxy.port) opens no tunnel to \(destination.description): it answers "
                        + "with status \(status)",
                    nextStep: status == 407
                        ? "Check the credentials for the proxy." : "Check that the proxy allows this server.")
            }
            return stream
        } catch let failure as GatewayFailure {
            throw failure
        } catch {
            await stream.close()
            throw GatewayFailure(
                .connectionTerminated, 502, "the proxy \(proxy.host):\(proxy.port) gives no answer",
                nextStep: "Check that it is an HTTP proxy.")
        }
    }

    private static func failure(_ error: any Error, _ server: String, _ host: String) -> GatewayFailure {
        if let error = error as? NIOConnectionError, error.connectionErrors.isEmpty {
            return GatewayFailure(
                .dnsError, 502, "the name \(host) cannot be resolved",
                nextStep: "Check the name, and that this machine is connected to a network.")
        }
        let causes = (error as? NIOConnectionError)?.connectionErrors.map(\.error) ?? [error]
        let isTimeout = causes.contains { cause in
            if case ChannelError.connectTimeout? = cause as? ChannelError { true } else { false }
        }
        return isTimeout
            ? GatewayFailure(
                .connectionTimeout, 504, "\(server) does not accept the connection in time",
                nextStep: "Try again later.")
            : GatewayFailure(
                .connectionRefused, 502, "\(server) refuses the connection",
                nextStep: "Check that it runs and that the port is right.")
    }
}

extension GatewaySettings.UpstreamProxy {
    /// The value of the Proxy-Authorization field (RFC 7617); `nil` without credentials.
    var authorization: String? {
        credentials.map { "Basic " + String(decoding: Base64.encode($0.exposedBytes), as: UTF8.self) }
    }
}

extension SocketAddress {
    /// The octets of the IP address, 4 or 16.
    var addressOctets: [UInt8] {
        ipAddress.flatMap { WebHost($0.contains(":") ? "[\($0)]" : $0) }?.addressOctets ?? []
    }

    /// Whether it is one of this machine's own loopback addresses.
    var isLoopback: Bool {
        let octets = WebHost.embeddedIPv4(addressOctets)
        return octets.count == 4 ? octets[0] == 127 : octets == [UInt8](repeating: 0, count: 15) + [1]
    }
}

extension WebHost {
    /// The addresses at which clouds give credentials to any program of a machine, beside `169.254.0.0/16`.
    private static let metadataServices: [[UInt8]] = [
        [100, 100, 100, 200], [168, 63, 129, 16], [192, 0, 0, 192],
        [0xFD, 0, 0x0E, 0xC2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54],
        [0xFD, 0x20, 0, 0xCE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54],
    ]

    /// Whether the gateway may connect to an address. What is no address has to be resolved first.
    static func isReachable(_ address: [UInt8]) -> Bool {
        let octets = embeddedIPv4(address)
        return !octets.starts(with: [169, 254]) && !metadataServices.contains(octets)
    }

    /// The octets of an IPv4 address that is mapped into IPv6, or translated by NAT64 (RFC 6052); others as they are.
    static func embeddedIPv4(_ octets: [UInt8]) -> [UInt8] {
        let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        let translated = [0, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8)
        guard octets.count == 16, octets.starts(with: mapped) || octets.starts(with: translated) else { return octets }
        return Array(octets.suffix(4))
    }
}
