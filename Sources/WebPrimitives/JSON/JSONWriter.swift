/// Writes JSON (RFC 8259) piece by piece.
@usableFromInline
package struct JSONWriter {
    @usableFromInline package internal(set) var bytes: [UInt8] = []

    @inlinable
    package init() {
        bytes.reserveCapacity(1024)
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

    /// Appends octets as a string where they are printable ASCII, as nearly all cookies.
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
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { isEscaped = true }
            }
        }
        guard isPrintable else { return false }
        append(prefix)
        if isEscaped {
            append(escaping: octets)
        } else {
            bytes.append(UInt8(ascii: "\""))
            octets.withContiguousStorageIfAvailable { bytes.append(contentsOf: $0) }
            bytes.append(UInt8(ascii: "\""))
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

    /// Appends a string with what has to be escaped (section 7).
    @inlinable
    mutating func append(escaping text: some Sequence<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x00..<0x20:
                append("\\u00")
                bytes.append(Hexadecimal.digit(byte >> 4))
                bytes.append(Hexadecimal.digit(byte & 15))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
