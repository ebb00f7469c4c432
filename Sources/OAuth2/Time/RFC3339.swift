/// Dates as RFC 3339, section 5.6, writes them.
enum RFC3339 {
    /// The moment in microseconds since the Unix epoch; `nil` for anything but a date and time with an offset.
    ///
    /// Fractions beyond a microsecond are cut off, and a leap second counts as the second before it.
    static func microseconds(_ text: String) -> Int64? {
        var reader = Reader(rest: text.utf8[...])
        guard let year = reader.number(digits: 4), reader.skip("-"),
            let month = reader.number(digits: 2), reader.skip("-"),
            let day = reader.number(digits: 2), reader.skip("T") || reader.skip("t") || reader.skip(" "),
            let hour = reader.number(digits: 2), reader.skip(":"),
            let minute = reader.number(digits: 2), reader.skip(":"),
            let second = reader.number(digits: 2),
            (1...12).contains(month), (1...daysInMonth(month, of: year)).contains(day),
            hour < 24, minute < 60, second <= 60,
            let fraction = reader.fraction(), let offset = reader.offset(), reader.rest.isEmpty
        else { return nil }
        let days = daysSinceEpoch(year: year, month: month, day: day)
        let seconds = ((days * 24 + hour) * 60 + minute - offset) * 60 + min(second, 59)
        return Int64(seconds) * Microseconds.perSecond + Int64(fraction)
    }

    private static func daysInMonth(_ month: Int, of year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: isLeap(year) ? 29 : 28
        default: 31
        }
    }

    private static func isLeap(_ year: Int) -> Bool {
        (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
    }

    private static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int {
        let dayOfYear = (1..<month).reduce(day - 1) { $0 + daysInMonth($1, of: year) }
        guard year > 0 else { return dayOfYear - 719_528 }
        let past = year - 1
        // 719 162 days lie between 0001-01-01 and 1970-01-01.
        return past * 365 + past / 4 - past / 100 + past / 400 + dayOfYear - 719_162
    }

    private struct Reader {
        var rest: Substring.UTF8View

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard let first = rest.first, UInt32(first) == character.value else { return false }
            rest.removeFirst()
            return true
        }

        mutating func digit() -> Int? {
            guard let first = rest.first, (0x30...0x39).contains(first) else { return nil }
            rest.removeFirst()
            return Int(first - 0x30)
        }

        mutating func number(digits: Int) -> Int? {
            var value = 0
            for _ in 0..<digits {
                guard let digit = digit() else { return nil }
                value = value * 10 + digit
            }
            return value
        }

        /// `time-secfrac`, which may be absent, in microseconds.
        mutating func fraction() -> Int? {
            guard skip(".") else { return 0 }
            guard var value = digit() else { return nil }
            var digits = 1
            while let digit = digit() {
                guard digits < 6 else { continue }
                value = value * 10 + digit
                digits += 1
            }
            for _ in digits..<6 { value *= 10 }
            return value
        }

        /// `time-offset`, in minutes.
        mutating func offset() -> Int? {
            if skip("Z") || skip("z") { return 0 }
            let isNegative = skip("-")
            guard isNegative || skip("+"), let hours = number(digits: 2), hours < 24, skip(":"),
                let minutes = number(digits: 2), minutes < 60
            else { return nil }
            return (hours * 60 + minutes) * (isNegative ? -1 : 1)
        }
    }
}
