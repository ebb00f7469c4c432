public import CookieModel

/// How much there is in a database, and how old it is.
public struct DatabaseStatistics: Sendable, Hashable {
    /// How many bytes the file takes without its log.
    public var fileSize: Int64 = 0
    /// How many of those are free: 'crumb prune' gives them back.
    public var freeSize: Int64 = 0
    /// How many bytes the write-ahead log takes.
    public var logSize: Int64 = 0
    /// When the oldest cookie was made; `nil` where there is none.
    public var oldestCookie: Timestamp?
    /// When the newest cookie was made; `nil` where there is none.
    public var newestCookie: Timestamp?
    /// How many cookies have expired and were not removed yet.
    public var expiredCookies = 0
    /// How many entries the journal has.
    public var journalEntries = 0
    /// How many sessions are saved.
    public var savedSessions = 0

    /// Nothing counted yet.
    public init() {}
}
