/// An address to listen on: a host and a port.
public struct TCPAddress: Sendable, Hashable, CustomStringConvertible {
    /// A name, or an address without brackets.
    public let host: String
    /// 0 for any that is free.
    public let port: Int

    /// The address `host:port`, `[host]:port` or `:port` for loopback; `nil` where it is none.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        self.host = host.isEmpty ? "127.0.0.1" : String(host)
        self.port = Int(port)
    }

    /// The address as it stands in a URL.
    public var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
