/// What went with a jar.
public struct JarRemoval: Sendable, Hashable {
    /// How many cookies it held, expired ones that were not yet removed included.
    public let cookies: Int
    /// How many saved sessions it had.
    public let savedSessions: Int
}
