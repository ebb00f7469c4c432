/// Reads JSON texts (RFC 8259): strict in syntax, lenient in encoding, bounded in depth, linear in time.
///
/// What is not UTF-8 in a string, and an escaped surrogate without its other half, becomes U+FFFD. A reader of our own
/// because a reply that breaks off still shows the members before the break, among them a rotated refresh token that
/// exists nowhere else.
struct JSONReader {
    /// How deep arrays and objects may lie in each other.
    static let maximumDepth = 32

    /// What a text turned out to be.
    enum Document {
        case object(JSONObject)
        case other(JSONValue)
        /// Not JSON. `read` holds the complete members before the error where the text began as an object.
        case invalid(read: JSONObject)
    }

    private struct SyntaxError: Error {}

    private let bytes: [UInt8]
    private var position = 0
    private var outermost = JSONObject()

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // RFC 8259, section 8.1: a parser may ignore a byte order mark.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    static func document(_ bytes: [UInt8]) -> Document {
        var reader = JSONReader(bytes)
        do {
            let value = try reader.value(depth: 0)
            reader.skipWhitespace()
            guard reader.position == bytes.count else { throw SyntaxError() }
            if case .object(let object) = value { return .object(object) }
            return .other(value)
        } catch {
            return .invalid(read: reader.outermost)
        }
    }

    // MARK: - Values

    private mutating func value(depth: Int) throws(SyntaxError) -> JSONValue {
        guard depth < JSONReader.maximumDepth else { throw SyntaxError() }
        skipWhitespace()
        switch peek {
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case UInt8(ascii: "["): return .array(try array(depth: depth))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .boolean(true))
        case UInt8(ascii: "f"): return try literal("false", .boolean(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func object(depth: Int) throws(SyntaxError) -> JSONObject {
        var object = JSONObject()
        try expect("{")
        skipWhitespace()
        if skip("}") { return object }
        repeat {
            skipWhitespace()
            let name = try string()
            skipWhitespace()
            try expect(":")
            let member = try value(depth: depth + 1)
            object[name] = member
            if depth == 0 { outermost[name] = member }
            skipWhitespace()
        } while skip(",")
        try expect("}")
        return object
    }

    private mutating func array(depth: Int) throws(SyntaxError) -> [JSONValue] {
        var elements: [JSONValue] = []
        try expect("[")
        skipWhitespace()
        if skip("]") { return elements }
        repeat {
            elements.append(try value(depth: depth + 1))
            skipWhitespace()
        } while skip(",")
        try expect("]")
        return elements
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(SyntaxError) -> JSONValue {
        let end = position + text.utf8CodeUnitCount
        guard end <= bytes.count,
            text.withUTF8Buffer({ bytes[position..<end].elementsEqual($0) })
        else { throw SyntaxError() }
        position = end
        return value
    }

    // MARK: - Numbers (section 6)

    private mutating func number() throws(SyntaxError) -> String {
        let start = position
        _ = skip("-")
        if !skip("0") { try digits() }
        if skip(".") { try digits() }
        if skip("e") || skip("E") {
            if !skip("+") { _ = skip("-") }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(SyntaxError) {
        let start = position
        while let byte = peek, (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else { throw SyntaxError() }
    }

    // MARK: - Strings (section 7)

    private mutating func string() throws(SyntaxError) -> String {
        try expect("\"")
        var content: [UInt8] = []
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &content)
            case 0x00..<0x20: throw SyntaxError()
            default: content.append(byte)
            }
        }
        throw SyntaxError()
    }

    private mutating func escape(into content: inout [UInt8]) throws(SyntaxError) {
        guard let byte = peek else { throw SyntaxError() }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"): content += Array(String(Character(try escapedScalar())).utf8)
        default: throw SyntaxError()
        }
    }

    private mutating func escapedScalar() throws(SyntaxError) -> Unicode.Scalar {
        let unit = try codeUnit()
        if UTF16.isLeadSurrogate(unit) {
            let afterUnit = position
            if skip("\\"), skip("u") {
                let next = try codeUnit()
                if UTF16.isTrailSurrogate(next) {
                    return UTF16.decode(UTF16.EncodedScalar([unit, next]))
                }
            }
            // Half a pair: what follows stands for itself.
            position = afterUnit
        }
        return Unicode.Scalar(unit) ?? "\u{FFFD}"
    }

    private mutating func codeUnit() throws(SyntaxError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw SyntaxError()
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    // MARK: - Bytes

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let byte = peek, UInt32(byte) == character.value else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(SyntaxError) {
        guard skip(character) else { throw SyntaxError() }
    }

    private mutating func skipWhitespace() {
        while let byte = peek, byte == 0x20 || (0x09...0x0A).contains(byte) || byte == 0x0D { position += 1 }
    }
}
