import CookieModel

/// The writer of one format: appends the bytes of one cookie after the other.
///
/// It is asked only for cookies that the format can hold (``FormatCapabilities/obstacle(to:)``).
protocol FormatWriter: Sendable {
    /// What stands before the first cookie.
    mutating func begin(_ bytes: inout [UInt8])

    /// Takes the next cookie, whose lifetime ends at a moment that the format can write.
    mutating func write(_ record: CookieRecord, to bytes: inout [UInt8])

    /// Takes an item of web storage, once all cookies are written; the items of one origin come one after the other. A
    /// format without web storage does nothing.
    mutating func write(_ item: WebStorageItem, to bytes: inout [UInt8])

    /// What stands behind the last cookie.
    mutating func end(_ bytes: inout [UInt8])
}

extension FormatWriter {
    mutating func write(_ item: WebStorageItem, to bytes: inout [UInt8]) {}
}

/// Puts a comma between the elements of an array, a line each.
struct JSONArrayText {
    private var isEmpty = true

    mutating func append(_ element: some Sequence<UInt8>, to bytes: inout [UInt8]) {
        if !isEmpty { bytes.append(ASCII.comma) }
        isEmpty = false
        bytes.append(ASCII.lineFeed)
        bytes += element
    }
}

extension Timestamp {
    /// Seconds since 1970, with as many decimals as the moment needs; not for moments before.
    var decimalSeconds: String {
        let fraction = microseconds - seconds * 1_000_000
        guard fraction != 0 else { return String(seconds) }
        var digits = String(fraction)
        digits = String(repeating: "0", count: 6 - digits.utf8.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(seconds).\(digits)"
    }
}
