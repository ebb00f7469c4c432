public import CookieModel

/// What a copy of a jar came to.
public struct JarCopy: Sendable, Hashable {
    /// How many cookies the copy has.
    public internal(set) var copied = 0
    /// How many were left out because they had expired.
    public internal(set) var expired = 0
    /// The cookies that were left out because their stored value was tampered with, without a value.
    public internal(set) var unreadable: [Cookie] = []
}
