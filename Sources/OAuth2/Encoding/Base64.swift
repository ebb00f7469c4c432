/// The base64 encodings of RFC 4648.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Section 4, with padding.
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            bits <<= UInt32(8 * (3 - group.count))
            for position in 0..<4 {
                let index = Int(bits >> UInt32(18 - 6 * position)) & 0x3F
                output.append(position <= group.count ? alphabet[index] : 0x3D)
            }
        }
        return output
    }

    /// Section 5, for URLs, without padding.
    static func encodeForURL(_ bytes: [UInt8]) -> [UInt8] {
        encode(bytes).compactMap { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
    }

    /// The bytes of a text for URLs, without padding; `nil` where it is none.
    static func decodeForURL(_ text: some Collection<UInt8>) -> [UInt8]? {
        var output: [UInt8] = []
        output.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var count = 0
        for byte in text {
            let value: UInt8
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0") + 52
            case UInt8(ascii: "-"): value = 62
            case UInt8(ascii: "_"): value = 63
            default: return nil
            }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                output.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        // Six bits left over are a character too many, and bits that are set in the rest stand for nothing.
        return count < 6 && bits & (1 << UInt32(count) - 1) == 0 ? output : nil
    }

    /// So many random bytes, as text for URLs.
    package static func randomForURL(byteCount: Int, using generator: inout some RandomNumberGenerator) -> [UInt8] {
        encodeForURL((0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
