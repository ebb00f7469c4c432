/// Base64 with padding (RFC 4648, section 4).
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding: UInt8 = 0x3D

    /// The text of `octets`.
    static func encode(_ octets: some Collection<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((octets.count + 2) / 3 * 4)
        var rest = Array(octets)[...]
        while !rest.isEmpty {
            let group = rest.prefix(3)
            rest = rest.dropFirst(3)
            var bits: UInt32 = 0
            for index in 0..<3 {
                let byte = index < group.count ? group[group.startIndex + index] : 0
                bits = bits << 8 | UInt32(byte)
            }
            for index in 0..<4 {
                let digit = Int(bits >> UInt32(18 - 6 * index) & 0x3F)
                text.append(index <= group.count ? alphabet[digit] : padding)
            }
        }
        return text
    }

    /// The octets that `text` stands for; `nil` where it is not what ``encode(_:)`` writes.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let digits = text.prefix { $0 != padding }
        let paddingCount = text.count - digits.count
        guard text.count.isMultiple(of: 4), paddingCount <= 2,
            text.dropFirst(digits.count).allSatisfy({ $0 == padding })
        else { return nil }
        var octets: [UInt8] = []
        octets.reserveCapacity(text.count / 4 * 3)
        var bits: UInt32 = 0
        var bitCount = 0
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            bits = bits << 6 | value
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            octets.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            bits &= 1 << UInt32(bitCount) - 1
        }
        return bits == 0 ? octets : nil
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case 0x41...0x5A: UInt32(digit - 0x41)
        case 0x61...0x7A: UInt32(digit - 0x61 + 26)
        case 0x30...0x39: UInt32(digit - 0x30 + 52)
        case 0x2B: 62
        case 0x2F: 63
        default: nil
        }
    }
}
