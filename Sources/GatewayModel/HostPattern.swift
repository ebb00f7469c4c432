public import CookieModel
import PublicSuffix

/// A host, or all hosts below one: `shop.example`, `*.shop.example`.
public struct HostPattern: Sendable, Hashable {
    /// Why a text is no such host: a clause with the next step.
    public struct Fault: DescribedError, Sendable {
        /// The clause.
        public let description: String
    }

    /// The host without `*.`.
    package let host: WebHost
    private let isOfSubdomains: Bool

    /// Reads `HOST` or `*.HOST`.
    ///
    /// - Throws: `Fault` for a public suffix such as `com`, and for text that is not a host.
    public init(_ text: String) throws(Fault) {
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

extension [HostPattern] {
    /// Whether one of them means a host.
    package func contains(_ host: WebHost) -> Bool { contains { $0.matches(host) } }
}
