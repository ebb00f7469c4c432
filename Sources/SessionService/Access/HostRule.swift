import NIOCore

/// Which names requests over TCP may be for.
///
/// A page of another site can have its name lead to this machine (DNS rebinding); what its requests are for is still
/// that name.
struct HostRule: Sendable {
    private static let loopback: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    private let names: Set<String>

    /// - Parameter names: names besides those of the machine itself, each with a port, or for any port.
    init(_ names: [String]) {
        self.names = Set(names.map { $0.lowercased() })
    }

    /// Whether a request for `authority` may have reached `local`, where its connection ends.
    func admits(_ authority: String, at local: SocketAddress?) -> Bool {
        let authority = authority.lowercased()
        let (name, port) = HostRule.split(authority)
        if names.contains(authority) || names.contains(name) { return true }
        guard let local, let localPort = local.port, port == localPort || port == nil && localPort == 443 else {
            return false
        }
        if HostRule.loopback.contains(name) { return true }
        // An address is no name that could lead elsewhere tomorrow; it is this machine's own, or nobody's.
        guard let address = local.ipAddress else { return false }
        return name == (address.contains(":") ? "[\(address)]" : address)
    }

    private static func split(_ authority: String) -> (name: String, port: Int?) {
        guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else {
            return (authority, nil)
        }
        // What is no number is no port that anything listens on.
        return (String(authority[..<colon]), Int(authority[authority.index(after: colon)...]) ?? -1)
    }
}
