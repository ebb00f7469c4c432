// Conveniences for callers that are in no hurry. The host is still a canonical one.
extension PublicSuffixList {
    /// The public suffix of `host`.
    ///
    /// - Parameter host: A canonical host.
    /// - Returns: The suffix, which is all of the host where it has an empty label.
    public func publicSuffix(of host: String) -> String {
        let octets = Array(host.utf8)
        return Self.tail(of: octets, length: publicSuffixLength(of: octets.span))
    }

    /// The registrable domain of `host`: its public suffix and one label more.
    ///
    /// - Parameter host: A canonical host.
    /// - Returns: The domain, or `nil` where the host is a public suffix itself or has an empty label.
    public func registrableDomain(of host: String) -> String? {
        let octets = Array(host.utf8)
        return registrableDomainLength(of: octets.span).map { length in Self.tail(of: octets, length: length) }
    }

    /// Whether `host` is a public suffix itself, or has an empty label.
    ///
    /// - Parameter host: A canonical host.
    public func isPublicSuffix(_ host: String) -> Bool {
        let octets = Array(host.utf8)
        return isPublicSuffix(octets.span)
    }

    /// The section of the rule that decides for `host`.
    ///
    /// - Parameter host: A canonical host.
    /// - Returns: The section, or `nil` where no rule of the list matches or the host has an empty label.
    public func section(of host: String) -> Section? {
        let octets = Array(host.utf8)
        return section(of: octets.span)
    }

    private static func tail(of octets: [UInt8], length: Int) -> String {
        String(decoding: octets.suffix(length), as: UTF8.self)
    }
}
