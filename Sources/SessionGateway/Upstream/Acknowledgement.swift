import NIOCore
import Platform

/// Whether the other side of a connection has confirmed the octets that were sent.
enum Acknowledgement {
    /// Whether the system of the other side has confirmed what was sent through a socket, or has confirmed anything within
    /// the given time.
    ///
    /// The system confirms octets when they arrive, however slow the program is that reads them. So this tells a missing
    /// network from a slow server.
    ///
    /// - Returns: `true` also if the system does not tell.
    @Sendable
    static func hasArrived(_ channel: any Channel, within time: TimeAmount) async -> Bool {
        guard let socket = channel as? any SocketOptionProvider else { return true }
        #if canImport(Darwin)
            guard let info = try? await socket.getTCPConnectionInfo().get() else { return true }
            return info.tcpi_snd_sbbytes == 0
        #elseif os(Linux)
            guard let info = try? await socket.getTCPInfo().get() else { return true }
            // Requests in other streams of the connection may be on their way.
            return info.tcpi_unacked == 0 || Int64(info.tcpi_last_ack_recv) < time.nanoseconds / 1_000_000
        #else
            return true
        #endif
    }
}
