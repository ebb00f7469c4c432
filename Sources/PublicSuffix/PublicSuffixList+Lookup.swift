extension PublicSuffixList {
    /// The number of octets at the end of `host` that are its public suffix.
    ///
    /// Where no rule matches, the rule `*` does: the last label is the suffix. Nothing is allocated.
    ///
    /// - Parameter host: A canonical host.
    /// - Returns: A length from 1 to the length of the host, or the length of the host where it has an empty label.
    public func publicSuffixLength(of host: Span<UInt8>) -> Int {
        table.match(host).length
    }

    /// The number of octets at the end of `host` that are its registrable domain: the public suffix and one label more.
    ///
    /// Nothing is allocated.
    ///
    /// - Parameter host: A canonical host.
    /// - Returns: The length, or `nil` exactly where ``isPublicSuffix(_:)-(Span<UInt8>)`` is true.
    public func registrableDomainLength(of host: Span<UInt8>) -> Int? {
        let dot = host.count - table.match(host).length - 1
        guard dot >= 0 else { return nil }
        var start = dot
        while start > 0, host[start - 1] != SuffixTable.dot {
            start -= 1
        }
        return host.count - start
    }

    /// Whether `host` is a public suffix itself, or has an empty label.
    ///
    /// Nothing is allocated.
    ///
    /// - Parameter host: A canonical host.
    public func isPublicSuffix(_ host: Span<UInt8>) -> Bool {
        table.match(host).length == host.count
    }

    /// Whether the list has rules for names below `host`, so that registrable domains can lie below it.
    ///
    /// Nothing is allocated.
    ///
    /// - Parameter host: A canonical host.
    public func hasRulesBelow(_ host: Span<UInt8>) -> Bool {
        table.match(host).hasRulesBelow
    }

    /// The section of the rule that decides for `host`.
    ///
    /// - Parameter host: A canonical host.
    /// - Returns: The section, or `nil` where no rule of the list matches or the host has an empty label.
    public func section(of host: Span<UInt8>) -> Section? {
        table.match(host).section
    }
}
