extension Timestamp {
    /// Reads a date and time as RFC 3339, section 5.6, writes it: `2026-11-21T08:30:00.25+01:00`.
    ///
    /// Fractions beyond a microsecond are cut off. A leap second (`:60`) counts as the first moment of the next
    /// minute. `nil` for anything else.
    public init?(rfc3339 bytes: some Collection<UInt8>) {
        var reader = DigitReader(bytes: Array(bytes))
        guard let year = reader.number(4), reader.skip(ASCII.hyphen), let month = reader.number(2),
            reader.skip(ASCII.hyphen), let day = reader.number(2),
            reader.skip(0x54) || reader.skip(0x74) || reader.skip(ASCII.space),
            let hour = reader.number(2), reader.skip(ASCII.colon), let minute = reader.number(2),
            reader.skip(ASCII.colon), let second = reader.number(2), second <= 60,
            let date = CivilDate(
                year: year, month: month, day: day, hour: hour, minute: minute, second: min(second, 59))
        else { return nil }
        var microseconds = 0
        if reader.skip(ASCII.dot) {
            guard let fraction = reader.fraction() else { return nil }
            microseconds = fraction
        }
        var offset = 0
        if !(reader.skip(0x5A) || reader.skip(0x7A)) {
            let isNegative = reader.skip(ASCII.hyphen)
            guard isNegative || reader.skip(0x2B), let hours = reader.number(2), hours < 24,
                reader.skip(ASCII.colon), let minutes = reader.number(2), minutes < 60
            else { return nil }
            offset = (hours * 60 + minutes) * 60 * (isNegative ? -1 : 1)
        }
        guard reader.isAtEnd else { return nil }
        let seconds = date.secondsSinceEpoch + (second == 60 ? 1 : 0) - Int64(offset)
        self.init(microseconds: seconds * 1_000_000 + Int64(second == 60 ? 0 : microseconds))
    }

    /// The moment as RFC 3339 in UTC, with a fraction only where there is one. The two ends of the range, which no
    /// four-digit year holds, are written as the nearest moment that has one.
    public var rfc3339: String {
        let seconds = min(max(self.seconds, -62_167_219_200), 253_402_300_799)
        let date = CivilDate(secondsSinceEpoch: seconds)
        var text = DateText()
        text.append(date.year, 4)
        text.append("-")
        text.append(date.month, 2)
        text.append("-")
        text.append(date.day, 2)
        text.append("T")
        text.appendTime(of: date)
        let fraction = seconds == self.seconds ? Int(microseconds - seconds * 1_000_000) : 0
        if fraction != 0 {
            text.append(".")
            text.append(fraction, 6)
            while text.octets.last == ASCII.zero { text.octets.removeLast() }
        }
        text.append("Z")
        return String(decoding: text.octets, as: UTF8.self)
    }

    /// The moment as an IMF-fixdate (RFC 9110, section 5.6.7), the form that `Expires` is written in.
    public var httpDate: String { String(decoding: httpDateOctets, as: UTF8.self) }

    /// ``httpDate`` as octets.
    package var httpDateOctets: Octets {
        let date = CivilDate(secondsSinceEpoch: min(max(seconds, -62_167_219_200), 253_402_300_799))
        var text = DateText()
        text.append(Timestamp.weekdayNames[date.weekday])
        text.append(", ")
        text.append(date.day, 2)
        text.append(" ")
        text.append(Timestamp.monthNames[date.month - 1])
        text.append(" ")
        text.append(date.year, 4)
        text.append(" ")
        text.appendTime(of: date)
        text.append(" GMT")
        return Octets(text.octets)
    }

    private static let weekdayNames: [StaticString] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let monthNames: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

/// A date while it is written down: octets, since a script for a page has one for each cookie.
private struct DateText {
    var octets: [UInt8] = []

    init() {
        octets.reserveCapacity(29)
    }

    mutating func append(_ text: StaticString) {
        octets.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// A number that has no more than so many digits, filled up with zeros.
    mutating func append(_ number: Int, _ width: Int) {
        var divisor = 1
        for _ in 1..<width { divisor *= 10 }
        while divisor > 0 {
            octets.append(ASCII.zero + UInt8(truncatingIfNeeded: number / divisor % 10))
            divisor /= 10
        }
    }

    mutating func appendTime(of date: CivilDate) {
        append(date.hour, 2)
        append(":")
        append(date.minute, 2)
        append(":")
        append(date.second, 2)
    }
}

private struct DigitReader {
    let bytes: [UInt8]
    var position = 0

    var isAtEnd: Bool { position == bytes.count }

    mutating func skip(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    mutating func number(_ width: Int) -> Int? {
        guard position + width <= bytes.count else { return nil }
        var value = 0
        for _ in 0..<width {
            guard ASCII.isDigit(bytes[position]) else { return nil }
            value = value * 10 + Int(bytes[position] - ASCII.zero)
            position += 1
        }
        return value
    }

    mutating func fraction() -> Int? {
        var value = 0
        var width = 0
        while position < bytes.count, ASCII.isDigit(bytes[position]) {
            if width < 6 { value = value * 10 + Int(bytes[position] - ASCII.zero) }
            width += 1
            position += 1
        }
        guard width > 0 else { return nil }
        for _ in min(width, 6)..<6 { value *= 10 }
        return value
    }
}
