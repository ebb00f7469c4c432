/// Base64 (RFC 4648).
///
/// Decoding is exact: one text for each run of octets. Unused bits must be zero (section 3.5), and padding, if there is
/// any, must be complete (section 3.2).
package enum Base64 {
    /// The text of `octets`, with padding (section 4).
    package static func encode(_ octets: some Collection<UInt8>) -> [UInt8] {
        encode(octets, alphabet: alphabet, isPadded: true)
    }

    /// The text of `octets`, with padding, as a string.
    package static func text(_ octets: some Collection<UInt8>) -> String {
        String(decoding: encode(octets), as: UTF8.self)
    }

    /// The text of `octets` for URLs, without padding (section 5).
    package static func encodeForURL(_ octets: some Collection<UInt8>) -> [UInt8] {
        encode(octets, alphabet: urlAlphabet, isPadded: false)
    }

    /// The text of `octets` for URLs, as a string.
    package static func textForURL(_ octets: some Collection<UInt8>) -> String {
        String(decoding: encodeForURL(octets), as: UTF8.self)
    }

    /// The octets of a text with or without padding (section 4); `nil` if it is not Base64.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let padding = text.suffix(2).reduce(0) { $1 == ASCII.equals ? $0 + 1 : $0 }
        guard padding == 0 || text.count % 4 == 0 else { return nil }
        return decode(text.dropLast(padding), ASCII.plus, ASCII.slash)
    }

    /// The octets of a text for URLs, which has no padding (section 5); `nil` if it is not Base64.
    package static func decodeForURL(_ text: some Collection<UInt8>) -> [UInt8]? {
        decode(text, ASCII.hyphen, ASCII.underscore)
    }

    /// So many random octets, as text for URLs.
    package static func randomForURL(byteCount: Int, using generator: inout some RandomNumberGenerator) -> [UInt8] {
        encodeForURL((0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlAlphabet = Array(alphabet.dropLast(2)) + [ASCII.hyphen, ASCII.underscore]

    private static func encode(_ octets: some Collection<UInt8>, alphabet: [UInt8], isPadded: Bool) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((octets.count + 2) / 3 * 4)
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for byte in octets {
            bits = bits << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(alphabet[Int(bits >> bitCount & 0x3F)])
            }
        }
        if bitCount > 0 { text.append(alphabet[Int(bits << (6 - bitCount) & 0x3F)]) }
        while isPadded, !text.count.isMultiple(of: 4) { text.append(ASCII.equals) }
        return text
    }

    /// - Parameters:
    ///   - character62: the alphabet's last character but one.
    ///   - character63: its last one.
    private static func decode(
        _ text: some Collection<UInt8>, _ character62: UInt8, _ character63: UInt8
    ) -> [UInt8]? {
        var octets: [UInt8] = []
        octets.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for byte in text {
            let value: UInt8
            switch byte {
            case 0x41...0x5A: value = byte - 0x41
            case 0x61...0x7A: value = byte - 0x61 + 26
            case 0x30...0x39: value = byte - 0x30 + 52
            case character62: value = 62
            case character63: value = 63
            default: return nil
            }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                octets.append(UInt8(truncatingIfNeeded: bits >> bitCount))
            }
        }
        // Six bits left over are a character too many.
        return bitCount < 6 && bits & (1 << bitCount - 1) == 0 ? octets : nil
    }
}

/// Octets as pairs of hexadecimal digits.
@usableFromInline
package enum Hexadecimal {
    /// Two lower-case digits for each octet.
    package static func text(_ octets: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in octets {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes pairs of hexadecimal digits, in either case; `nil` for anything else.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var octets: [UInt8] = []
        var high: UInt8?
        for byte in text.utf8 {
            guard let value = ASCII.hexadecimalValue(byte) else { return nil }
            if let first = high {
                octets.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? octets : nil
    }

    /// The lower-case digit of a value below 16.
    @inlinable @inline(__always)
    package static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? ASCII.zero &+ value : 0x57 &+ value
    }

    /// The upper-case digit of a value below 16.
    @inlinable @inline(__always)
    package static func upperCaseDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? ASCII.zero &+ value : 0x37 &+ value
    }
}

/// Percent-encoding, as in URLs and forms.
@usableFromInline
package enum PercentEncoding {
    /// Appends `%` and the two upper-case digits of `byte` (RFC 3986, section 2.1).
    @inlinable
    package static func append(_ byte: UInt8, to output: inout [UInt8]) {
        output.append(ASCII.percent)
        output.append(Hexadecimal.upperCaseDigit(byte >> 4))
        output.append(Hexadecimal.upperCaseDigit(byte & 15))
    }

    /// Encodes all octets but ASCII letters, digits and those of `kept`.
    package static func encode(_ octets: some Sequence<UInt8>, keeping kept: [UInt8] = []) -> [UInt8] {
        var encoded: [UInt8] = []
        for octet in octets {
            if ASCII.isLetter(octet) || ASCII.isDigit(octet) || kept.contains(octet) {
                encoded.append(octet)
            } else {
                append(octet, to: &encoded)
            }
        }
        return encoded
    }

    /// Decodes octets as the URL Standard's percent-decode does: a `%` without two hexadecimal digits is kept.
    ///
    /// - Parameter plusIsSpace: whether `+` is a space, as in `application/x-www-form-urlencoded`.
    package static func decode(_ bytes: Span<UInt8>, plusIsSpace: Bool = false) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == ASCII.percent, index + 2 < bytes.count,
                let high = ASCII.hexadecimalValue(bytes[index + 1]), let low = ASCII.hexadecimalValue(bytes[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(plusIsSpace && bytes[index] == ASCII.plus ? ASCII.space : bytes[index])
                index += 1
            }
        }
        return decoded
    }

    /// Decodes octets in which two hexadecimal digits follow each `%`; `nil` for others.
    ///
    /// - Parameter plusIsSpace: whether `+` is a space, as in `application/x-www-form-urlencoded`.
    package static func decodeStrictly(_ bytes: Span<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
        var position = 0
        while let percent = bytes.firstIndex(of: ASCII.percent, from: position) {
            guard percent + 2 < bytes.count, ASCII.hexadecimalValue(bytes[percent + 1]) != nil,
                ASCII.hexadecimalValue(bytes[percent + 2]) != nil
            else { return nil }
            position = percent + 3
        }
        return decode(bytes, plusIsSpace: plusIsSpace)
    }

    /// Decodes text as `removingPercentEncoding` of Foundation does; `nil` if it is not percent-encoded UTF-8.
    ///
    /// - Parameter plusIsSpace: whether `+` is a space, as in `application/x-www-form-urlencoded`.
    package static func text(_ encoded: some StringProtocol, plusIsSpace: Bool = false) -> String? {
        let decoded = decodeStrictly(Array(encoded.utf8).span, plusIsSpace: plusIsSpace)
        return decoded.flatMap { String(validating: $0, as: UTF8.self) }
    }
}
