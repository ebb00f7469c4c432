import CookieModel

/// The expiry column: seconds since 1970, with decimals or without.
struct NetscapeExpiry {
    /// The moment; `nil` for a cookie that ends with the session: 0, -1 or nothing.
    let timestamp: Timestamp?

    /// Parses the column; `nil` where it is no number. Decimals beyond a microsecond are cut off, and a number that
    /// is too large is the latest moment there is.
    init?(_ column: Span<UInt8>) {
        let range = column.trimmingBlanks(0..<column.count)
        var position = range.lowerBound
        let isNegative = position < range.upperBound && column[position] == ASCII.hyphen
        if isNegative { position += 1 }
        let digitsStart = position
        var seconds: Int64 = 0
        var isTooLarge = false
        while position < range.upperBound, ASCII.isDigit(column[position]) {
            let (product, overflow) = seconds.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(column[position] &- ASCII.zero))
            isTooLarge = isTooLarge || overflow || carry
            seconds = isTooLarge ? 0 : sum
            position += 1
        }
        guard position > digitsStart || range.isEmpty else { return nil }
        var microseconds: Int64 = 0
        if position < range.upperBound, column[position] == ASCII.dot {
            position += 1
            var unit: Int64 = 100_000
            while position < range.upperBound, ASCII.isDigit(column[position]) {
                microseconds += unit * Int64(column[position] &- ASCII.zero)
                unit /= 10
                position += 1
            }
        }
        guard position == range.upperBound else { return nil }

        let isMinusOne = isNegative && seconds == 1 && microseconds == 0
        if isMinusOne || seconds == 0 && microseconds == 0 && !isTooLarge {
            timestamp = nil
        } else if isTooLarge {
            timestamp = isNegative ? .distantPast : .distantFuture
        } else {
            let whole = Timestamp(seconds: isNegative ? -seconds : seconds)
            let (sum, overflow) = whole.microseconds.addingReportingOverflow(isNegative ? -microseconds : microseconds)
            timestamp = overflow ? whole : Timestamp(microseconds: sum)
        }
    }
}
