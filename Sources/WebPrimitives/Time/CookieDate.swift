/// Dates as servers write them, in `Expires`, `Date` and `Retry-After`: the algorithm of rfc6265bis, section 5.1.1,
/// which reads all three forms of an HTTP date (RFC 9110, section 5.6.7) and many other forms.
package enum CookieDate {
    /// Parses a cookie-date (rfc6265bis, section 5.1.1); `nil` if the algorithm fails.
    ///
    /// Linear in the number of bytes, no allocation.
    package static func parse(_ bytes: Span<UInt8>) -> Timestamp? {
        if let fields = fieldsInPlace(bytes) { return fields.timestamp }
        var fields = Fields()
        var position = 0
        while position < bytes.count {
            // Step 1: Divide the text into date-tokens at the delimiters.
            while position < bytes.count, isDelimiter(bytes[position]) { position += 1 }
            let start = position
            while position < bytes.count, !isDelimiter(bytes[position]) { position += 1 }
            // Step 2: Process each date-token in order.
            if start < position { fields.take(bytes, start..<position) }
        }
        return fields.timestamp
    }

    /// Parses the UTF-8 bytes of `text` as a cookie-date.
    package static func parse(_ text: String) -> Timestamp? {
        Octets(text).withSpan { parse($0) }
    }

    /// The fields that steps 1 and 2 find in the form that nearly every server writes, `Tue, 27 Nov 2029 01:16:12 GMT`,
    /// without the search for tokens; `nil` for all other forms.
    private static func fieldsInPlace(_ bytes: Span<UInt8>) -> Fields? {
        guard bytes.count >= 25, isDelimiter(bytes[3]), isDelimiter(bytes[4]), isDelimiter(bytes[7]),
            isDelimiter(bytes[11]), isDelimiter(bytes[16]), bytes.count == 25 || !ASCII.isDigit(bytes[25]),
            // The day of the week must not be taken for anything.
            ASCII.isLetter(bytes[0]), ASCII.isLetter(bytes[1]), ASCII.isLetter(bytes[2]), month(bytes, 0..<3) == nil,
            let dayOfMonth = number(bytes, 5..<7, digits: 2...2), let month = month(bytes, 8..<11),
            let year = number(bytes, 12..<16, digits: 4...4), let time = time(bytes, 17..<25)
        else { return nil }
        return Fields(time: time, dayOfMonth: dayOfMonth, month: month, year: year)
    }

    @inline(__always)
    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// The values found so far; `nil` is "not set".
    private struct Fields {
        var time: (hour: Int, minute: Int, second: Int)?
        var dayOfMonth: Int?
        var month: Int?
        var year: Int?

        /// Step 2: Processes one date-token. It is the first of these that it matches and that is not set yet.
        mutating func take(_ bytes: Span<UInt8>, _ token: Range<Int>) {
            if time == nil, let found = CookieDate.time(bytes, token) {
                // Step 2.1: The token is the time.
                time = found
            } else if dayOfMonth == nil, let found = CookieDate.number(bytes, token, digits: 1...2) {
                // Step 2.2: The token is the day of the month.
                dayOfMonth = found
            } else if month == nil, let found = CookieDate.month(bytes, token) {
                // Step 2.3: The token is the month.
                month = found
            } else if year == nil, let found = CookieDate.number(bytes, token, digits: 2...4) {
                // Step 2.4: The token is the year.
                year = found
            }
        }

        /// Steps 3 to 7: The date that the fields name.
        var timestamp: Timestamp? {
            // Step 5: Fail if one of the four is not set.
            guard let time, let dayOfMonth, let month, var year else { return nil }
            if (70...99).contains(year) {
                // Step 3: 70 to 99 are 1970 to 1999.
                year += 1900
            } else if (0...69).contains(year) {
                // Step 4: 0 to 69 are 2000 to 2069.
                year += 2000
            }
            // Step 5: Fail if the year is before 1601, or the day, hour, minute or second is out of range.
            // Step 6: Fail if the calendar has no such date.
            guard year >= 1601,
                let date = CivilDate(
                    year: year, month: month, day: dayOfMonth, hour: time.hour, minute: time.minute,
                    second: time.second)
            else { return nil }
            // Step 7: Return the date.
            return Timestamp(seconds: date.secondsSinceEpoch)
        }
    }

    /// `day-of-month` and `year`: a number of digits within `digits`, then the end or a non-digit and anything.
    @inline(__always)
    private static func number(_ bytes: Span<UInt8>, _ token: Range<Int>, digits: ClosedRange<Int>) -> Int? {
        var value = 0
        var position = token.lowerBound
        while position < token.upperBound, ASCII.isDigit(bytes[position]) {
            guard position - token.lowerBound < digits.upperBound else { return nil }
            value = value * 10 + Int(bytes[position] &- ASCII.zero)
            position += 1
        }
        return position - token.lowerBound >= digits.lowerBound ? value : nil
    }

    /// `time`: three fields of one or two digits between colons, then the end or a non-digit and anything.
    @inline(__always)
    private static func time(
        _ bytes: Span<UInt8>, _ token: Range<Int>
    ) -> (hour: Int, minute: Int, second: Int)? {
        guard ASCII.isDigit(bytes[token.lowerBound]),
            let firstColon = bytes.firstIndex(of: ASCII.colon, in: token),
            let hour = timeField(bytes, token.lowerBound..<firstColon),
            let secondColon = bytes.firstIndex(of: ASCII.colon, in: (firstColon + 1)..<token.upperBound),
            let minute = timeField(bytes, (firstColon + 1)..<secondColon),
            let second = number(bytes, (secondColon + 1)..<token.upperBound, digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    @inline(__always)
    private static func timeField(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        guard (1...2).contains(range.count) else { return nil }
        var value = 0
        for position in range {
            guard ASCII.isDigit(bytes[position]) else { return nil }
            value = value * 10 + Int(bytes[position] &- ASCII.zero)
        }
        return value
    }

    /// `month`: the first three letters of its English name, then anything.
    @inline(__always)
    private static func month(_ bytes: Span<UInt8>, _ token: Range<Int>) -> Int? {
        guard token.count >= 3 else { return nil }
        let start = token.lowerBound
        let letters =
            UInt32(ASCII.lowercased(bytes[start])) << 16 | UInt32(ASCII.lowercased(bytes[start + 1])) << 8
            | UInt32(ASCII.lowercased(bytes[start + 2]))
        return switch letters {
        case 0x6A_616E: 1
        case 0x66_6562: 2
        case 0x6D_6172: 3
        case 0x61_7072: 4
        case 0x6D_6179: 5
        case 0x6A_756E: 6
        case 0x6A_756C: 7
        case 0x61_7567: 8
        case 0x73_6570: 9
        case 0x6F_6374: 10
        case 0x6E_6F76: 11
        case 0x64_6563: 12
        default: nil
        }
    }
}

/// A day and time of day in the proleptic Gregorian calendar, UTC.
package struct CivilDate: Equatable {
    package var year: Int
    package var month: Int
    package var day: Int
    package var hour = 0
    package var minute = 0
    package var second = 0

    /// The number of days in `month` (1-12) of `year`.
    package static func daysInMonth(_ month: Int, of year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        default: 31
        }
    }

    /// Seconds since 1970-01-01T00:00:00Z. The fields must name a date that exists.
    ///
    /// Counts in years that begin in March, so that the leap day is the last of its year.
    package var secondsSinceEpoch: Int64 {
        let shiftedYear = month > 2 ? year : year - 1
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        return Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }

    /// The date and time at the given number of seconds after 1970-01-01T00:00:00Z.
    package init(secondsSinceEpoch seconds: Int64) {
        let (quotient, remainder) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let secondOfDay = Int(remainder < 0 ? remainder + 86_400 : remainder)
        let days = Int(remainder < 0 ? quotient - 1 : quotient) + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        hour = secondOfDay / 3600
        minute = secondOfDay / 60 % 60
        second = secondOfDay % 60
    }

    /// A date and time of day; `nil` if the calendar has no such date.
    package init?(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        guard (1...12).contains(month), day >= 1, day <= CivilDate.daysInMonth(month, of: year),
            (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// The day of the week, 0 for Sunday.
    package var weekday: Int {
        let days = Int((secondsSinceEpoch - Int64(hour * 3600 + minute * 60 + second)) / 86_400)
        return ((days + 4) % 7 + 7) % 7
    }
}
