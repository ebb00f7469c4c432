import NIOCore
import Synchronization

/// What the requests of a gateway show about the network: which servers are out of reach, and how long connections take.
final class NetworkWatch: Sendable {
    typealias Destination = ForwardedRequest.Destination

    private struct Server {
        /// When it could not be reached.
        var loss: NIODeadline?
        /// How long the last new connection took, if that was long.
        var slowness: TimeAmount?
        /// The attempt to connect that goes on without its request.
        var opening: ConnectionOpening?
    }

    private let servers = Mutex<[Destination: Server]>([:])

    /// How long a server counts as out of reach before it is tried again.
    private static let lossTime = TimeAmount.seconds(1)
    /// How long a request that a stored response could answer waits for a new connection: so many times as long as the last
    /// one took, within these bounds.
    private static let patienceFactor: Int64 = 3
    private static let patience = TimeAmount.milliseconds(900)...TimeAmount.seconds(10)
    private static let serverLimit = 1000
    private static let openingLimit = 64

    /// Whether a server could not be reached a moment ago.
    func isLost(_ server: Destination, at time: NIODeadline) -> Bool {
        servers.withLock { $0[server]?.loss.map { time < $0 + NetworkWatch.lossTime } ?? false }
    }

    func noteLoss(of server: Destination, at time: NIODeadline) {
        change(server, at: time) { known in
            known.loss = time
            known.slowness = nil
        }
    }

    func noteAnswer(of server: Destination) {
        servers.withLock { servers in
            if servers[server]?.loss != nil { servers[server]?.loss = nil }
        }
    }

    /// How long a request that a stored response could answer waits for a new connection.
    func patience(with server: Destination) -> TimeAmount {
        servers.withLock { servers in
            let wanted = servers[server]?.slowness.map { $0 * NetworkWatch.patienceFactor }
            return min(max(wanted ?? .zero, NetworkWatch.patience.lowerBound), NetworkWatch.patience.upperBound)
        }
    }

    /// Notes that a server can be reached.
    ///
    /// - Parameter duration: How long the new connection took.
    func noteConnection(to server: Destination, after duration: TimeAmount, at time: NIODeadline) {
        let isSlow = duration * NetworkWatch.patienceFactor > NetworkWatch.patience.lowerBound
        guard isSlow || servers.withLock({ $0[server] != nil }) else { return }
        change(server, at: time) { known in
            known.loss = nil
            known.slowness = isSlow ? duration : nil
        }
    }

    /// Lets an attempt to connect go on without its request. Cancels it if another one to the same server does, or too many
    /// do.
    func keep(_ opening: ConnectionOpening, to server: Destination, at time: NIODeadline) {
        let isKept = change(server, at: time) { known, others in
            guard known.opening == nil, others.count(where: { $0.value.opening != nil }) < NetworkWatch.openingLimit
            else { return false }
            known.opening = opening
            return true
        }
        if isKept != true { opening.cancel() }
        if opening.isEnded { forget(opening, to: server) }
    }

    /// Forgets an attempt that has ended.
    func forget(_ opening: ConnectionOpening, to server: Destination) {
        servers.withLock { servers in
            if servers[server]?.opening === opening { servers[server]?.opening = nil }
        }
    }

    /// Cancels the attempts that go on without their requests.
    func cancelOpenings() {
        let openings = servers.withLock { $0.values.compactMap(\.opening) }
        for opening in openings { opening.cancel() }
    }

    private func change(_ server: Destination, at time: NIODeadline, _ body: (inout Server) -> Void) {
        _ = change(server, at: time) { known, _ in body(&known) }
    }

    /// - Returns: `nil` if too many servers are known.
    private func change<Result>(
        _ server: Destination, at time: NIODeadline, _ body: (inout Server, [Destination: Server]) -> Result
    ) -> Result? {
        servers.withLock { servers in
            if servers.count >= NetworkWatch.serverLimit, servers[server] == nil {
                servers = servers.filter { entry in
                    entry.value.opening != nil || entry.value.loss.map { time < $0 + NetworkWatch.lossTime } == true
                }
            }
            guard servers.count < NetworkWatch.serverLimit || servers[server] != nil else { return nil }
            var known = servers[server] ?? Server()
            let result = body(&known, servers)
            let isEmpty = known.loss == nil && known.slowness == nil && known.opening == nil
            servers[server] = isEmpty ? nil : known
            return result
        }
    }
}
