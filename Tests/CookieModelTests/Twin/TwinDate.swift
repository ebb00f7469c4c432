/// The cookie-date algorithm (draft, section 5.1.1), written down as it stands.
enum TwinDate {
    /// Seconds since 1970, or `nil` where the algorithm fails.
    static func parse(_ cookieDate: [UInt8]) -> Int? {
        // 1. Divide the cookie-date into date-tokens.
        let tokens = cookieDate.split(whereSeparator: isDelimiter).map(Array.init)
        var time: [Int]?
        var dayOfMonth: Int?
        var month: Int?
        var year: Int?
        // 2. Process each date-token sequentially.
        for token in tokens {
            // 2.1.
            if time == nil, let match = matchTime(token) {
                time = match
                continue
            }
            // 2.2.
            if dayOfMonth == nil, let match = matchNumber(token, atLeast: 1, atMost: 2) {
                dayOfMonth = match
                continue
            }
            // 2.3.
            if month == nil, let match = matchMonth(token) {
                month = match
                continue
            }
            // 2.4.
            if year == nil, let match = matchNumber(token, atLeast: 2, atMost: 4) {
                year = match
                continue
            }
        }
        // 5, first point.
        guard let time, let dayOfMonth, let month, var year else { return nil }
        // 3.
        if year >= 70, year <= 99 { year += 1900 }
        // 4.
        if year >= 0, year <= 69 { year += 2000 }
        // 5.
        if dayOfMonth < 1 || dayOfMonth > 31 { return nil }
        if year < 1601 { return nil }
        if time[0] > 23 || time[1] > 59 || time[2] > 59 { return nil }
        // 6.
        if dayOfMonth > lengths(of: year)[month - 1] { return nil }
        // 7.
        var days = dayOfMonth - 1
        for earlier in 0..<(month - 1) { days += lengths(of: year)[earlier] }
        if year >= 1970 {
            for earlier in 1970..<year { days += isLeap(earlier) ? 366 : 365 }
        } else {
            for later in year..<1970 { days -= isLeap(later) ? 366 : 365 }
        }
        return ((days * 24 + time[0]) * 60 + time[1]) * 60 + time[2]
    }

    private static func isLeap(_ year: Int) -> Bool {
        year % 400 == 0 || (year % 4 == 0 && year % 100 != 0)
    }

    private static func lengths(of year: Int) -> [Int] {
        [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    }

    /// `delimiter = %x09 / %x20-2F / %x3B-40 / %x5B-60 / %x7B-7E`
    private static func isDelimiter(_ byte: UInt8) -> Bool {
        byte == 0x09 || (byte >= 0x20 && byte <= 0x2F) || (byte >= 0x3B && byte <= 0x40)
            || (byte >= 0x5B && byte <= 0x60) || (byte >= 0x7B && byte <= 0x7E)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= 0x30 && byte <= 0x39
    }

    /// `1*2DIGIT [ non-digit *OCTET ]` and its like: the digits in front, if there are as many as there may be.
    private static func matchNumber(_ token: [UInt8], atLeast: Int, atMost: Int) -> Int? {
        let digits = token.prefix(while: isDigit)
        guard digits.count >= atLeast, digits.count <= atMost else { return nil }
        return Int(String(decoding: digits, as: UTF8.self))
    }

    /// `hms-time [ non-digit *OCTET ]`
    private static func matchTime(_ token: [UInt8]) -> [Int]? {
        let parts = token.split(separator: 0x3A, maxSplits: 2, omittingEmptySubsequences: false).map(Array.init)
        guard parts.count == 3, parts[0].allSatisfy(isDigit), parts[1].allSatisfy(isDigit) else { return nil }
        let fields = parts.compactMap { matchNumber($0, atLeast: 1, atMost: 2) }
        return fields.count == 3 ? fields : nil
    }

    /// `( "jan" / "feb" / … ) *OCTET`
    private static func matchMonth(_ token: [UInt8]) -> Int? {
        let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        let start = TwinText.lowercased(Array(token.prefix(3)))
        return names.firstIndex { Array($0.utf8) == start }.map { $0 + 1 }
    }
}
