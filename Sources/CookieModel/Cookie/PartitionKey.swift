import WebPrimitives

/// The top-level site that a partitioned cookie belongs to (CHIPS, "Partitioned Cookies").
public struct PartitionKey: Hashable, Sendable {
    /// The site of the page in the address bar, serialized: `https://example.com`.
    public let topLevelSite: String
    /// Whether a frame of another site stood between that page and the request.
    public let hasCrossSiteAncestor: Bool

    /// A key from its two parts.
    public init(topLevelSite: String, hasCrossSiteAncestor: Bool) {
        self.topLevelSite = topLevelSite
        self.hasCrossSiteAncestor = hasCrossSiteAncestor
    }

    private static let crossSiteMark = " cross-site"

    /// The key as one text, for storage and people; never empty.
    public var serialized: String {
        hasCrossSiteAncestor ? topLevelSite + PartitionKey.crossSiteMark : topLevelSite
    }

    /// Reads ``serialized`` back; `nil` for the empty text, which stands for "not partitioned".
    public init?(serialized: String) {
        guard !serialized.isEmpty else { return nil }
        hasCrossSiteAncestor = serialized.hasSuffix(PartitionKey.crossSiteMark)
        topLevelSite =
            hasCrossSiteAncestor ? String(serialized.dropLast(PartitionKey.crossSiteMark.count)) : serialized
    }
}

extension PartitionKey {
    /// Whether this is the partition of the top-level pages of the site that `host` belongs to.
    ///
    /// A top-level site is a scheme and a registrable domain, so no list is needed to compare them.
    package func isOwnSite(of host: WebHost) -> Bool {
        // Pages of a loopback host are trustworthy without encryption, and their Secure cookies are partitioned too.
        guard let scheme = ["https://", "http://"].first(where: topLevelSite.hasPrefix), !hasCrossSiteAncestor,
            let site = WebHost(String(topLevelSite.dropFirst(scheme.count)))
        else { return false }
        return (scheme == "https://" || host.isLoopback) && CookiePolicy.domainMatches(host, site.octets)
    }
}
