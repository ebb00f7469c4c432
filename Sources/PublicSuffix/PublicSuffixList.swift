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
public struct PublicSuffixList: Sendable {
    /// Where the list comes from: its own `VERSION`, or the package it was taken from, or `unversioned`.
    public let version: String

    /// The number of distinct rules, exceptions included.
    public let ruleCount: Int

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
    /// Comments and blank lines are skipped, U-labels become lower-case A-labels, and lines may end in CRLF. A section that
    /// begins and never ends is an error, since that is what a download that was cut short looks like. Rules outside of any
    /// section count as private: no registry stands behind them.
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
