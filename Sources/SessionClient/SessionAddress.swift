import WebPrimitives

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where a running service listens.
public struct SessionAddress: Sendable, CustomStringConvertible {
    /// The address as the user writes it.
    public let description: String
    /// The URL before the path of a request. For a Unix socket, in the form of AsyncHTTPClient.
    package let base: String
    /// The value of the `Host` field if the address has none.
    package let host: String?

    /// Reads `http://127.0.0.1:8722`, `https://host`, `https://host/prefix`, `unix:/path` or `http+unix://%2Fpath`.
    ///
    /// - Throws: ``SessionClientError`` if the text is not an address, or if cookies would be sent unencrypted to
    ///   another machine.
    public init(_ text: String) throws(SessionClientError) {
        if let path = SessionAddress.socketPath(text) {
            guard path.hasPrefix("/"), path.utf8.count > 1 else {
                throw SessionClientError(
                    .addressInvalid,
                    "\(text): write the absolute path of the socket, as in unix:/run/user/1000/crumb.sock")
            }
            description = "unix:\(path)"
            base = "http+unix://\(percentEncoded(path))"
            host = "localhost"
            return
        }
        if text.hasPrefix("/") || text.hasPrefix("./") || text.hasPrefix("../") {
            let path = URL(filePath: text).standardizedFileURL.path
            throw SessionClientError(
                .addressInvalid, "\(text): write 'unix:' before a socket's path: --service unix:\(path)")
        }
        let url: RequestURL
        do {
            url = try RequestURL(text)
        } catch {
            throw SessionClientError(.addressInvalid, "\(text.isEmpty ? "the URL" : text): \(error.description)")
        }
        guard url.scheme == .http || url.scheme == .https else {
            throw SessionClientError(
                .addressInvalid, "\(text): the address of a service begins with http, https or unix")
        }
        // A password before the host would be seen in the list of processes, and is not repeated.
        guard let prefix = RequestURL.base(text)?.prefix else {
            throw SessionClientError(
                .addressInvalid,
                "the address of a service is a scheme, a host and a port, and behind a proxy a path such as /crumb")
        }
        guard url.scheme == .https || url.host.isLoopback else {
            throw SessionClientError(
                .addressInvalid, "\(text): over http, others can read the sessions on the network; use https")
        }
        description = url.origin + prefix
        base = description
        host = nil
    }

    /// Whether the service proves its identity with a certificate.
    package var isEncrypted: Bool { base.hasPrefix("https:") }

    private static func socketPath(_ text: String) -> String? {
        if text.hasPrefix("http+unix://") {
            return PercentEncoding.text(text.dropFirst("http+unix://".count))
        }
        guard text.hasPrefix("unix:") else { return nil }
        let path = text.dropFirst("unix:".count)
        return String(path.hasPrefix("//") ? path.dropFirst(2) : path)
    }
}
