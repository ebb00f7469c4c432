package import CookieModel
package import PublicSuffix

/// A host, or all hosts below one, whose requests a gateway decrypts.
package struct HostPattern: Sendable, Hashable {
    /// Why a text is no such host: a clause with the next step.
    package struct Fault: Error, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// The host without `*.`.
    package let host: WebHost
    private let isOfSubdomains: Bool

    /// Reads `HOST` or `*.HOST`.
    ///
    /// - Throws: `Fault` as ``interceptedHost(_:)`` does.
    package init(_ text: String) throws(Fault) {
        isOfSubdomains = text.hasPrefix("*.")
        host = try HostPattern.interceptedHost(isOfSubdomains ? String(text.dropFirst(2)) : text)
    }

    /// One host, whatever it is: also a public suffix such as `github.io`, and a single label such as `wiki`.
    package init(only host: WebHost) {
        self.host = host
        isOfSubdomains = false
    }

    /// Reads a host whose requests may be decrypted.
    ///
    /// - Throws: `Fault` for a public suffix such as `com`, and for text that is not a host.
    package static func interceptedHost(_ text: String) throws(Fault) -> WebHost {
        guard let host = WebHost(text), !text.hasSuffix("."), !text.contains("*") else {
            throw Fault(description: "this is not a host. Write one such as shop.example.")
        }
        guard !host.isPublicSuffix(.bundled) || host.isLoopback else {
            throw Fault(
                description: "this is a public suffix, and the hosts below it belong to others. Name a host such "
                    + "as shop.\(host).")
        }
        return host
    }

    /// Whether a host is meant.
    package func matches(_ other: WebHost) -> Bool {
        isOfSubdomains ? other.description.hasSuffix(".\(host.description)") : other == host
    }

    /// Whether every host below one is meant.
    func matchesAll(below other: WebHost) -> Bool { isOfSubdomains && (host == other || matches(other)) }

    /// Whether a host, or one below it, is meant.
    func matchesAny(of other: WebHost) -> Bool {
        matches(other) || matchesAll(below: other) || host == other
            || host.description.hasSuffix(".\(other.description)")
    }
}

/// The hosts whose requests a gateway decrypts.
package struct InterceptedHosts: Sendable {
    /// The hosts that are named.
    package let patterns: [HostPattern]
    /// The registrable domains that are decrypted whole.
    package let sites: Set<Octets>
    /// The hosts whose requests pass unread all the same.
    package let bypassed: [HostPattern]
    private let suffixes: PublicSuffixList

    package init(
        _ patterns: [HostPattern], sites: Set<Octets>, bypassing bypassed: [HostPattern],
        _ suffixes: PublicSuffixList = .bundled
    ) {
        self.patterns = patterns
        self.sites = sites
        self.bypassed = bypassed
        self.suffixes = suffixes
    }

    /// The hosts that an authority for them is for.
    package var hosts: [WebHost] { patterns.map(\.host) + sites.map { WebHost(stored: $0) } }

    /// Whether requests of a host are decrypted.
    package func contains(_ host: WebHost) -> Bool {
        !bypassed.contains { $0.matches(host) }
            && (patterns.contains { $0.matches(host) } || sites.contains(host.registrableDomain(suffixes)))
    }

    /// Whether requests of a registrable domain and of every host below it are decrypted.
    package func containsSite(_ site: WebHost) -> Bool {
        let isNamed = patterns.contains { $0.matches(site) } && patterns.contains { $0.matchesAll(below: site) }
        return (isNamed || sites.contains(site.octets)) && !bypassed.contains { $0.matchesAny(of: site) }
    }
}
