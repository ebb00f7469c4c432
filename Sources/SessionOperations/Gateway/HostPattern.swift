package import CookieModel
import PublicSuffix

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
}
