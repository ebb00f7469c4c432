import Foundation
import Platform

/// A port of the loopback interface that refuses connections, and that nobody else gets meanwhile.
public final class ClosedPort: Sendable {
    /// The number of the port.
    public let number: UInt16
    /// Bound, but not listening.
    private let descriptor: Int32

    /// Takes a port.
    public init() throws {
        descriptor = socket(AF_INET, SocketKind.stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        guard inet_pton(AF_INET, "127.0.0.1", &address.sin_addr) == 1 else { throw POSIXError(.EINVAL) }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        number = UInt16(bigEndian: address.sin_port)
    }

    deinit {
        close(descriptor)
    }
}
