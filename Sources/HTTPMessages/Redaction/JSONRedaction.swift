import WebPrimitives

/// The secrets in JSON: the values of secret members at any depth, and those in URLs.
extension SecretRedaction {
    /// How far after the beginning of a body its JSON may begin, and how many positions are tried.
    private static let prefixLimit = 64
    private static let attempts = 4

    /// The places of secrets in a body with JSON. A byte order mark may precede it, and text that keeps scripts of
    /// other sites from reading it, such as `)]}'`, `for(;;);` or `callback(`.
    ///
    /// - Returns: `nil` if the body has no JSON, or if it is damaged, so that not all secrets can be found.
    static func places(inJSONBody body: [UInt8], _ names: SecretNames) -> [SecretPlace]? {
        let start = body.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        if let places = places(inJSON: body[start...], names) { return places }
        var end = body.endIndex
        while end > start, ASCII.isWhiteSpace(body[end - 1]) || ");".utf8.contains(body[end - 1]) { end -= 1 }
        let candidates = body[start..<end].drop(while: ASCII.isWhiteSpace).indices.prefix(prefixLimit).filter { index in
            index > start && (body[index] == ASCII.leftBrace || body[index] == ASCII.leftBracket)
        }
        for candidate in candidates.prefix(attempts) {
            if let places = places(inJSON: body[candidate..<end], names) { return places }
        }
        return nil
    }

    /// Whether the beginning of a body looks like JSON.
    package static func looksLikeJSON(_ body: [UInt8]) -> Bool {
        let start = body.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let text = body[start...].drop(while: ASCII.isWhiteSpace).prefix(prefixLimit)
        return text.first != UInt8(ascii: "<")
            && text.contains { $0 == ASCII.leftBrace || $0 == ASCII.leftBracket }
    }

    /// The places of secrets in lines of JSON, or in events whose data is JSON (`text/event-stream`).
    ///
    /// - Returns: `nil` if a line that begins like JSON is damaged.
    static func places(inLines body: [UInt8], _ names: SecretNames) -> [SecretPlace]? {
        var places: [SecretPlace] = []
        for line in body.split(whereSeparator: { $0 == ASCII.lineFeed || $0 == ASCII.carriageReturn || $0 == 0x1E }) {
            let data = line.starts(with: "data:".utf8) ? line.dropFirst(5) : line
            let text = data.drop(while: ASCII.isWhiteSpace)
            if text.first == ASCII.leftBrace || text.first == ASCII.leftBracket {
                guard let found = self.places(inJSON: text, names) else { return nil }
                places += found
            } else {
                places += self.places(inText: text).map { SecretPlace(range: $0) }
            }
        }
        return places
    }

    /// The places of secrets in a JSON text.
    ///
    /// - Returns: `nil` if it is damaged, so that not all secrets can be found.
    static func places(inJSON text: ArraySlice<UInt8>, _ names: SecretNames, depth: Int = 0) -> [SecretPlace]? {
        var stream = JSONStream(handler: SecretMembers(names: names), dialect: .standard)
        let octets = text.span
        for position in text.indices {
            stream.handler.position = position
            let offset = position - text.startIndex
            stream.read(octets.extracting(offset..<(offset + 1)))
        }
        // A number ends only when another octet follows.
        stream.read([ASCII.space].span)
        guard stream.isComplete else { return nil }
        return stream.handler.found.flatMap { found -> [SecretPlace] in
            switch found {
            case .secret(let range):
                guard text[range.upperBound - 1] == ASCII.quote else {
                    return [
                        SecretPlace(range: text[..<range.upperBound].startOfNumber..<range.upperBound, isNumber: true)
                    ]
                }
                return [SecretPlace(range: (range.lowerBound + 1)..<(range.upperBound - 1))]
            case .text(let range):
                return places(
                    inString: text[(range.lowerBound + 1)..<(range.upperBound - 1)], names, depth: depth)
            }
        }
    }

