import HTTPMessages
import NIOCore
import WebPrimitives

extension ClientConnection {
    /// The route to a server.
    ///
    /// - Parameter isTunnel: Whether the requests come through a tunnel. A tunnel uses the proxy for https, whatever
    ///   passes through it.
    func route(
        to destination: Destination, isTunnel: Bool, _ partition: ConnectionPartition
    ) -> UpstreamConnections.Route {
        let url = try? RequestURL("\(isTunnel ? "https" : "http")://\(destination.description)/")
        return UpstreamConnections.Route(
            destination: destination, proxy: url.flatMap(frame.environment.proxy), isTunnel: isTunnel,
            partition: partition)
    }

    /// A connection to a server for one request.
    ///
    /// - Parameter patience: How long to wait for a new one; `nil` for the limit. The attempt then goes on, and its
    ///   connection serves further requests.
    func connection(
        _ route: UpstreamConnections.Route, for demand: UpstreamConnections.Demand, within patience: TimeAmount?
    ) async throws -> UpstreamConnections.Found {
        var demand = demand
        if let spare {
            self.spare = nil
            if !route.destination.isEncrypted { return (spare, false) }
            demand.spare = spare
        }
        if let server = await servers.idle(route, for: demand) { return (server, true) }
        let find = { @Sendable [servers, demand] () async throws(GatewayFailure) in
            try await servers.connection(route, for: demand)
        }
        guard let patience else { return try await open(find) }
        let network = frame.network
        let (server, clock, start) = (route.destination, client.clock, time)
        let opening = ConnectionOpening(on: servers.taskExecutor, find) { [servers] opening, outcome in
            network.forget(opening, to: server)
            guard case .success(let found) = outcome else { return }
            let duration = clock.now - start
            // No other client asks for a connection that only this one uses.
            if route.partition.client == nil {
                await servers.put(found.server, route)
            } else {
                await found.server.abort()
            }
            network.noteConnection(to: server, after: duration, at: clock.now)
        }
        guard let found = try await wait(for: opening, within: patience) else {
            network.keep(opening, to: server, at: time)
            servers.abandonNegotiation(route)
            throw GatewayFailure.unreachable(server.description)
        }
        if !found.isReused { network.noteConnection(to: server, after: time - start, at: time) }
        return found
    }

    /// Opens a connection to a server, or finds an open one. The attempt ends with the client's connection, but not
    /// when the gateway begins to stop.
    func open(
        _ find: @escaping @Sendable () async throws(GatewayFailure) -> UpstreamConnections.Found
    ) async throws -> UpstreamConnections.Found {
        let opening = ConnectionOpening(on: servers.taskExecutor, find) { _, _ in }
        guard let found = try await wait(for: opening) else { throw GatewayFailure.abandoned }
        return found
    }

    /// Waits for a connection to a server.
    ///
    /// - Parameter patience: How long to wait; `nil` for as long as it takes.
    /// - Returns: `nil` after that time. The attempt then goes on, and no longer ends with the client's connection.
    private func wait(
        for opening: ConnectionOpening, within patience: TimeAmount? = nil
    ) async throws -> UpstreamConnections.Found? {
        guard !isAborted else {
            opening.cancel()
            throw StreamError.endedEarly
        }
        self.opening = opening
        defer { self.opening = nil }
        let (clock, loop) = (client.clock, client.channel.eventLoop)
        let outcome = try await waiting { await opening.outcome(within: patience, by: clock, on: loop) }
        return try outcome?.get()
    }
}
