import CookieModel

/// Puts a JSON object together, its members in the order in which they are appended.
struct JSONObjectText {
    private(set) var bytes: [UInt8] = [ASCII.leftBrace]

    /// Appends a member whose value is JSON already.
    mutating func append(_ key: StaticString, json value: some Sequence<UInt8>) {
        if bytes.count > 1 { bytes.append(ASCII.comma) }
        bytes.append(ASCII.quote)
        key.withUTF8Buffer { bytes += $0 }
        bytes.append(ASCII.quote)
        bytes.append(ASCII.colon)
        bytes += value
    }

    mutating func append(_ key: StaticString, _ text: some Sequence<UInt8>) {
        append(key, json: JSONObjectText.string(text))
    }

    mutating func append(_ key: StaticString, _ text: String) {
        append(key, text.utf8)
    }

    mutating func append(_ key: StaticString, _ flag: Bool) {
        append(key, json: flag ? "true".utf8 : "false".utf8)
    }

    mutating func append(_ key: StaticString, _ number: Int64) {
        append(key, json: String(number).utf8)
    }

    /// The object's text.
    func ended() -> [UInt8] { bytes + [ASCII.rightBrace] }

    /// A string of a web page as a JSON string: surrogates without their pair are escapes.
    static func webString(_ text: Octets) -> [UInt8] {
        var bytes = [ASCII.quote]
        WebString.forEachPart(of: text.bytes) {
            bytes += string($0).dropFirst().dropLast()
        } surrogate: {
            bytes += "\\u\(String($0, radix: 16, uppercase: true))".utf8
        }
        bytes.append(ASCII.quote)
        return bytes
    }

    /// UTF-8 as a JSON string (RFC 8259, section 7).
    static func string(_ text: some Sequence<UInt8>) -> [UInt8] {
        var bytes = [ASCII.quote]
        for byte in text {
            switch byte {
            case ASCII.quote, ASCII.backslash: bytes += [ASCII.backslash, byte]
            case ASCII.tab: bytes += [ASCII.backslash, 0x74]
            case ASCII.lineFeed: bytes += [ASCII.backslash, 0x6E]
            case ASCII.carriageReturn: bytes += [ASCII.backslash, 0x72]
            case 0..<0x20, 0x7F:
                bytes += byte < 0x10 ? "\\u000".utf8 : "\\u00".utf8
                bytes += String(byte, radix: 16, uppercase: true).utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(ASCII.quote)
        return bytes
    }
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
