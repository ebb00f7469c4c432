import HTTPMessages
import NIOCore
import NIOPosix
import OAuth2
import Platform
import Synchronization
import WebPrimitives

/// The connections of one jar to servers, on one event loop.
///
/// They are never shared between jars, nor between the partitions of a jar (``ConnectionPartition``), because a server
/// may have authenticated the connection. Those of HTTP/1.1 stay on the event loop; all event loops share those of
/// HTTP/2.
actor UpstreamConnections {
    typealias Destination = ForwardedRequest.Destination

    /// The route to a server.
    struct Route: Sendable, Hashable {
        let destination: Destination
        /// The proxy in front of it; `nil` if there is none.
        let proxy: GatewayEnvironment.UpstreamProxy?
        /// Whether the proxy opens a tunnel, in which requests look as they do without it.
        let isTunnel: Bool
        /// Which requests share the connections.
        let partition: ConnectionPartition

        /// Whether requests are sent in absolute form.
        var isToProxy: Bool { proxy != nil && !isTunnel }
    }

    private nonisolated let loop: any EventLoop
    private nonisolated let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Runs the tasks of the clients on the same event loop.
    nonisolated let taskExecutor: EventLoopTaskExecutor

    /// The name of the gateway for other proxies.
    nonisolated let gateway: String
    private let limits: GatewayEnvironment.Limits
    private let clock: any GatewayClock
    private let resolver: GatewayEnvironment.ResolverMaker?
    private let tls: ServerTLS
    private let shared: SharedConnections
    /// Whether connections to an address are prohibited.
    private let isProhibited: @Sendable (SocketAddress) -> Bool
    /// Connections that wait for a request, the last used one at the end.
    private var idle: [Route: [ByteStream]] = [:]
    private var idleCount = 0
    /// Whether the gateway has stopped, so that no connection is kept.
    private var isClosed = false
    /// The routes with such connections, in the order in which they were added.
    private var order: [Route] = []

    init(
        on loop: any EventLoop, of gateway: String, _ environment: GatewayEnvironment, tls: ServerTLS,
        sharing shared: SharedConnections,
        isProhibited: @escaping @Sendable (SocketAddress) -> Bool
    ) {
        self.loop = loop
        self.gateway = gateway
        executor = loop.executor
        taskExecutor = EventLoopTaskExecutor(loop)
        limits = environment.limits
        clock = environment.clock
        resolver = environment.resolver
        self.tls = tls
        self.shared = shared
        self.isProhibited = isProhibited
    }

    /// The requirements of a request on its connection to a server.
    struct Demand {
        /// A connection that the client's tunnel has opened, without TLS.
        var spare: ByteStream?
        /// Whether the request cannot be sent over HTTP/2.
        var isHTTP1 = false
        /// Whether the request opens a WebSocket, which is possible over HTTP/2 if the server permits it.
        var isWebSocket = false
        /// Whether a new connection is required, because a used one may be closed at any moment.
        var isFresh = false
        /// The gateways that the request has passed.
        var passed = PassedGateways()
    }

    /// A connection, and whether it has had a request before.
    typealias Found = (server: ByteStream, isReused: Bool)

    /// An open connection for one request; `nil` if one has to be opened or negotiated.
    func idle(_ route: Route, for demand: Demand) async -> ByteStream? {
        route.destination.isEncrypted || demand.isFresh ? nil : await takeIdle(route)
    }

    /// A connection for one request, or a stream in its place. Ends early if the task is cancelled.
    func connection(_ route: Route, for demand: Demand) async throws(GatewayFailure) -> Found {
        guard route.destination.isEncrypted else {
            return (try await open(route, after: demand.passed), false)
        }
        let spare = SpareConnection(demand.spare)
        if demand.isWebSocket, let stream = await shared.webSocketStream(route) {
            await spare.take()?.abort()
            return (stream, true)
        }
        if !demand.isHTTP1 {
            let answer: SharedConnections.Answer
            do {
                answer = try await shared.answer(route) {
                    do throws(GatewayFailure) {
                        return .success(
                            try await self.open(
                                route, after: demand.passed, through: spare.take(), offering: .http2OrHTTP1))
                    } catch {
                        return .failure(error)
                    }
                }
            } catch {
                await spare.take()?.abort()
                throw error
            }
            switch answer {
            case .stream(let stream, let isNew):
                // The tunnel's connection is not needed if another one was found.
                await spare.take()?.abort()
                return (stream, !isNew)
            case .own(let stream): return (stream, false)
            case .none: break
            }
        }
        let unused = spare.take()
        if unused == nil, !demand.isFresh, let server = await takeIdle(route) { return (server, true) }
        return (try await open(route, after: demand.passed, through: unused, offering: .http1), false)
    }

    /// An open connection; `nil` if the route has none.
    private func takeIdle(_ route: Route) async -> ByteStream? {
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

    /// Keeps a connection for further requests. A stream of an HTTP/2 connection ends.
    func put(_ stream: ByteStream, _ route: Route) async {
        // The server has answered, so it does not need the rest of the request.
        guard !stream.isStream else { return await stream.abort() }
        guard !isClosed, await stream.isIdle else { return await stream.abort() }
        if idleCount >= limits.idleServers { await removeOldest() }
        await stream.readAhead()
        if idle[route] == nil { order.append(route) }
        idle[route, default: []].append(stream)
        idleCount += 1
    }

    /// Closes connections that have ended, and the one that has waited longest.
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

    /// Has further requests open new connections, because the network does not answer on the open ones. Requests in
    /// progress go on.
    func retire(_ route: Route) async {
        order.removeAll { $0 == route }
        for stream in idle.removeValue(forKey: route) ?? [] {
            idleCount -= 1
            await stream.abort()
        }
        await shared.retire(route)
    }

    /// Has further requests open a new connection, because the network does not answer to the attempt in progress.
    /// Requests that wait for it go on waiting.
    nonisolated func abandonNegotiation(_ route: Route) {
        shared.abandonNegotiation(route)
    }

    /// Closes the connections that only one disconnected client has used.
    func release(client: UInt64) async {
        let routes = order.filter { $0.partition.client == client }
        order.removeAll { $0.partition.client == client }
        for stream in routes.flatMap({ idle.removeValue(forKey: $0) ?? [] }) {
            idleCount -= 1
            await stream.close()
        }
        await shared.release(client: client)
    }

    /// Closes the connections that wait for a request, and keeps none from now on.
    func closeIdle() async {
        isClosed = true
        let streams = idle.values.joined()
        (idle, order, idleCount) = ([:], [], 0)
        for stream in streams { await stream.close() }
    }

    /// Opens a connection for requests.
    ///
    /// - Parameter passed: The gateways that the first of these requests has passed.
    func open(_ route: Route, after passed: PassedGateways) async throws(GatewayFailure) -> ByteStream {
        if let proxy = route.proxy, route.isTunnel {
            return try await tunnel(to: route.destination, through: proxy, after: passed)
        }
        return try await connect(to: route.destination, through: route.proxy)
    }

    /// Opens a connection with TLS, and verifies the server.
    ///
    /// - Parameter spare: An open connection without TLS.
    private func open(
        _ route: Route, after passed: PassedGateways, through spare: ByteStream?, offering offer: ServerTLS.Offer
    ) async throws(GatewayFailure) -> ByteStream {
        let stream = if let spare { spare } else { try await open(route, after: passed) }
        do {
            try await ConnectionAttempt.with(stream) {
                try await tls.secure(
                    stream, to: route.destination.host, offering: offer, identified: route.partition.hasCredentials,
                    within: limits.connect)
            }
            return stream
        } catch {
            await stream.close()
            throw .tls(route.destination, error)
        }
    }

    /// Opens a connection to a server, or to the proxy in front of it.
    ///
    /// Addresses of both families are tried as RFC 8305 describes. Each address is checked when the connection is made,
    /// so changing the address of a name does not help an attacker.
    private func connect(
        to destination: Destination, through proxy: GatewayEnvironment.UpstreamProxy?
    ) async throws(GatewayFailure) -> ByteStream {
        let host = proxy?.host ?? destination.host.unbracketed
        let port = proxy?.port ?? Int(destination.port)
        let server = proxy.map { "the proxy \($0.host):\($0.port)" } ?? destination.description
        guard WebHost.isReachable(destination.host.addressOctets) else {
            throw UpstreamConnections.prohibited(destination.description)
        }
        let isProhibited = isProhibited
        let clock = clock
        let attempt = ConnectionAttempt()
        do {
            return try await attempt.run {
                try await ClientBootstrap(group: loop)
                    .connectTimeout(limits.connect)
                    .resolver(resolver?(loop))
                    .channelOption(.autoRead, value: false)
                    .channelOption(.allowRemoteHalfClosure, value: true)
                    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                    .connect(host: host, port: port) { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try attempt.add(channel)
                            try channel.pipeline.syncOperations.addHandler(AddressCheck(isProhibited))
                            return try ByteStream.add(to: channel, clock: clock)
                        }
                    }
            }
        } catch {
            throw Task.isCancelled ? .abandoned : UpstreamConnections.failure(error, server, host)
        }
    }

    private static func prohibited(_ server: String) -> GatewayFailure {
        GatewayFailure(
            .destinationIPProhibited, 403, "the gateway does not connect to \(server)",
            nextStep: "Use another address: the gateway itself and the metadata services of clouds are not reachable.")
    }

    /// Opens a tunnel to a server through a proxy.
    private func tunnel(
        to destination: Destination, through proxy: GatewayEnvironment.UpstreamProxy, after passed: PassedGateways
    ) async throws(GatewayFailure) -> ByteStream {
        let stream = try await connect(to: destination, through: proxy)
        var head = Array("CONNECT \(destination.description) HTTP/1.1\r\n".utf8)
        head.append(field: "Host", Octets(destination.description))
        head.append(field: "Via", passed.via(adding: gateway))
        if let credentials = proxy.authorization { head.append(field: "Proxy-Authorization", Octets(credentials)) }
        head += [ASCII.carriageReturn, ASCII.lineFeed]
        do {
            try await stream.write(ByteBuffer(bytes: head))
            let octets = try await ConnectionAttempt.with(stream) {
                try await stream.head(idle: limits.connect, within: limits.connect)
            }
            guard let octets else { throw StreamError.endedEarly }
            let head = try MessageHead(octets, from: .server)
            let status = StatusLine(head.octets.span.extracting(head.startLine))?.status ?? 0
            guard status / 100 == 2 else {
                await stream.close()
                // The proxy, or one behind it, is or has reached this gateway.
                guard status != 508 else { throw GatewayFailure.loop }
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
        guard !causes.contains(where: { $0 is AddressCheck.Prohibition }) else { return prohibited(server) }
        guard !causes.contains(where: { ($0 as? IOError)?.isExhaustion == true }) else {
            return GatewayFailure(
                .proxyInternalError, 503, "the gateway has no descriptor left for a connection to \(server)",
                nextStep: "Try again later, or raise the limit of descriptors (ulimit -n).")
        }
        let isUnroutable = causes.contains { cause in
            (cause as? IOError).map { [ENETUNREACH, EHOSTUNREACH, ENETDOWN].contains($0.errnoCode) } ?? false
        }
        guard !isUnroutable else {
            return GatewayFailure(
                .destinationIPUnroutable, 502, "there is no way to \(server)",
                nextStep: "Check that this machine is connected to a network.")
        }
        let isTimeout = causes.contains { cause in
            if case ChannelError.connectTimeout? = cause as? ChannelError { true } else { false }
        }
        return isTimeout
            ? .unreachable(server)
            : GatewayFailure(
                .connectionRefused, 502, "\(server) refuses the connection",
                nextStep: "Check that it runs and that the port is right.")
    }
}

/// The connection that a client's tunnel has opened, for one use.
private final class SpareConnection: Sendable {
    private let stream: Mutex<ByteStream?>

    init(_ stream: ByteStream?) {
        self.stream = Mutex(stream)
    }

    func take() -> ByteStream? {
        stream.withLock { stream in
            defer { stream = nil }
            return stream
        }
    }
}

extension GatewayEnvironment.UpstreamProxy {
    /// The value of the Proxy-Authorization field (RFC 7617); `nil` without credentials.
    var authorization: String? {
        credentials.map { "Basic " + Base64.text($0.exposedBytes) }
    }
}
