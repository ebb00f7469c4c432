extension Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The text of `octets`, with padding.
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
                text.append(index <= group.count ? alphabet[digit] : UInt8(ascii: "="))
            }
        }
        return text
    }
}
