/// What ``SessionDatabase/prune(jar:journalLimit:vacuum:now:)`` removed.
public struct Pruning: Sendable, Hashable {
    /// When the file is written anew without its free pages.
    public enum Vacuum: Sendable {
        /// Where at least a quarter of the file, and a megabyte, is free.
        case whenWorthwhile
        /// In any case.
        case always
        /// Never.
        case never
    }

    /// How many expired cookies went, by jar; jars without any are left out.
    public var expiredCookies: [String: Int] = [:]
    /// How many cookies have expired and stay until the clock is confirmed, by jar; jars without any are left out.
    public var waitingCookies: [String: Int] = [:]
    /// How many entries of the journal went, the oldest ones.
    public var journalEntries = 0
    /// Whether the file was written anew.
    public var wasVacuumed = false
    /// How many bytes database and log take less than before.
    public var freedBytes: Int64 = 0

    /// Nothing removed yet.
    public init() {}
}
