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

    /// Whether the host is a public suffix by `list`, as `com`, `co.uk` and every unlisted single label are.
    public func isPublicSuffix(_ list: PublicSuffixList) -> Bool {
        kind == .domain && site(list).publicSuffixLength >= octets.count
    }

    /// The registrable domain by `list`; the whole host where it has none: an IP address, a public suffix.
    ///
    /// Cookies are kept and limited by this: two hosts can share a cookie only if it is the same for both.
    public func registrableDomain(_ list: PublicSuffixList) -> Octets {
        site(list).registrableDomain
    }

    /// What the public suffix list says of a host.
    package struct Site {
        /// The registrable domain, or the host where there is none.
        package let registrableDomain: Octets
        /// How many of the host's last octets are the public suffix: all of them where it is one itself, 0 for an IP
        /// address.
        let publicSuffixLength: Int
    }

    /// Looks the host up in `list`.
    package func site(_ list: PublicSuffixList) -> Site {
        guard kind == .domain else { return Site(registrableDomain: octets, publicSuffixLength: 0) }
        let (start, suffix) = octets.withSpan { bytes in
            let length = bytes.count
            let trailingDot = length > 0 && bytes[length - 1] == ASCII.dot ? 1 : 0
            let suffix = list.publicSuffixLength(of: bytes.extracting(0..<(length - trailingDot))) + trailingDot
            // One label more than the suffix.
            var start = max(length - suffix - 1, 0)
            while start > 0, bytes[start - 1] != ASCII.dot { start -= 1 }
            return (suffix >= length ? 0 : start, suffix)
        }
        return Site(registrableDomain: octets[start..<octets.count], publicSuffixLength: suffix)
    }
}

extension WebHost: CustomStringConvertible {
    /// The canonical form as text.
    public var description: String {
        String(decoding: octets, as: UTF8.self)
    }
}
