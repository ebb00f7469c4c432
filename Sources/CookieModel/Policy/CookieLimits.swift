/// How many cookies a store keeps and a request carries. What goes out over a limit is reported, never dropped in
/// silence; `nil` stands for "no limit".
public struct CookieLimits: Sendable, Hashable {
    /// The most unpartitioned cookies of one registrable domain; at least 50 by section 6.1 of the draft.
    public var domainCookies: Int? = 180
    /// The most cookies in all; at least 3000 by the same section.
    public var totalCookies: Int?
    /// The most cookies of one registrable domain within one partition (CHIPS).
    public var partitionCookies: Int? = 180
    /// The most octets that the names and values of one registrable domain have within one partition (CHIPS).
    public var partitionOctets: Int? = 10_240
    /// The most cookies in one Cookie field.
    public var requestCookies: Int?
    /// The most octets of one Cookie field's value.
    public var requestOctets: Int?

    /// The default: 180 cookies a registrable domain, as in Chromium and Firefox, and no total, so that an imported
    /// capture stays whole.
    public init() {}

    /// Chromium's limits: 180 cookies a registrable domain and 3,300 in all.
    public static let browser: CookieLimits = {
        var limits = CookieLimits()
        limits.totalCookies = 3300
        return limits
    }()

    /// No limit at all. Time and memory then depend on what servers send.
    public static let unlimited: CookieLimits = {
        var limits = CookieLimits()
        limits.domainCookies = nil
        limits.partitionCookies = nil
        limits.partitionOctets = nil
        return limits
    }()
}
