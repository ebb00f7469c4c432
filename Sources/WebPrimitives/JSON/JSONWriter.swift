/// Writes JSON (RFC 8259) piece by piece.
@usableFromInline
package struct JSONWriter {
    @usableFromInline package internal(set) var bytes: [UInt8] = []

    @inlinable
    package init(capacity: Int = 1024) {
        bytes.reserveCapacity(capacity)
    }

    /// Appends JSON as it is.
    @inlinable
    package mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Appends JSON that was written elsewhere.
    @inlinable
    package mutating func append(json: [UInt8]) {
        bytes += json
    }

    @inlinable
    package mutating func append(strings: [String]) {
        for (index, text) in strings.enumerated() {
            if index > 0 { append(",") }
            append(string: text)
        }
    }

    /// Appends octets as a string if they are printable ASCII, as nearly all cookies are.
    ///
    /// - Parameter prefix: goes before them.
    /// - Returns: whether they are.
    @inlinable
    package mutating func append(ifPlain octets: Octets, after prefix: StaticString = "") -> Bool {
        var isPrintable = true
        var isEscaped = false
        octets.withContiguousStorageIfAvailable { buffer in
            for byte in buffer {
                if byte < 0x20 || byte > 0x7E { isPrintable = false }
                if byte == ASCII.quote || byte == ASCII.backslash { isEscaped = true }
            }
        }
        guard isPrintable else { return false }
        append(prefix)
        if isEscaped {
            append(escaping: octets)
        } else {
            bytes.append(ASCII.quote)
            octets.withContiguousStorageIfAvailable { bytes.append(contentsOf: $0) }
            bytes.append(ASCII.quote)
        }
        return true
    }

    /// Appends octets as a person sees them.
    @inlinable
    package mutating func append(octets: Octets) {
        if !append(ifPlain: octets) { append(string: octets.description) }
    }

    @inlinable
    package mutating func append(string: String) {
        append(escaping: string.utf8)
    }

    /// Appends a string of a web page (``WebString``): surrogates without their pair are escapes.
    package mutating func append(webString text: Octets) {
        bytes.append(ASCII.quote)
        WebString.forEachPart(of: text.bytes) {
            appendEscaped($0)
        } surrogate: {
            bytes += "\\u\(String($0, radix: 16, uppercase: true))".utf8
        }
        bytes.append(ASCII.quote)
    }

    /// Appends UTF-8 as a string.
    @inlinable
    package mutating func append(escaping text: some Sequence<UInt8>) {
        bytes.append(ASCII.quote)
        appendEscaped(text)
        bytes.append(ASCII.quote)
    }

    /// Appends UTF-8, with escapes for characters that a string must not contain (section 7) and for DEL.
    @inlinable
    mutating func appendEscaped(_ text: some Sequence<UInt8>) {
        for byte in text {
            switch byte {
            case ASCII.quote, ASCII.backslash:
                bytes.append(ASCII.backslash)
                bytes.append(byte)
            case ASCII.tab: append("\\t")
            case ASCII.lineFeed: append("\\n")
            case ASCII.carriageReturn: append("\\r")
            case 0x00..<0x20, 0x7F:
                append("\\u00")
                bytes.append(Hexadecimal.upperCaseDigit(byte >> 4))
                bytes.append(Hexadecimal.upperCaseDigit(byte & 15))
            default: bytes.append(byte)
            }
        }
    }
}

/// Writes a JSON object, its members in the order in which they are appended.
package struct JSONObjectWriter {
    private var writer = JSONWriter(capacity: 256)
    private var isEmpty = true

    package init() {
        writer.append("{")
    }

    /// Appends a member whose value is JSON already.
    package mutating func append(_ name: StaticString, json value: some Sequence<UInt8>) {
        begin(name)
        writer.append(json: Array(value))
    }

    /// Appends a string from UTF-8.
    package mutating func append(_ name: StaticString, _ text: some Sequence<UInt8>) {
        begin(name)
        writer.append(escaping: text)
    }

    package mutating func append(_ name: StaticString, _ text: String) {
        append(name, text.utf8)
    }

    /// Appends a string of a web page (``WebString``).
    package mutating func append(_ name: StaticString, webString text: Octets) {
        begin(name)
        writer.append(webString: text)
    }

    /// Appends an array of strings.
    package mutating func append(_ name: StaticString, texts: [String]) {
        begin(name)
        writer.append("[")
        writer.append(strings: texts)
        writer.append("]")
    }

    package mutating func append(_ name: StaticString, _ flag: Bool) {
        append(name, json: flag ? "true".utf8 : "false".utf8)
    }

    package mutating func append(_ name: StaticString, _ number: Int64) {
        append(name, json: String(number).utf8)
    }

    /// The object so far, without its end.
    package var openBytes: [UInt8] { writer.bytes }

    /// The object.
    package var bytes: [UInt8] { writer.bytes + [ASCII.rightBrace] }

    private mutating func begin(_ name: StaticString) {
        if !isEmpty { writer.append(",") }
        isEmpty = false
        writer.append("\"")
        writer.append(name)
        writer.append("\":")
    }
}
