/// A moment on the UTC time line, in microseconds since 1970-01-01T00:00:00Z.
///
/// No rule reads a clock: every function that depends on the time takes a `Timestamp`. Leap seconds are not counted,
/// as in POSIX time. Arithmetic saturates at the two ends instead of overflowing.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Microseconds since the Unix epoch; negative before it.
    public var microseconds: Int64

    /// A moment so many microseconds after the Unix epoch.
    @inlinable
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// A moment so many whole seconds after the Unix epoch, at the end of the range where that overflows.
    @inlinable
    public init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        microseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// The earliest moment.
    @inlinable public static var distantPast: Timestamp { Timestamp(microseconds: .min) }
    /// The latest moment.
    @inlinable public static var distantFuture: Timestamp { Timestamp(microseconds: .max) }

    /// Whole seconds since the Unix epoch, rounded towards the past.
    @inlinable
    public var seconds: Int64 {
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// The moment `seconds` later (earlier where negative), saturating.
    @inlinable
    public func advanced(bySeconds seconds: Int64) -> Timestamp {
        let step = Timestamp(seconds: seconds).microseconds
        let (sum, overflow) = microseconds.addingReportingOverflow(step)
        return Timestamp(microseconds: overflow ? (step < 0 ? .min : .max) : sum)
    }

    /// The earlier one is the lesser one.
    @inlinable
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }
}
