/// Base64 (RFC 4648).
///
/// Decoding is exact: one text for each run of octets. Bits that stand for nothing must be zero (section 3.5), and
/// padding, if there is any, must be complete (section 3.2).
package enum Base64 {
    /// The text of `octets`, with padding (section 4).
    package static func encode(_ octets: some Collection<UInt8>) -> [UInt8] {
        encode(octets, alphabet: alphabet, isPadded: true)
    }

    /// The text of `octets` for URLs, without padding (section 5).
    package static func encodeForURL(_ octets: some Collection<UInt8>) -> [UInt8] {
        encode(octets, alphabet: urlAlphabet, isPadded: false)
    }

    /// The octets of a text with or without padding (section 4); `nil` if it is none.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let padding = text.suffix(2).reduce(0) { $1 == ASCII.equals ? $0 + 1 : $0 }
        guard padding == 0 || text.count % 4 == 0 else { return nil }
        return decode(text.dropLast(padding), ASCII.plus, ASCII.slash)
    }

    /// The octets of a text for URLs, which has no padding (section 5); `nil` if it is none.
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
