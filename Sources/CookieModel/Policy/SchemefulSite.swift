public import PublicSuffix
public import WebPrimitives

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

extension WebHost {
    /// Whether the host is a public suffix by `list`, as `com`, `co.uk` and every unlisted single label are.
    public func isPublicSuffix(_ list: PublicSuffixList) -> Bool {
        kind == .domain && site(list).publicSuffixLength >= octets.count
    }

    /// The registrable domain by `list`; the whole host where it has none: an IP address, a public suffix.
    ///
    /// Cookies are kept and limited by this: two hosts can share a cookie only if it is the same for both.
    public func registrableDomain(_ list: PublicSuffixList) -> Octets {
        site(list).registrableDomain
    }

    /// What the public suffix list says of a host.
    package struct Site {
        /// The registrable domain, or the host where there is none.
        package let registrableDomain: Octets
        /// How many of the host's last octets are the public suffix: all of them where it is one itself, 0 for an IP
        /// address.
        let publicSuffixLength: Int
    }

    /// Looks the host up in `list`.
    package func site(_ list: PublicSuffixList) -> Site {
        guard kind == .domain else { return Site(registrableDomain: octets, publicSuffixLength: 0) }
        let (start, suffix) = octets.withSpan { bytes in
            let length = bytes.count
            let trailingDot = length > 0 && bytes[length - 1] == ASCII.dot ? 1 : 0
            let suffix = list.publicSuffixLength(of: bytes.extracting(0..<(length - trailingDot))) + trailingDot
            // One label more than the suffix.
            var start = max(length - suffix - 1, 0)
            while start > 0, bytes[start - 1] != ASCII.dot { start -= 1 }
            return (suffix >= length ? 0 : start, suffix)
        }
        return Site(registrableDomain: octets[start..<octets.count], publicSuffixLength: suffix)
    }
}
