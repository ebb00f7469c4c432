import CookieModel

/// Where browsers and clients reach the service, if that is not the address that it listens on: behind a proxy.
struct PublicURL: Sendable, Hashable, CustomStringConvertible {
    /// The first segments of the service's own paths, with which no prefix can begin.
    static let ownSegments: Set<Substring> = [
        "v1", "healthz", "readyz", "metrics", "jars", "gateways", "sign-in", "sign-out", "inspector.css",
        "inspector.js",
    ]

    /// The URL without a slash at its end.
    let description: String
    /// Scheme, host and port, as in a browser's Origin field.
    let origin: String
    /// Host and port, in the form of a Host field.
    let authority: String
    /// The prefix of the service's own paths: empty, or as in `/crumb`.
    let prefix: String

    /// Reads `https://HOST` or `https://HOST/PREFIX`, with a port if it needs one; `http` on this machine alone.
    ///
    /// Returns `nil` for anything else, such as user information, a query, a fragment, dot segments, a prefix that needs
    /// percent-encoding, or one that begins like a path of the service's own.
    init?(_ text: String) {
        guard let (url, prefix) = RequestURL.base(text),
            url.scheme == .https || url.scheme == .http && url.host.isLoopback,
            prefix.split(separator: "/").first.map({ !PublicURL.ownSegments.contains($0) }) ?? true
        else { return nil }
        self.prefix = prefix
        origin = url.origin
        authority = String(origin.dropFirst("\(url.scheme.name)://".count))
        description = origin + prefix
    }

    /// The target of a request without the prefix, whether or not the proxy removed it.
    func withoutPrefix(_ target: String) -> String {
        guard !prefix.isEmpty, target.utf8.starts(with: prefix.utf8) else { return target }
        let rest = target.dropFirst(prefix.count)
        switch rest.first {
        case "/": return String(rest)
        case nil, "?": return "/\(rest)"
        default: return target
        }
    }
}

/// An address to listen on: a host and a port.
package struct TCPAddress: Sendable, Hashable, CustomStringConvertible {
    /// A name, or an address without brackets.
    let host: String
    /// 0 for any that is free.
    let port: Int

    /// The address `host:port`, `[host]:port` or `:port` for loopback; `nil` for any other text.
    init?(_ text: String) {
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

    /// The address in the form of a URL's authority.
    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
