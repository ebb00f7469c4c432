import NIOCore
import Synchronization

/// The HTTP/2 connections of one jar to servers: one for each route, which belongs to one partition, for all event
/// loops, and further ones while the server accepts no more requests at the same time on the open ones.
///
/// The protocol of a server is known after the first TLS handshake. Meanwhile, requests wait for it.
final class SharedConnections: Sendable {
    typealias Route = UpstreamConnections.Route
    /// Opens a connection, on which the server may have chosen HTTP/2.
    typealias Opener = @Sendable () async -> Result<ByteStream, GatewayFailure>

    /// The way in which a request reaches a server.
    enum Answer {
        /// In a stream of an HTTP/2 connection.
        case stream(ByteStream, isNew: Bool)
        /// Over the connection that was opened for this request, whose server speaks HTTP/1.1.
        case own(ByteStream)
        /// Over a connection of HTTP/1.1 that the caller has to find.
        case none
    }

    private enum Negotiated {
        /// An HTTP/2 connection, with the stream of the request that it was opened for; `nil` if the connection has
        /// already ended.
        case shared(HTTP2ServerConnection, first: ByteStream?)
        case own(ByteStream)
    }

    private typealias Opening = Negotiation<Result<Negotiated, GatewayFailure>>

    private enum Entry {
        case negotiating(Opening)
        /// The HTTP/2 connections, with the negotiation of another one; `nil` if none is being opened.
        case shared([HTTP2ServerConnection], further: Opening?)
        /// The server did not choose HTTP/2. After that time, it is offered again.
        case single(until: NIODeadline)
    }

    /// How many routes are remembered.
    private static let routeLimit = 1000
    /// The maximum number of connections on a route. Requests beyond the limits of all of them wait.
    private static let connectionLimit = 6
    /// How long a server counts as one that only supports HTTP/1.1.
    private static let singleTime = TimeAmount.minutes(10)

    private let limits: GatewayEnvironment.Limits
    private let state = Mutex<(entries: [Route: Entry], isClosed: Bool)>(([:], false))

    init(_ limits: GatewayEnvironment.Limits) {
        self.limits = limits
    }

    /// Decides how a request reaches a server. Ends early if the task is cancelled.
    func answer(_ route: Route, opening open: @escaping Opener) async throws(GatewayFailure) -> Answer {
        var full: [HTTP2ServerConnection] = []
        // A connection may end, or be full, just before it is used.
        for _ in 0..<(3 * SharedConnections.connectionLimit) {
            switch step(route, without: full, open) {
            case .single: return .none
            case .shared(let connections):
                for connection in connections {
                    switch await connection.open() {
                    case .stream(let stream): return .stream(stream, isNew: false)
                    case .full: full.append(connection)
                    case .ended: forget(connection, route)
                    }
                }
            case .waiting:
                if let stream = await waitingStream(full, route) { return .stream(stream, isNew: false) }
                full = []
            case .negotiating(let negotiation, let isOwn):
                switch await negotiation.outcome(forFirst: isOwn) {
                case nil: throw .abandoned
                case .failure where !isOwn && negotiation.isAbandoned: break
                case .failure(let failure):
                    // The server may permit no further connection.
                    guard !full.isEmpty else { throw failure }
                    if let stream = await waitingStream(full, route) { return .stream(stream, isNew: false) }
                    full = []
                case .success(.own(let stream)): return isOwn ? .own(stream) : .none
                case .success(.shared(_, let first?)) where isOwn: return .stream(first, isNew: true)
                case .success(.shared): break
                }
            }
        }
        return .none
    }

    /// A stream of the connection with the fewest requests, in which the request waits for others to end; `nil` if it
    /// has ended.
    private func waitingStream(_ connections: [HTTP2ServerConnection], _ route: Route) async -> ByteStream? {
        var least: (connection: HTTP2ServerConnection, count: Int)?
        for connection in connections {
            let count = await connection.streamCount
            if count < least?.count ?? .max { least = (connection, count) }
        }
        guard let connection = least?.connection else { return nil }
        let stream = await connection.open(waiting: true).stream
        if stream == nil { forget(connection, route) }
        return stream
    }

    /// A stream for a WebSocket on an open connection; `nil` if the server does not support it. No connection is opened
    /// for this, because a server announces its support only after the handshake.
    func webSocketStream(_ route: Route) async -> ByteStream? {
        guard case .shared(let connections, _)? = state.withLock({ $0.entries[route] }) else { return nil }
        for connection in connections where await connection.acceptsWebSockets {
            if let stream = await connection.open().stream { return stream }
        }
        return nil
    }

    /// Has further requests open a new connection. Those in progress end first on the open ones.
    func retire(_ route: Route) async {
        let entry = state.withLock { state -> Entry? in
            guard case .shared(let connections, let further)? = state.entries[route] else { return nil }
            state.entries[route] = further.map { .negotiating($0) }
            return .shared(connections, further: nil)
        }
        guard case .shared(let connections, _)? = entry else { return }
        for connection in connections { await connection.retire() }
    }

