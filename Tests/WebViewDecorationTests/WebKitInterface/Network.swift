// swift-format-ignore-file
// What the adapter uses of Apple's Network framework, as its interface declares it: for a compiler, not for running.

public enum NWEndpoint: Hashable, Sendable {
    public struct Host: Hashable, Sendable {
        public init(_ string: String) {}
    }
    public struct Port: Hashable, Sendable {
        public init?(rawValue: UInt16) {}
    }
    case hostPort(host: NWEndpoint.Host, port: NWEndpoint.Port)
}

@available(macOS 14.0, iOS 17.0, *)
public struct ProxyConfiguration {
    public init(httpCONNECTProxy proxyEndpoint: NWEndpoint) {}
    public func applyCredential(username: String, password: String) {}
}
