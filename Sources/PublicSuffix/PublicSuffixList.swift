/// The public suffixes of the domain name system: the names under which anyone can register a name of their own.
///
/// A cookie for `co.uk` would reach every company in the country, so no site may set one. The list knows that `co.uk` is
/// a public suffix, and that `example.co.uk` is the registrable domain of `www.example.co.uk`.
///
/// ``bundled`` is compiled into the program and reads straight from its read-only memory. A newer file from
/// publicsuffix.org is read with ``init(parsing:)``; both answer through the same code.
///
/// ```swift
/// PublicSuffixList.bundled.registrableDomain(of: "www.example.co.uk")  // "example.co.uk"
/// PublicSuffixList.bundled.isPublicSuffix("co.uk")  // true
/// ```
///
/// Every lookup wants a *canonical host*: lower case, A-labels (`xn--…`), no trailing dot, and never an IP address. Other
/// bytes are safe but match no rule. A host with an empty label (`""`, `.com`, `a..com`, `a.com.`) is not a domain name;
/// the list answers that all of it is a public suffix, so that nothing can be shared under it.
public struct PublicSuffixList: Sendable, Equatable {
    /// Where the list comes from: its own `VERSION`, or the package it was taken from, or `unversioned`.
    public let version: String

    /// The number of distinct rules, exceptions included.
    package let ruleCount: Int

    package let table: SuffixTable

    /// The list that is compiled into the program, with its ICANN and private sections.
    public static let bundled = PublicSuffixList(
        version: BundledSuffixTable.version,
        ruleCount: BundledSuffixTable.ruleCount,
        table: SuffixTable(slots: BundledSuffixTable.slots, labels: BundledSuffixTable.labels))

    package init(version: String, ruleCount: Int, table: SuffixTable) {
        self.version = version
        self.ruleCount = ruleCount
        self.table = table
    }
}

extension PublicSuffixList {
    /// Reads a list in the format of publicsuffix.org.
    ///
    /// Comments and blank lines are skipped, U-labels become lower-case A-labels, and lines may end in CRLF. A section
    /// that begins and never ends is an error, because it indicates a truncated download. Rules outside of any section
    /// count as private, because no registry is responsible for them.
    ///
    /// - Parameter bytes: The file, in UTF-8.
    /// - Throws: ``PublicSuffixListError`` for the first line that cannot be read, or when there is no rule at all.
    public init(parsing bytes: some Collection<UInt8>) throws(PublicSuffixListError) {
        let file = try SuffixListFile(parsing: Array(bytes))
        var builder = SuffixTableBuilder()
        for entry in file.entries {
            try builder.insert(entry.rule, section: entry.section, line: entry.line)
        }
        self.init(version: file.version ?? "unversioned", ruleCount: builder.ruleCount, table: builder.table())
    }
}

extension PublicSuffixList {
    /// Returns this list with rules of your own, such as `internal.example` for a platform whose customers have a name
    /// each below it.
    ///
    /// ```swift
    /// let list = try PublicSuffixList.bundled.adding(["internal.example", "*.dev.example"])
    /// ```
    ///
    /// The rules are private ones. A rule that the list has already stays as it is. Builds the whole table, in some
    /// tens of milliseconds for the bundled list: keep the result.
    ///
    /// - Parameter rules: Rules in the format of publicsuffix.org: `name`, `*.name`, `!name`.
    /// - Throws: ``PublicSuffixListError`` for a text that is not a rule; its `line` is the number of the rule.
    public func adding(_ rules: [String]) throws(PublicSuffixListError) -> PublicSuffixList {
        var builder = SuffixTableBuilder()
        for (rule, section) in table.rules { try builder.insert(rule, section: section, line: 0) }
        for (index, text) in rules.enumerated() {
            do {
                try builder.insert(DomainRule(parsing: text.utf8), section: .private, line: index + 1)
            } catch {
                throw PublicSuffixListError(error.code, line: index + 1)
            }
        }
        return PublicSuffixList(version: version, ruleCount: builder.ruleCount, table: builder.table())
    }
}

extension PublicSuffixList {
    /// The number of octets at the end of `host` that are its public suffix.
    ///
    /// Where no rule matches, the rule `*` does: the last label is the suffix. Nothing is allocated.
    ///
    /// - Parameter host: A canonical host.
    /// - Returns: A length from 1 to the length of the host, or the length of the host if it has an empty label.
    public func publicSuffixLength(of host: Span<UInt8>) -> Int {
        table.match(host).length
    }

    /// The number of octets at the end of `host` that are its registrable domain: the public suffix and one label more.
    ///
    /// Nothing is allocated.
    ///
    /// - Parameter host: A canonical host.
    /// - Returns: The length, or `nil` exactly if ``isPublicSuffix(_:)-(Span<UInt8>)`` is true.
    package func registrableDomainLength(of host: Span<UInt8>) -> Int? {
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
    package func isPublicSuffix(_ host: Span<UInt8>) -> Bool {
        table.match(host).length == host.count
    }

    /// Whether the list has rules for names below `host`, so that registrable domains can lie below it.
    ///
    /// Nothing is allocated.
    ///
    /// - Parameter host: A canonical host.
    package func hasRulesBelow(_ host: Span<UInt8>) -> Bool {
        table.match(host).hasRulesBelow
    }

    /// The section of the rule that decides for `host`.
    ///
    /// - Parameter host: A canonical host.
    /// - Returns: The section, or `nil` if no rule of the list matches or the host has an empty label.
    package func section(of host: Span<UInt8>) -> Section? {
        table.match(host).section
    }
}

extension PublicSuffixList {
    /// The section of the list that contains a rule, which shows who is responsible for it.
    package enum Section: String, Sendable, Hashable, CaseIterable {
        /// Rules of registries that ICANN delegated, such as `co.uk`.
        case icann
        /// Rules that the owner of a domain asked for, such as `github.io`.
        case `private`
    }
}

// Conveniences for callers that are in no hurry. The host is still a canonical one.
extension PublicSuffixList {
    /// The public suffix of `host`.
    ///
    /// - Parameter host: A canonical host.
    /// - Returns: The suffix, which is the whole host if it has an empty label.
    public func publicSuffix(of host: String) -> String {
        let octets = Array(host.utf8)
        return Self.tail(of: octets, length: publicSuffixLength(of: octets.span))
    }

    /// The registrable domain of `host`: its public suffix and one label more.
    ///
    /// - Parameter host: A canonical host.
    /// - Returns: The domain, or `nil` if the host is a public suffix itself or has an empty label.
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
    /// - Returns: The section, or `nil` if no rule of the list matches or the host has an empty label.
    package func section(of host: String) -> Section? {
        let octets = Array(host.utf8)
        return section(of: octets.span)
    }

    private static func tail(of octets: [UInt8], length: Int) -> String {
        String(decoding: octets.suffix(length), as: UTF8.self)
    }
}

/// The match of the list for one host.
struct SuffixMatch {
    /// The octets at the end of the host that are its public suffix.
    var length: Int

    /// The section of the rule that decided; `nil` for the default rule.
    var section: PublicSuffixList.Section?

    /// Whether the list has rules for names below the host.
    var hasRulesBelow = false
}
