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
        guard let host = octets.withSpan({ WebHost.parse($0, octets) }) else { return nil }
        self = host
    }

    /// Parses `bytes`, which are those of `octets`: shared, not copied, where they are canonical already.
    static func parse(_ bytes: Span<UInt8>, _ octets: Octets) -> WebHost? {
        guard !bytes.isEmpty else { return nil }
        if bytes[0] == ASCII.leftBracket {
            return parseIPv6Literal(bytes)
        }
        switch scan(bytes) {
        case .canonical:
            return finishDomain(bytes, octets)
        case .needsLowercasing:
            let lowered = Octets(octets.map(ASCII.lowercased))
            return lowered.withSpan { finishDomain($0, lowered) }
        case .needsMapping:
            guard let ascii = domainToASCII(percentDecoded(bytes)), !ascii.isEmpty else { return nil }
            let mapped = Octets(ascii)
            return mapped.withSpan { mappedBytes in
                for index in mappedBytes.indices where isForbiddenInDomain(mappedBytes[index]) { return nil }
                return finishDomain(mappedBytes, mapped)
            }
        case .forbidden:
            return nil
        }
    }

    private enum ScanResult {
        case canonical, needsLowercasing, needsMapping, forbidden
    }

    /// One look at every byte: most hosts are lower-case ASCII and need nothing else.
    @inline(__always)
    private static func scan(_ bytes: Span<UInt8>) -> ScanResult {
        var result = ScanResult.canonical
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case 0x61...0x7A, ASCII.zero...0x39, ASCII.dot, ASCII.hyphen, 0x5F:
                break
            case 0x41...0x5A:
                if result == .canonical { result = .needsLowercasing }
            case ASCII.percent, 0x80...:
                return .needsMapping
            default:
                // A combining character behind it may still make an allowed one of it: `<` and U+0338 are `≮`.
                if isForbiddenInDomain(byte) { result = .forbidden }
            }
            index += 1
        }
        return result
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
    @inline(__always)
    private static func finishDomain(_ bytes: Span<UInt8>, _ octets: Octets) -> WebHost? {
        guard endsInNumber(bytes) else { return WebHost(canonical: octets, kind: .domain) }
        return parseIPv4(bytes).map { address in
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
