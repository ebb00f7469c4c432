/// Arithmetic on microseconds that stops at the ends of the range instead of overflowing.
enum Microseconds {
    static let perSecond: Int64 = 1_000_000

    static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? (right < 0 ? .min : .max) : sum
    }

    static func difference(_ left: Int64, _ right: Int64) -> Int64 {
        let (difference, overflow) = left.subtractingReportingOverflow(right)
        return overflow ? (left < 0 ? .min : .max) : difference
    }

    static func count(of duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return sum(count(ofSeconds: seconds), attoseconds / 1_000_000_000_000)
    }

    static func count(ofSeconds seconds: Int64) -> Int64 {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: perSecond)
        return overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// `nil` for a number that is none.
    static func count(ofSeconds seconds: Double) -> Int64? {
        guard !seconds.isNaN else { return nil }
        let product = (seconds * Double(perSecond)).rounded()
        return Int64(exactly: product) ?? (product < 0 ? .min : .max)
    }
}
