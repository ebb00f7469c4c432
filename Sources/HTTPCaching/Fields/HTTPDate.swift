import WebPrimitives

/// Dates in fields (RFC 9110, section 5.6.7).
///
/// ``CookieDate`` reads these forms, too, and many others. A cache has to take a date in another form for one that has
/// passed (RFC 9111, section 5.3), so it needs a parser that recognizes exactly these three.
enum HTTPDate {
    /// Parses an HTTP-date, letters without regard to case (RFC 9111, section 4.2); `nil` for any other text.
    ///
    /// The name of the day must be one, but need not be that of the date.
    ///
    /// - Parameter now: The time at which the date is read, which decides the century of a year with two digits.
    static func parse(_ text: Octets, now: Timestamp) -> Timestamp? {
        var reader = DateReader(text.lowercased)
        return fixed(&reader) ?? obsolete(&reader, now: now) ?? asctime(&reader)
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    private static func fixed(_ reader: inout DateReader) -> Timestamp? {
        reader.position = 0
        guard reader.skip(oneOf: DateReader.days), reader.skip(", "), let day = reader.number(2), reader.skip(" "),
            let month = reader.month(), reader.skip(" "), let year = reader.number(4), reader.skip(" "),
            let time = reader.time(), reader.skip(" gmt"), reader.isAtEnd
        else { return nil }
        return timestamp(year, month, day, time)
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    private static func obsolete(_ reader: inout DateReader, now: Timestamp) -> Timestamp? {
        reader.position = 0
        guard reader.skip(oneOf: DateReader.longDays), reader.skip(", "), let day = reader.number(2), reader.skip("-"),
            let month = reader.month(), reader.skip("-"), let shortYear = reader.number(2), reader.skip(" "),
            let time = reader.time(), reader.skip(" gmt"), reader.isAtEnd
        else { return nil }
        // A date that appears to be more than 50 years in the future is of the most recent year in the past that had the
        // same last two digits.
        let currentYear = CivilDate(secondsSinceEpoch: now.seconds).year
        let year = currentYear - currentYear % 100 + shortYear
        let isTooLate = year > currentYear + 50
        return timestamp(isTooLate ? year - 100 : year, month, day, time)
    }

    /// `Sun Nov  6 08:49:37 1994`
    private static func asctime(_ reader: inout DateReader) -> Timestamp? {
        reader.position = 0
        guard reader.skip(oneOf: DateReader.days), reader.skip(" "), let month = reader.month(), reader.skip(" "),
            let day = reader.skip(" ") ? reader.number(1) : reader.number(2), reader.skip(" "),
            let time = reader.time(), reader.skip(" "), let year = reader.number(4), reader.isAtEnd
        else { return nil }
        return timestamp(year, month, day, time)
    }

    private static func timestamp(
        _ year: Int, _ month: Int, _ day: Int, _ time: (hour: Int, minute: Int, second: Int)
    ) -> Timestamp? {
        // A leap second becomes the nearest earlier moment (RFC 9111, section 4.2).
        guard time.second <= 60 else { return nil }
        let date = CivilDate(
            year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: min(time.second, 59))
        return date.map { Timestamp(seconds: $0.secondsSinceEpoch) }
    }
}

/// Reads the parts of a date in lower case.
private struct DateReader {
    static let days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    static let longDays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private let text: Octets
    var position = 0

    init(_ text: Octets) {
        self.text = text
    }

    var isAtEnd: Bool { position == text.count }

    mutating func skip(_ literal: String) -> Bool {
        let end = position + literal.utf8.count
        guard end <= text.count, text[position..<end].elementsEqual(literal.utf8) else { return false }
        position = end
        return true
    }

    mutating func skip(oneOf literals: [String]) -> Bool {
        for literal in literals where skip(literal) { return true }
        return false
    }

    mutating func month() -> Int? {
        for (index, name) in Self.months.enumerated() where skip(name) { return index + 1 }
        return nil
    }

    mutating func number(_ digits: Int) -> Int? {
        guard position + digits <= text.count,
            let number = DecimalNumber.parse(text[position..<(position + digits)], limit: 9999)
        else { return nil }
        position += digits
        return Int(number)
    }

    mutating func time() -> (hour: Int, minute: Int, second: Int)? {
        guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2)
        else { return nil }
        return (hour, minute, second)
    }
}
