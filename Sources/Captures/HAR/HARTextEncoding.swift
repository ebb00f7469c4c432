/// How a HAR's writer made text of the octets of a header field.
enum HARTextEncoding {
    /// As UTF-8, as far as it is known.
    case utf8
    /// As windows-1252, which gives each octet one character: Chromium's developer tools, and all that ask them.
    case windows1252

    /// The characters of windows-1252 from 0x80 to 0x9F; all others have the number of their octet.
    private static let upperControls: [UInt32] = [
        0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D,
        0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x009D, 0x017E, 0x0178,
    ]

    /// The octets that became `text`, which is UTF-8; `nil` where it has a character that no octet becomes.
    func octets(of text: [UInt8]) -> [UInt8]? {
        guard self == .windows1252, text.contains(where: { $0 >= 0x80 }) else { return text }
        var octets: [UInt8] = []
        octets.reserveCapacity(text.count)
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            if scalar.value < 0x80 || 0xA0...0xFF ~= scalar.value {
                octets.append(UInt8(scalar.value))
            } else if let place = HARTextEncoding.upperControls.firstIndex(of: scalar.value) {
                octets.append(UInt8(0x80 + place))
            } else {
                return nil
            }
        }
        return octets
    }
}
