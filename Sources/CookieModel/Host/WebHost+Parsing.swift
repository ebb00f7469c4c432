extension WebHost {
    /// Canonicalizes a host as the URL Standard's host parser does for http and https; `nil` where it fails.
    ///
    /// Departures from section 5.1.2, all as browsers behave: an underscore and an empty label are let through, an IP
    /// address is canonicalized in every spelling that a URL may have, and so is a name that IDNA 2008 has not but UTS 46
    /// has. A domain of ASCII alone may have labels that only look like A-labels. Percent signs are decoded first.
    public init?(_ text: String) {
        self.init(Octets(text))
    }

    /// Canonicalizes the octets of a host; see ``init(_:)-(String)``.
    public init?(_ octets: Octets) {
        guard let host = octets.withSpan({ WebHost.parse($0) }) else { return nil }
        self.init(canonical: host.rewritten ?? octets, kind: host.kind)
    }

    /// Canonicalizes `bytes`; `rewritten` is `nil` where they are canonical already.
    @inline(__always)
    static func parse(_ bytes: Span<UInt8>) -> (kind: Kind, rewritten: Octets?)? {
        // Most hosts are lower-case ASCII and need nothing else.
        if !bytes.isEmpty, isPlain(bytes), !endsInNumber(bytes) { return (.domain, nil) }
        return canonicalized(bytes).map { ($0.kind, $0.octets) }
    }

    /// Whether every byte is a lower-case letter, a digit, a dot, a hyphen or an underscore.
    @inline(__always)
    private static func isPlain(_ bytes: Span<UInt8>) -> Bool {
        !bytes.contains(
            where: { byte in
                switch byte {
                case 0x61...0x7A, ASCII.zero...0x39, ASCII.dot, ASCII.hyphen, 0x5F: false
                default: true
                }
            },
            markedBy: { word in
                word.bytes(below: ASCII.hyphen) | word.bytes(equalTo: ASCII.slash) | word.bytes(in: 0x3A...0x5E)
                    | word.bytes(equalTo: 0x60) | word.bytes(atLeast: 0x7B)
            })
    }

    private static func canonicalized(_ bytes: Span<UInt8>) -> WebHost? {
        guard !bytes.isEmpty else { return nil }
        if bytes[0] == ASCII.leftBracket {
            return parseIPv6Literal(bytes)
        }
        var isForbidden = false
        for index in bytes.indices {
            let byte = bytes[index]
            if byte == ASCII.percent || byte >= 0x80 {
                guard let ascii = domainToASCII(percentDecoded(bytes)), !ascii.isEmpty else { return nil }
                return ascii.contains(where: isForbiddenInDomain) ? nil : finishDomain(ascii)
            }
            // A combining character behind it may still make an allowed one of it: `<` and U+0338 are `≮`.
            if isForbiddenInDomain(byte) { isForbidden = true }
        }
        return isForbidden ? nil : finishDomain(bytes.array(0..<bytes.count).map(ASCII.lowercased))
    }

    /// The URL Standard's domain parser: ASCII is lower-cased and else left alone, whatever its labels claim to be.
    private static func domainToASCII(_ bytes: [UInt8]) -> [UInt8]? {
        if bytes.allSatisfy({ $0 < 0x80 }) { return bytes.map(ASCII.lowercased) }
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        return InternationalDomain.toASCII(text)
    }

    /// A forbidden domain code point of the URL Standard.
    @inline(__always)
    private static func isForbiddenInDomain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x00...0x20, ASCII.numberSign, ASCII.percent, ASCII.slash, ASCII.colon, 0x3C, 0x3E,
            ASCII.questionMark, ASCII.at, ASCII.leftBracket, ASCII.backslash, ASCII.rightBracket, 0x5E, 0x7C, 0x7F:
            true
        default:
            false
        }
    }

    /// Lower-case ASCII in, a domain or an IPv4 address out; `nil` where the last label is a number but the whole is
    /// no address.
    private static func finishDomain(_ ascii: [UInt8]) -> WebHost? {
        guard endsInNumber(ascii.span) else { return WebHost(canonical: Octets(ascii), kind: .domain) }
        return parseIPv4(ascii.span).map { address in
            WebHost(canonical: serializeIPv4(address), kind: .ipv4)
        }
    }

    private static func percentDecoded(_ bytes: Span<UInt8>) -> [UInt8] {
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
                decoded.append(bytes[index])
                index += 1
            }
        }
        return decoded
    }
}
