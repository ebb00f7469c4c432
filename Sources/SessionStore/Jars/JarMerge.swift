public import CookieModel

/// What a merge of one jar into another came to. Every cookie of the first is counted once, but for ``evicted``.
public struct JarMerge: Sendable, Hashable {
    /// How many cookies the target did not have.
    public internal(set) var added = 0
    /// How many took the place of an older one.
    public internal(set) var replaced = 0
    /// How many were left out because the target's own is as new or newer.
    public internal(set) var kept = 0
    /// How many were left out because they had expired.
    public internal(set) var expired = 0
    /// The cookies that were left out because their stored value was tampered with, without a value.
    public internal(set) var unreadable: [Cookie] = []
    /// The cookies that went out of the target because it had more than its limits allow, without values; those that
    /// the merge brought may be among them.
    public internal(set) var evicted: [Eviction] = []
}
