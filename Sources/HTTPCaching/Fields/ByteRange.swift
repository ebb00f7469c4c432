import WebPrimitives

/// The range that a Range field asks for (RFC 9110, section 14.1.2).
enum ByteRange: Sendable, Hashable {
    /// From a position to another one, which it includes, or to the end.
    case from(Int64, through: Int64?)
    /// The last octets.
    case last(Int64)

    /// The largest position that is told apart.
    static let limit: Int64 = 1 << 62

    /// Reads a Range field; `nil` if the field is absent, malformed, in another unit, or has several ranges.
    ///
    /// A server may ignore a Range field (section 14.2), and a cache sends no `multipart/byteranges`.
    init?(_ fields: MessageFields) {
        guard let value = fields.onlyValue("range"), let equals = value.firstIndex(of: ASCII.equals),
            value[0..<equals].lowercased == "bytes"
        else { return nil }
        let ranges = FieldList.members([value[(equals + 1)..<value.count]])
        guard ranges.count == 1, let range = ranges.first, let hyphen = range.firstIndex(of: ASCII.hyphen)
        else { return nil }
        let first = DecimalNumber.parse(range[0..<hyphen], limit: Self.limit)
        let last = DecimalNumber.parse(range[(hyphen + 1)..<range.count], limit: Self.limit)
        switch (first, last) {
        case (let first?, let last?) where first <= last: self = .from(first, through: last)
        case (let first?, nil) where hyphen + 1 == range.count: self = .from(first, through: nil)
        case (nil, let last?) where hyphen == 0: self = .last(last)
        default: return nil
        }
    }

    /// The positions of a representation with so many octets; `nil` if the range is not satisfiable.
    func positions(of length: Int64) -> Range<Int64>? {
        switch self {
        case .from(let first, let last):
            // The last position is cut to the end.
            first < length ? first..<(last.map { min($0 + 1, length) } ?? length) : nil
        case .last(let count):
            count > 0 && length > 0 ? max(0, length - count)..<length : nil
        }
    }
}

/// The range of a representation that a message contains (RFC 9110, section 14.4).
struct ContentRange: Sendable, Hashable {
    /// The positions.
    let positions: Range<Int64>
    /// The length of the whole; `nil` if it is unknown.
    let total: Int64?

    /// Reads `bytes 0-499/1234` or `bytes 0-499/*`; `nil` for anything else, such as an invalid or unsatisfied range.
    init?(_ fields: MessageFields) {
        guard let value = fields.onlyValue("content-range"), let space = value.firstIndex(of: ASCII.space),
            value[0..<space].lowercased == "bytes"
        else { return nil }
        let range = value[(space + 1)..<value.count]
        guard let hyphen = range.firstIndex(of: ASCII.hyphen), let slash = range.firstIndex(of: ASCII.slash),
            hyphen < slash, let first = DecimalNumber.parse(range[0..<hyphen], limit: ByteRange.limit),
            let last = DecimalNumber.parse(range[(hyphen + 1)..<slash], limit: ByteRange.limit), first <= last
        else { return nil }
        let whole = range[(slash + 1)..<range.count]
        positions = first..<(last + 1)
        if whole == "*" {
            total = nil
        } else if let total = DecimalNumber.parse(whole, limit: ByteRange.limit), last < total {
            self.total = total
        } else {
            return nil
        }
    }

    /// The length that `bytes */1234` gives, of a representation in which no position of a range exists.
    static func unsatisfiedTotal(_ fields: MessageFields) -> Int64? {
        guard let value = fields.onlyValue("content-range"), value.lowercased.starts(with: "bytes */" as Octets)
        else { return nil }
        return DecimalNumber.parse(value[8..<value.count], limit: ByteRange.limit)
    }

    /// The value of the field for a range of a representation.
    static func value(_ positions: Range<Int64>, of total: Int64?) -> Octets {
        Octets("bytes \(positions.lowerBound)-\(positions.upperBound - 1)/\(total.map(String.init) ?? "*")")
    }
}