    /// The places of secrets in a JSON string, which may contain URLs or JSON. Characters may be escaped.
    private static func places(
        inString string: ArraySlice<UInt8>, _ names: SecretNames, depth: Int
    ) -> [SecretPlace] {
        var octets: [UInt8] = []
        var starts: [Int] = []
        var index = string.startIndex
        while index < string.endIndex {
            starts.append(index)
            let (octet, length) = unescaped(string[index...])
            octets.append(octet)
            index += length
        }
        starts.append(string.endIndex)
        let isJSON = octets.first == ASCII.leftBrace || octets.first == ASCII.leftBracket
        let json = isJSON && depth < depthLimit ? places(inJSON: octets[...], names, depth: depth + 1) : nil
        let ranges = json?.map(\.range) ?? places(inText: octets[...], depth: depth)
        return ranges.map { SecretPlace(range: starts[$0.lowerBound]..<starts[$0.upperBound]) }
    }

    /// The first character of a JSON string, and how many octets it takes. An escaped character beyond ASCII becomes an
    /// octet without a meaning.
    private static func unescaped(_ string: ArraySlice<UInt8>) -> (octet: UInt8, length: Int) {
        let start = string.startIndex
        guard string[start] == ASCII.backslash, start + 1 < string.endIndex else { return (string[start], 1) }
        switch string[start + 1] {
        case UInt8(ascii: "u"):
            let digits = string[(start + 2)...].prefix(4)
            let value = digits.reduce(0) { $0 << 4 | Int(ASCII.hexadecimalValue($1) ?? 0) }
            return (value < 0x80 ? UInt8(value) : 0x80, 2 + digits.count)
        case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"), UInt8(ascii: "b"), UInt8(ascii: "f"):
            return (ASCII.space, 2)
        case let octet: return (octet, 2)
        }
    }
}

/// Finds the strings and numbers of members with some names, and strings that may contain URLs.
private struct SecretMembers: JSONHandler, Sendable {
    enum Found {
        /// A secret. Only the end of a number's range is known.
        case secret(Range<Int>)
        /// Another string, with its quotes.
        case text(Range<Int>)
    }

    let names: SecretNames
    /// The position of the octet that is being read.
    var position = 0
    private(set) var found: [Found] = []
    /// Whether the next value belongs to a secret member.
    private var isNextSecret = false
    /// How many containers are open within a secret member.
    private var secretDepth = 0
    private var start = 0
    private var isSecretString = false

    init(names: SecretNames) {
        self.names = names
    }

    private var isSecret: Bool { isNextSecret || secretDepth > 0 }

    mutating func key(_ name: Span<UInt8>) {
        isNextSecret = name.withUnsafeBufferPointer { names.contains($0) }
    }

    mutating func begin(_ container: JSONContainer) -> Bool {
        if isSecret { secretDepth += 1 }
        isNextSecret = false
        return true
    }

    mutating func end() {
        secretDepth = max(0, secretDepth - 1)
        isNextSecret = false
    }

    mutating func beginString() -> Bool {
        start = position
        isSecretString = isSecret
        isNextSecret = false
        return isSecretString || names.includesURLs
    }

    mutating func string(_ text: Span<UInt8>) {
        stringTooLong()
    }

    mutating func stringTooLong() {
        let range = start..<(position + 1)
        found.append(isSecretString ? .secret(range) : .text(range))
    }

    /// A number is complete when the octet after it is read.
    mutating func scalar(_ scalar: JSONScalar) {
        if case .number = scalar, isSecret { found.append(.secret(position..<position)) }
        isNextSecret = false
    }
}

extension ArraySlice<UInt8> {
    /// The beginning of the number at the end of the octets.
    fileprivate var startOfNumber: Int {
        let other = lastIndex { !ASCII.isDigit($0) && !"+-.eE".utf8.contains($0) }
        return other.map { $0 + 1 } ?? startIndex
    }
}