    /// Has further requests open a new connection instead of waiting for the one that is being opened.
    func abandonNegotiation(_ route: Route) {
        state.withLock { state in
            switch state.entries[route] {
            case .negotiating: state.entries[route] = nil
            case .shared(let connections, _?): state.entries[route] = .shared(connections, further: nil)
            case .shared, .single, nil: break
            }
        }
    }

    /// Closes the connections that only one disconnected client has used, after their last requests.
    func release(client: UInt64) async {
        let entries = state.withLock { state in
            let routes = state.entries.keys.filter { $0.partition.client == client }
            return routes.compactMap { state.entries.removeValue(forKey: $0) }
        }
        for case .shared(let connections, _) in entries { for connection in connections { await connection.retire() } }
    }

    /// Closes all connections, including those that are still being opened.
    func close() {
        let entries = state.withLock { state in
            defer { state = ([:], true) }
            return state.entries.values
        }
        for case .shared(let connections, _) in entries { for connection in connections { connection.close() } }
    }

    private enum Step {
        case negotiating(Opening, isOwn: Bool)
        case shared([HTTP2ServerConnection])
        /// No further connection may be opened.
        case waiting
        case single
    }

    /// - Parameter full: The connections that accept no more requests at the same time.
    private func step(_ route: Route, without full: [HTTP2ServerConnection], _ open: @escaping Opener) -> Step {
        state.withLock { state in
            func negotiation() -> Opening {
                Opening {
                    await self.negotiate(route, open)
                } droppingForFirst: { outcome in
                    switch outcome {
                    case .success(.own(let stream)): await stream.abort()
                    case .success(.shared(_, let first)): await first?.abort()
                    case .failure: break
                    }
                }
            }
            switch state.entries[route] {
            case .shared(let connections, let further):
                let others = connections.filter { connection in !full.contains { $0 === connection } }
                guard others.isEmpty else { return .shared(others) }
                if let further { return .negotiating(further, isOwn: false) }
                guard connections.count < SharedConnections.connectionLimit else { return .waiting }
                let another = negotiation()
                state.entries[route] = .shared(connections, further: another)
                return .negotiating(another, isOwn: true)
            case .single(let end) where .now() < end: return .single
            case .negotiating(let negotiation): return .negotiating(negotiation, isOwn: false)
            case .single, nil:
                if state.entries.count >= SharedConnections.routeLimit {
                    state.entries = state.entries.filter { entry in
                        switch entry.value {
                        case .single: false
                        case .shared(let connections, nil): connections.contains(where: \.isOpen)
                        case .shared, .negotiating: true
                        }
                    }
                }
                let first = negotiation()
                state.entries[route] = .negotiating(first)
                return .negotiating(first, isOwn: true)
            }
        }
    }

    private func negotiate(_ route: Route, _ open: Opener) async -> Result<Negotiated, GatewayFailure> {
        let result: Result<Negotiated, GatewayFailure>
        switch await open() {
        case .failure(let failure): result = .failure(failure)
        case .success(let stream) where await stream.applicationProtocol == "h2":
            do {
                let connection = try await HTTP2ServerConnection(on: stream, idle: limits.idle)
                // The first stream is opened before others can use the connection.
                result = .success(.shared(connection, first: await connection.open().stream))
            } catch {
                await stream.abort()
                result = .failure(.tls(route.destination, error))
            }
        case .success(let stream): result = .success(.own(stream))
        }
        let isClosed = state.withLock { state in
            let known: [HTTP2ServerConnection] =
                if case .shared(let connections, _)? = state.entries[route] { connections } else { [] }
            switch result {
            case .success(.shared(let connection, _)):
                state.entries[route] = .shared(known + [connection], further: nil)
            case .failure, .success(.own):
                if !known.isEmpty {
                    state.entries[route] = .shared(known, further: nil)
                } else if case .failure = result {
                    state.entries[route] = nil
                } else {
                    state.entries[route] = .single(until: .now() + SharedConnections.singleTime)
                }
            }
            return state.isClosed
        }
        if isClosed { close() }
        return result
    }

    private func forget(_ connection: HTTP2ServerConnection, _ route: Route) {
        state.withLock { state in
            guard case .shared(let known, let further)? = state.entries[route] else { return }
            let others = known.filter { $0 !== connection }
            state.entries[route] =
                others.isEmpty ? further.map { Entry.negotiating($0) } : .shared(others, further: further)
        }
    }
}

/// The connections of one jar to servers, on all event loops.
struct ServerConnections: Sendable {
    /// Those of each event loop.
    let loops: [ObjectIdentifier: UpstreamConnections]
    private let shared: SharedConnections

    init(
        on group: any EventLoopGroup, of gateway: String, _ environment: GatewayEnvironment, tls: ServerTLS,
        isProhibited: @escaping @Sendable (SocketAddress) -> Bool
    ) {
        let shared = SharedConnections(environment.limits)
        loops = Dictionary(
            uniqueKeysWithValues: group.makeIterator().map { loop in
                let connections = UpstreamConnections(
                    on: loop, of: gateway, environment, tls: tls, sharing: shared, isProhibited: isProhibited)
                return (ObjectIdentifier(loop), connections)
            })
        self.shared = shared
    }

    /// Closes the connections that wait for a request, and keeps none from now on.
    func close() async {
        for connections in loops.values { await connections.closeIdle() }
        shared.close()
    }
}
