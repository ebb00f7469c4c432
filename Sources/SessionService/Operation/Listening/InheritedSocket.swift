import NIOCore
import Platform

/// The properties of a socket that another process has bound.
enum InheritedSocket {
    /// Where it is bound; `nil` for an unknown family.
    static func address(_ descriptor: Int32) -> SocketAddress? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer -> SocketAddress? in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> SocketAddress? in
                guard getsockname(descriptor, address, &size) == 0 else { return nil }
                switch Int32(address.pointee.sa_family) {
                case AF_INET:
                    return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee) }
                case AF_INET6:
                    return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee) }
                case AF_UNIX:
                    return address.withMemoryRebound(to: sockaddr_un.self, capacity: 1) { SocketAddress($0.pointee) }
                default: return nil
                }
            }
        }
    }

    /// The name of an address, for people.
    static func name(_ address: SocketAddress) -> String {
        if let host = address.ipAddress, let port = address.port {
            return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
        return address.pathname ?? "a socket without a name"
    }

    /// Whether only processes of this machine can reach an address.
    static func isLoopback(_ address: SocketAddress) -> Bool {
        switch address {
        case .v4: address.ipAddress?.hasPrefix("127.") == true
        case .v6: address.ipAddress == "::1"
        default: false
        }
    }
}
