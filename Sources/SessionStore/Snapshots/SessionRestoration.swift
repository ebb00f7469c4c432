public import CookieModel

/// What restoring a saved session came to: the jar's cookies are those of the session that have not expired.
public struct SessionRestoration: Sendable, Hashable {
    /// What was restored.
    public let session: SavedSession
    /// How many cookies went that the session does not have.
    public let removed: Int
    /// How many cookies came back that the jar no longer had.
    public let added: Int
    /// How many cookies had changed and are as they were.
    public let changed: Int
    /// The cookies of the session that have expired since, and stay out, without values.
    public let expired: [Cookie]
    /// How many cookies the jar has now.
    public var cookieCount: Int { session.cookieCount - expired.count }
}
