/// Bytes as hexadecimal digits, two for each.
package enum Hexadecimal {
    /// The digits, in lower case.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in byte < 16 ? "0\(String(byte, radix: 16))" : String(byte, radix: 16) }.joined()
    }

    /// The bytes; `nil` where the text is not made of such digits.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}
