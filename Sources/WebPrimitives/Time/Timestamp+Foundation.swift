#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Timestamp {
    /// The time of the system's clock.
    ///
    /// No rule and no library type of this package reads a clock: each takes the time as a parameter, so that tests
    /// and simulations choose it. Read `now` once in your app's outermost layer, for each request or response, and
    /// pass it on. Complexity: O(1).
    public static var now: Timestamp { Timestamp(Date()) }

    /// The moment of a `Date`, to the nearest microsecond.
    ///
    /// Dates beyond the range of a `Timestamp`, 292,000 years around 1970, become the nearest end of it; a date that
    /// is not a number becomes ``distantPast``. Complexity: O(1).
    public init(_ date: Date) {
        let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
        self =
            Int64(exactly: microseconds).map { Timestamp(microseconds: $0) }
            ?? (microseconds > 0 ? .distantFuture : .distantPast)
    }
}

extension Date {
    /// The moment of a `Timestamp`, as exactly as a `Date` can hold it: to the microsecond until the year 2100.
    ///
    /// Complexity: O(1).
    public init(_ timestamp: Timestamp) {
        self.init(timeIntervalSince1970: Double(timestamp.microseconds) / 1_000_000)
    }
}
