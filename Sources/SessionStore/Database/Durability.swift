/// What a database survives.
public enum Durability: String, Sendable, CaseIterable {
    /// An acknowledged write survives power loss: every commit waits for the disk.
    case full
    /// An acknowledged write survives a crash of the process; after power loss the database is whole, but the last
    /// commits may be missing. The default.
    case normal
    /// Nothing survives: the database lives in memory. The path is not used.
    case memory
}
