public import CookieModel

/// A session that was saved by name: a copy of a jar's cookies at one moment.
public struct SavedSession: Sendable, Hashable {
    /// Its name, within the jar.
    public let name: String
    /// When it was saved.
    public let creation: Timestamp
    /// How many cookies it holds, those included that have expired since.
    public let cookieCount: Int
}
