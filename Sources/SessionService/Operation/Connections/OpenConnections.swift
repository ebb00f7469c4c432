import NIOCore
import Synchronization

/// The connections of every way in, each counted by itself: whoever reaches a port cannot use up those of the socket's
/// owner.
struct ConnectionPools: Sendable {
    let socket: OpenConnections
    let tcp: OpenConnections

    /// - Parameter limit: how many connections are served at once, of each way in.
    init(limit: Int) {
        socket = OpenConnections(limit: limit)
        tcp = OpenConnections(limit: limit)
    }

    /// How many there are.
    var count: Int { socket.count + tcp.count }

    /// Those of one way in.
    subscript(way: WayIn) -> OpenConnections { way.isOwners ? socket : tcp }
}

/// The connections of one way in.
final class OpenConnections: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isDraining = false
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: how many connections are served at once.
    init(limit: Int) {
        self.limit = limit
    }

    /// How many there are.
    var count: Int { state.withLock { $0.channels.count } }

    /// Takes a connection in, until it is closed.
    ///
    /// - Returns: whether there are so many that it cannot be served.
    func add(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let (isRefused, isDraining) = state.withLock { state in
            state.channels[id] = channel
            return (state.channels.count > limit, state.isDraining)
        }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.state.withLock { _ = $0.channels.removeValue(forKey: id) }
        }
        if isDraining {
            // After the handlers are in their places.
            channel.eventLoop.execute { channel.pipeline.fireUserInboundEventTriggered(MessageHandler.Drain()) }
        }
        return isRefused
    }

    /// Lets every connection end after what it has been asked is answered, those to come too.
    func drain() {
        let channels = state.withLock { state in
            state.isDraining = true
            return Array(state.channels.values)
        }
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(MessageHandler.Drain()) }
    }
}
