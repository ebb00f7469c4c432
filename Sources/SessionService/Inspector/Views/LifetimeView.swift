import CookieModel

/// How much of a lifetime is left, as a bar.
struct LifetimeView {
    let percent: Int

    /// - Returns: `nil` where there is no end, or nothing left.
    init?(from start: Timestamp, to end: Timestamp?, now: Timestamp) {
        guard let end, end > now, end > start else { return nil }
        let whole = Double(end.microseconds) - Double(start.microseconds)
        let left = Double(end.microseconds) - Double(max(now, start).microseconds)
        percent = Int((left / whole * 100).rounded())
    }
}
