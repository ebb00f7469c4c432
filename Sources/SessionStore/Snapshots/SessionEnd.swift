/// What the end of a session came to.
public struct SessionEnd: Sendable, Hashable {
    /// How many session cookies went.
    public let removed: Int
    /// How many cookies stay, since they have a lifetime of their own.
    public let kept: Int
}
