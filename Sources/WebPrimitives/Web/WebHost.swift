/// A host in the one canonical form that rules compare: a domain in lower-case A-labels, or an IP address as the URL
/// Standard serializes it (rfc6265bis, section 5.1.2).
///
/// Equal hosts have equal octets. A trailing dot is part of the host, as in browsers: `example.com.` is another host
/// than `example.com`.
public struct WebHost: Hashable, Sendable {
    /// The kind of host. Only a domain has parent domains.
    @usableFromInline
    package enum Kind: UInt8, Sendable {
        /// A name of one or more labels.
        case domain
        /// Four decimal numbers: `127.0.0.1`.
        case ipv4
        /// Eight pieces in brackets: `[::1]`.
        case ipv6
    }

    /// The canonical form, ASCII only.
    public let octets: Octets
    /// The kind of host.
    @usableFromInline package let kind: Kind

    /// Creates a host from octets that the caller guarantees to be canonical.
    @inlinable @inline(__always)
    package init(canonical octets: Octets, kind: Kind) {
        self.octets = octets
        self.kind = kind
    }

    /// Takes back a canonical host that was stored; the caller vouches that it came from ``octets``.
    package init(stored octets: Octets) {
        self.octets = octets
        kind = octets.withSpan(WebHost.kind(ofCanonical:))
    }

    /// The kind of a canonical host.
    package static func kind(ofCanonical bytes: Span<UInt8>) -> Kind {
        if !bytes.isEmpty, bytes[0] == ASCII.leftBracket { return .ipv6 }
        return endsInNumber(bytes) ? .ipv4 : .domain
    }

    /// Whether the host is an IP address.
    @inlinable public var isIPAddress: Bool { kind != .domain }

    /// The host as text, as resolvers take it: an IPv6 address without its brackets.
    package var unbracketed: String {
        String(decoding: octets.filter { $0 != ASCII.leftBracket && $0 != ASCII.rightBracket }, as: UTF8.self)
    }

    /// Whether the host is this machine by definition: `localhost` and the names below it (RFC 6761, section 6.3),
    /// `127.0.0.0/8`, `[::1]`.
    package var isLoopback: Bool {
        octets.withSpan { bytes in
            switch kind {
            case .ipv4: bytes.hasPrefixIgnoringCase("127.")
            case .ipv6: bytes.equalsIgnoringCase("[::1]")
            case .domain: WebHost.isLocalhost(bytes)
            }
        }
    }

    private static func isLocalhost(_ bytes: Span<UInt8>) -> Bool {
        var end = bytes.count
        if end > 0, bytes[end - 1] == ASCII.dot { end -= 1 }
        guard end >= 9, bytes.extracting((end - 9)..<end).equalsIgnoringCase("localhost") else { return false }
        return end == 9 || bytes[end - 10] == ASCII.dot
    }
}

extension WebHost: CustomStringConvertible {
    /// The canonical form as text.
    public var description: String {
        String(decoding: octets, as: UTF8.self)
    }
}

extension WebHost {
    /// The version of Unicode that names with characters outside ASCII follow: `17.0.0`.
    package static var unicodeVersion: String { BundledUnicodeTable.version }

    /// Canonicalizes a host as the URL Standard's host parser does for http and https; `nil` if it fails.
    ///
    /// Departures from rfc6265bis, section 5.1.2, all as browsers behave: an underscore and an empty label are let
    /// through, an IP address is canonicalized in every spelling that a URL may have, and so is a name that IDNA 2008
    /// has not but UTS 46 has. A domain of ASCII alone may have labels that only look like A-labels. Percent signs are
    /// decoded first.
    public init?(_ text: String) {
        self.init(Octets(text))
    }

    /// Canonicalizes the octets of a host; see ``init(_:)-(String)``.
    public init?(_ octets: Octets) {
        guard let host = octets.withSpan({ WebHost.parse($0) }) else { return nil }
        self.init(canonical: host.rewritten ?? octets, kind: host.kind)
    }

    /// Canonicalizes `bytes`; `rewritten` is `nil` if they are canonical already.
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
                guard let ascii = domainToASCII(PercentEncoding.decode(bytes)), !ascii.isEmpty else { return nil }
                return ascii.contains(where: isForbiddenInDomain) ? nil : finishDomain(ascii)
            }
            // A combining character after it may turn it into an allowed one: `<` and U+0338 are `≮`.
            if isForbiddenInDomain(byte) { isForbidden = true }
        }
        return isForbidden ? nil : finishDomain(bytes.array(0..<bytes.count).map(ASCII.lowercased))
    }

    /// The URL Standard's domain parser: ASCII is lower-cased and else left alone, whatever its labels claim to be.
    private static func domainToASCII(_ bytes: [UInt8]) -> [UInt8]? {
        // Step 3 of section 5.1.2: Convert each U-label to an A-label. A name of ASCII alone has none.
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

    /// Lower-case ASCII in, a domain or an IPv4 address out; `nil` if the last label is a number but the whole is
    /// no address.
    private static func finishDomain(_ ascii: [UInt8]) -> WebHost? {
        guard endsInNumber(ascii.span) else { return WebHost(canonical: Octets(ascii), kind: .domain) }
        return parseIPv4(ascii.span).map { address in
            WebHost(canonical: serializeIPv4(address), kind: .ipv4)
        }
    }
}
