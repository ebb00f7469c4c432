import CookieModel

/// The text of a net-log's string: Chromium writes one that is not ASCII with a mark before it and percent signs within.
struct NetLogText {
    /// The mark ends in U+200B and a space.
    private static let mark = Array("%ESCAPED:\u{200B} ".utf8)

    /// The octets that the string stands for.
    let octets: Octets

    init(_ written: Octets) {
        let bytes = written.bytes
        guard bytes.starts(with: NetLogText.mark) else {
            octets = written
            return
        }
        octets = Octets(PercentEncoding.decode(bytes.span.extracting(NetLogText.mark.count..<bytes.count)))
    }
}
