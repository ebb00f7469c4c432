/// A moment on the UTC time line, in microseconds since 1970-01-01T00:00:00Z.
///
/// No rule reads a clock: every function that depends on the time takes a `Timestamp`. Leap seconds are not counted,
/// as in POSIX time. Arithmetic saturates at the two ends instead of overflowing.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Microseconds since the Unix epoch; negative before it.
    public var microseconds: Int64

    /// Creates the time at the given number of microseconds after the Unix epoch.
    @inlinable
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Creates the time at the given number of whole seconds after the Unix epoch, or the end of the range if that
    /// overflows.
    @inlinable
    public init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        microseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// 1970-01-01T00:00:00Z.
    @inlinable package static var epoch: Timestamp { Timestamp(microseconds: 0) }
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

    /// The moment `seconds` later (earlier if negative), saturating.
    @inlinable
    public func advanced(bySeconds seconds: Int64) -> Timestamp {
        let step = Timestamp(seconds: seconds).microseconds
        let (sum, overflow) = microseconds.addingReportingOverflow(step)
        return Timestamp(microseconds: overflow ? (step < 0 ? .min : .max) : sum)
    }

    /// The moment `duration` later (earlier if negative), to the microsecond, saturating.
    public func advanced(by duration: Duration) -> Timestamp {
        // Beyond the whole range, any step leads to an end. The sum is within what `Duration` can hold.
        let range = Timestamp.distantFuture - .distantPast
        let end = .microseconds(microseconds) + min(max(duration, .zero - range), range)
        let (seconds, attoseconds) = end.components
        let (whole, isTooFar) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, isBeyond) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        return Timestamp(microseconds: isTooFar || isBeyond ? (seconds < 0 ? .min : .max) : sum)
    }

    /// The time from `earlier` to `later`; negative if `later` is before `earlier`.
    public static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        .microseconds(later.microseconds) - .microseconds(earlier.microseconds)
    }

    /// The earlier one is the lesser one.
    @inlinable
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }
}

extension Timestamp {
    /// Reads a date and time as RFC 3339, section 5.6, writes it: `2026-11-21T08:30:00.25+01:00`.
    ///
    /// Fractions beyond a microsecond are cut off. A leap second (`:60`) is the first moment of the next minute, as in
    /// POSIX time, which counts no leap seconds (IEEE Std 1003.1, section 4.19). `nil` for anything else.
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

    /// The moment as RFC 3339 in UTC, with a fraction only if it has one. The two ends of the range, which no
    /// four-digit year holds, are written as the nearest moment that has one.
    public var rfc3339: String {
        let seconds = min(max(self.seconds, -62_167_219_200), 253_402_300_799)
        let date = CivilDate(secondsSinceEpoch: seconds)
        var text = Timestamp.rfc3339Pattern
        text.withUnsafeMutableBufferPointer { text in
            text.put(date.year / 100, at: 0)
            text.put(date.year % 100, at: 2)
            text.put(date.month, at: 5)
            text.put(date.day, at: 8)
            text.putTime(of: date, at: 11)
        }
        let fraction = seconds == self.seconds ? Int(microseconds - seconds * 1_000_000) : 0
        if fraction != 0 {
            text.append(ASCII.dot)
            text += String(1_000_000 + fraction).utf8.dropFirst()
            while text.last == ASCII.zero { text.removeLast() }
        }
        return String(decoding: text, as: UTF8.self) + "Z"
    }

    /// The moment as ``rfc3339``, or in microseconds since 1970 if no year of four digits holds it. Text in both cases,
    /// since many readers have no numbers that large.
    package var serialized: String {
        let text = rfc3339
        return Timestamp(rfc3339: text.utf8) == self ? text : String(microseconds)
    }

    /// Reads ``serialized`` back; `nil` for anything else.
    package init?(serialized text: Octets) {
        if let moment = Timestamp(rfc3339: text) {
            self = moment
        } else {
            guard let microseconds = text.utf8String.flatMap(Int64.init) else { return nil }
            self.init(microseconds: microseconds)
        }
    }

    /// The moment as an IMF-fixdate (RFC 9110, section 5.6.7), the form that `Expires` is written in.
    package var httpDate: String {
        var octets: [UInt8] = []
        octets.reserveCapacity(29)
        appendHTTPDate(to: &octets)
        return String(decoding: octets, as: UTF8.self)
    }

    /// Appends ``httpDate`` to `text`. Octets in their places, since a script for a page has a date for each cookie.
    package func appendHTTPDate(to text: inout [UInt8]) {
        let date = CivilDate(secondsSinceEpoch: min(max(seconds, -62_167_219_200), 253_402_300_799))
        let start = text.count
        text.append(contentsOf: Timestamp.datePattern)
        text.withUnsafeMutableBufferPointer { text in
            let names = Timestamp.dateNames
            for place in 0..<3 {
                text[start + place] = names[date.weekday * 3 + place]
                text[start + 8 + place] = names[(6 + date.month) * 3 + place]
            }
            text.put(date.day, at: start + 5)
            text.put(date.year / 100, at: start + 12)
            text.put(date.year % 100, at: start + 14)
            text.putTime(of: date, at: start + 17)
        }
    }

    private static let rfc3339Pattern = Array("YYYY-MM-DDTHH:MM:SS".utf8)
    private static let datePattern = Array("ddd, DD mmm YYYY HH:MM:SS GMT".utf8)
    private static let dateNames = Array("SunMonTueWedThuFriSatJanFebMarAprMayJunJulAugSepOctNovDec".utf8)
}

extension UnsafeMutableBufferPointer<UInt8> {
    /// Puts a number below 100 there, in two digits.
    fileprivate func put(_ number: Int, at place: Int) {
        self[place] = ASCII.zero + UInt8(truncatingIfNeeded: number / 10)
        self[place + 1] = ASCII.zero + UInt8(truncatingIfNeeded: number % 10)
    }

    /// Puts hours, minutes and seconds there, two digits each and an octet between.
    fileprivate func putTime(of date: CivilDate, at place: Int) {
        put(date.hour, at: place)
        put(date.minute, at: place + 3)
        put(date.second, at: place + 6)
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
