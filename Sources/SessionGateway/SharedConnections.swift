import NIOCore
import Synchronization

/// The HTTP/2 connections of one jar to servers: one for each route, whichever event loop asks.
///
/// Which protocol a server speaks is known after the first TLS handshake. Requests that come meanwhile wait for it.
final class SharedConnections: Sendable {
    typealias Route = UpstreamConnections.Route

    /// How a request gets to a server.
    enum Answer {
        /// In a stream of an HTTP/2 connection.
        case stream(ByteStream, isNew: Bool)
        /// Over the connection that was opened for this request, whose server speaks HTTP/1.1.
        case own(ByteStream)
        /// Over a connection of HTTP/1.1 that is still to be found.
        case none
    }

    private enum Negotiated {
        case shared(HTTP2ServerConnection)
        case own(ByteStream)
    }

    private typealias Negotiation = Task<Result<Negotiated, GatewayFailure>, Never>

    private enum Entry {
        case negotiating(Negotiation)
        case shared(HTTP2ServerConnection)
        /// The server did not choose HTTP/2. It is asked again after that time.
        case single(until: NIODeadline)
    }

    /// How many routes are remembered.
    private static let routeLimit = 1000
    /// How long a server counts as one that speaks HTTP/1.1 only.
    private static let singleTime = TimeAmount.minutes(10)

    private let limits: GatewaySettings.Limits
    private let state = Mutex<(entries: [Route: Entry], isClosed: Bool)>(([:], false))

    init(_ limits: GatewaySettings.Limits) {
        self.limits = limits
    }

    /// Finds out how a request gets to a server.
    ///
    /// - Parameter open: Opens a connection, on which the server may have chosen HTTP/2.
    func answer(
        _ route: Route, opening open: @escaping @Sendable () async -> Result<ByteStream, GatewayFailure>
    ) async throws(GatewayFailure) -> Answer {
        // A connection may end just when it is to be used.
        for _ in 0..<3 {
            switch step(route, open) {
            case .single: return .none
            case .shared(let connection):
                if let stream = await connection.open() { return .stream(stream, isNew: false) }
                forget(connection, route)
            case .negotiating(let negotiation, let isOwn):
                switch await negotiation.value {
                case .failure(let failure): throw failure
                case .success(.own(let stream)): return isOwn ? .own(stream) : .none
                case .success(.shared(let connection)):
                    if let stream = await connection.open() { return .stream(stream, isNew: isOwn) }
                    forget(connection, route)
                }
            }
        }
        return .none
    }

    /// Whether requests on a route need no connection of their own.
    func isShared(_ route: Route) async -> Bool {
        guard case .shared(let connection)? = state.withLock({ $0.entries[route] }) else { return false }
        return await connection.isUsable
    }

    /// Closes all connections, and those that are still being opened once they are open.
    func close() {
        let entries = state.withLock { state in
            defer { state = ([:], true) }
            return state.entries.values
        }
        for case .shared(let connection) in entries { connection.close() }
    }

    private enum Step {
        case negotiating(Negotiation, isOwn: Bool)
        case shared(HTTP2ServerConnection)
        case single
    }

    private func step(
        _ route: Route, _ open: @escaping @Sendable () async -> Result<ByteStream, GatewayFailure>
    ) -> Step {
        state.withLock { state in
            switch state.entries[route] {
            case .shared(let connection): return .shared(connection)
            case .single(let end) where .now() < end: return .single
            case .negotiating(let negotiation): return .negotiating(negotiation, isOwn: false)
            case .single, nil:
                if state.entries.count >= SharedConnections.routeLimit {
                    state.entries = state.entries.filter { if case .single = $1 { false } else { true } }
                }
                // Not in the request's own task: others wait for it.
                let negotiation = Negotiation { await self.negotiate(route, open) }
                state.entries[route] = .negotiating(negotiation)
                return .negotiating(negotiation, isOwn: true)
            }
        }
    }

    private func negotiate(
        _ route: Route, _ open: @Sendable () async -> Result<ByteStream, GatewayFailure>
    ) async -> Result<Negotiated, GatewayFailure> {
        let result: Result<Negotiated, GatewayFailure>
        switch await open() {
        case .failure(let failure): result = .failure(failure)
        case .success(let stream) where await stream.applicationProtocol == "h2":
            do {
                result = .success(.shared(try await HTTP2ServerConnection(on: stream, idle: limits.idle)))
            } catch {
                await stream.abort()
                result = .failure(.tls(route.destination, error))
            }
        case .success(let stream): result = .success(.own(stream))
        }
        let isClosed = state.withLock { state in
            switch result {
            case .failure: state.entries[route] = nil
            case .success(.own): state.entries[route] = .single(until: .now() + SharedConnections.singleTime)
            case .success(.shared(let connection)): state.entries[route] = .shared(connection)
            }
            return state.isClosed
        }
        if isClosed { close() }
        return result
    }

    private func forget(_ connection: HTTP2ServerConnection, _ route: Route) {
        state.withLock { state in
            if case .shared(let known)? = state.entries[route], known === connection { state.entries[route] = nil }
        }
    }
}
