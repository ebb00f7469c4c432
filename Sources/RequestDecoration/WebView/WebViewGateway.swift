/// A gateway as a web view uses it: the proxy for all its requests.
///
/// Only requests reach a proxy that the web view sends itself: the first document, frames, Ajax, WebSockets and posted forms
/// all do, with their bodies.
public struct WebViewGateway: Sendable, Hashable {
    /// The host that it listens on: an address of this machine.
    public let host: String
    /// The port.
    public let port: UInt16
    /// The certificate in PEM that the web view trusts for the hosts whose requests the gateway decrypts; `nil` if it
    /// decrypts none.
    public let authority: String?
    /// The User-Agent that the session was made with, for scripts that read it; `nil` for the web view's own.
    public let userAgent: String?

    /// Creates the address of a gateway.
    public init(host: String = "127.0.0.1", port: UInt16, authority: String? = nil, userAgent: String? = nil) {
        self.host = host
        self.port = port
        self.authority = authority
        self.userAgent = userAgent
    }

    /// `http://HOST:PORT`, as WebKitGTK and browsers take it.
    public var proxyURL: String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}
