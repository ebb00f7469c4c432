public import PublicSuffix

/// A host in the one canonical form that rules compare: a domain in lower-case A-labels, or an IP address as the URL
/// Standard serializes it (section 5.1.2 of the draft).
///
/// Equal hosts have equal octets. A trailing dot is part of the host, as in browsers: `example.com.` is another host
/// than `example.com`.
public struct WebHost: Hashable, Sendable {
    /// What kind of host it is; only a domain has parent domains.
    public enum Kind: UInt8, Sendable {
        /// A name of one or more labels.
        case domain
        /// Four decimal numbers: `127.0.0.1`.
        case ipv4
        /// Eight pieces in brackets: `[::1]`.
        case ipv6
    }

    /// The canonical form, ASCII only.
    public let octets: Octets
    /// What kind of host it is.
    public let kind: Kind

    /// Takes what is canonical already; the caller vouches for it.
    @inline(__always)
    init(canonical octets: Octets, kind: Kind) {
        self.octets = octets
        self.kind = kind
    }

    /// Takes back a canonical host that was stored; the caller vouches that it came from ``octets``.
    public init(stored octets: Octets) {
        self.octets = octets
        kind =
            octets.first == ASCII.leftBracket ? .ipv6 : octets.withSpan(WebHost.endsInNumber) ? .ipv4 : .domain
    }

    /// Whether the host is an IP address.
    public var isIPAddress: Bool { kind != .domain }

    /// Whether the host is this machine by definition: `localhost` and the names below it (RFC 6761, section 6.3),
    /// `127.0.0.0/8`, `[::1]`.
    public var isLoopback: Bool {
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

    /// How many of the last octets are the public suffix: all of them where the host is one itself, 0 for an IP
    /// address.
    func publicSuffixLength(_ list: PublicSuffixList) -> Int {
        guard kind == .domain else { return 0 }
        return octets.withSpan { bytes in
            let length = bytes.count
            guard length > 0, bytes[length - 1] == ASCII.dot else { return list.publicSuffixLength(of: bytes) }
            let suffix = list.publicSuffixLength(of: bytes.extracting(0..<(length - 1)))
            return suffix == 0 ? 0 : suffix + 1
        }
    }

    /// Whether the host is a public suffix by `list`, as `com`, `co.uk` and every unlisted single label are.
    public func isPublicSuffix(_ list: PublicSuffixList) -> Bool {
        kind == .domain && publicSuffixLength(list) >= octets.count
    }

    /// The registrable domain by `list`; the whole host where it has none: an IP address, a public suffix.
    ///
    /// Cookies are kept and limited by this: two hosts can share a cookie only if it is the same for both.
    public func registrableDomain(_ list: PublicSuffixList) -> Octets {
        guard kind == .domain else { return octets }
        let length = octets.withSpan { bytes in
            let end = bytes.count
            guard end > 0, bytes[end - 1] == ASCII.dot else { return list.registrableDomainLength(of: bytes) }
            return list.registrableDomainLength(of: bytes.extracting(0..<(end - 1))).map { $0 + 1 }
        }
        guard let length, length < octets.count else { return octets }
        return octets[(octets.count - length)..<octets.count]
    }
}

extension WebHost: CustomStringConvertible {
    /// The canonical form as text.
    public var description: String {
        String(decoding: octets, as: UTF8.self)
    }
}
