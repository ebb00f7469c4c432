/// What a reader of the journal gets at once.
public struct ChangePage: Sendable, Hashable {
    /// The changes after the position asked for, in order.
    public let changes: [CookieChange]
    /// How far this goes: the position to ask for next.
    public let position: Int64
    /// Whether entries after the position asked for are gone, because the journal is bounded: the reader has to look at
    /// the whole jar once.
    public let hasGap: Bool
    /// Whether there is more to read already.
    public let hasMore: Bool
}
