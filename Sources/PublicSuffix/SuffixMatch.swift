/// What the list says of one host.
struct SuffixMatch {
    /// The octets at the end of the host that are its public suffix.
    var length: Int

    /// The section of the rule that decided; `nil` for the default rule.
    var section: PublicSuffixList.Section?

    /// Whether the list has rules for names below the host.
    var hasRulesBelow = false
}
