extension PublicSuffixList {
    /// The part of the list that a rule stands in, which says who answers for it.
    public enum Section: String, Sendable, Hashable, CaseIterable {
        /// Rules of registries that ICANN delegated, such as `co.uk`.
        case icann
        /// Rules that the owner of a domain asked for, such as `github.io`.
        case `private`
    }
}
