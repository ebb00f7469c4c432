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

    /// The octets that pairs of digits stand for, in either case; `nil` for anything else.
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

    /// Decodes octets as the URL Standard's percent-decode does: a `%` without two hexadecimal digits stands for itself.
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

    /// Decodes octets in which each `%` has two hexadecimal digits behind it; `nil` for others.
    package static func decodeStrictly(_ bytes: Span<UInt8>) -> [UInt8]? {
        var position = 0
        while let percent = bytes.firstIndex(of: ASCII.percent, from: position) {
            guard percent + 2 < bytes.count, ASCII.hexadecimalValue(bytes[percent + 1]) != nil,
                ASCII.hexadecimalValue(bytes[percent + 2]) != nil
            else { return nil }
            position = percent + 3
        }
        return decode(bytes)
    }
}
