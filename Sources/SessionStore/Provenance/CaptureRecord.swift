public import CookieModel

/// A capture that was imported into a jar.
public struct CaptureRecord: Sendable, Hashable {
    /// Its name when it was imported: a path.
    public let name: String
    /// When it was imported.
    public let imported: Timestamp
}
