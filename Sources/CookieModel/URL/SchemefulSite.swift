public import PublicSuffix

/// A site: scheme and registrable domain, or the whole host where it has none ("schemeful same-site").
///
/// `ws` counts as `http` and `wss` as `https`, as in the HTML Standard's site of a WebSocket request.
public struct SchemefulSite: Hashable, Sendable, CustomStringConvertible {
    /// Whether the scheme is `https` or `wss`.
    public let isCryptographic: Bool
    /// The registrable domain, or the host where there is none.
    public let domain: Octets

    /// The site that `url` belongs to, by `list`.
    public init(_ url: RequestURL, _ list: PublicSuffixList) {
        isCryptographic = url.scheme.isCryptographic
        domain = url.host.registrableDomain(list)
    }

    /// The site as an origin without a port: `https://example.com`.
    public var description: String {
        "\(isCryptographic ? "https" : "http")://\(String(decoding: domain, as: UTF8.self))"
    }
}
