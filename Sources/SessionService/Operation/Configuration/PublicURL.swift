import CookieModel

/// Where browsers reach the service, where that is not the address that it listens on: behind a proxy.
public struct PublicURL: Sendable, Hashable, CustomStringConvertible {
    /// The URL without a slash at its end.
    public let description: String
    /// Scheme, host and port, as browsers say where a page is from.
    let origin: String
    /// Host and port, as they stand in a Host field.
    let authority: String

    /// The URL `https://HOST`, with a port where it needs one; `http` on this machine alone. `nil` where it is none.
    public init?(_ text: String) {
        guard let url = try? RequestURL(text), url.scheme == .https || url.scheme == .http && url.host.isLoopback,
            url.path.description == "/", url.query.isEmpty
        else { return nil }
        origin = url.origin
        authority = String(origin.dropFirst("\(url.scheme.name)://".count))
        description = origin
    }
}
