import CookieModel

/// The text of a net-log's string: Chromium writes one that is not ASCII with a mark before it and percent signs within.
struct NetLogText {
    /// The mark ends in U+200B and a space.
    private static let mark = Array("%ESCAPED:\u{200B} ".utf8)

    /// The octets that the string stands for.
    let octets: Octets

    init(_ written: Octets) {
        let bytes = Array(written)
        guard bytes.starts(with: NetLogText.mark) else {
            octets = written
            return
        }
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var position = NetLogText.mark.count
        while position < bytes.count {
            if bytes[position] == ASCII.percent, position + 2 < bytes.count,
                let high = ASCII.hexadecimalValue(bytes[position + 1]),
                let low = ASCII.hexadecimalValue(bytes[position + 2])
            {
                plain.append(UInt8(high << 4 | low))
                position += 3
            } else {
                plain.append(bytes[position])
                position += 1
            }
        }
        octets = Octets(plain)
    }
}
