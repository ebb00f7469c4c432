import CookieModel

/// Writes the Cookie field of a request, its cookies in the order in which they come (section 5.8.3 of the draft).
struct HeaderWriter: FormatWriter {
    private var isEmpty = true

    func begin(_ bytes: inout [UInt8]) {}

    mutating func write(_ record: CookieRecord, to bytes: inout [UInt8]) {
        bytes += isEmpty ? "Cookie: ".utf8 : "; ".utf8
        isEmpty = false
        bytes += record.pair
    }

    func end(_ bytes: inout [UInt8]) {
        if !isEmpty { bytes.append(ASCII.lineFeed) }
    }
}
