/// An `http`, `https`, `ws` or `wss` URL, parsed and serialized according to the URL Standard: the target of a request,
/// and the input of the cookie rules.
///
/// Credentials and the fragment are dropped, because no request carries them and no rule reads them.
public struct RequestURL: Sendable {
    /// The schemes that carry cookies.
    public enum Scheme: UInt8, Sendable {
        /// `http`, default port 80.
        case http
        /// `https`, default port 443.
        case https
        /// `ws`, default port 80.
        case ws
        /// `wss`, default port 443.
        case wss

        /// Whether the scheme means transport-layer security.
        @inlinable package var isCryptographic: Bool {
            switch self {
            case .https, .wss: true
            case .http, .ws: false
            }
        }

        /// The port if the URL names none.
        package var defaultPort: UInt16 { isCryptographic ? 443 : 80 }

        /// The scheme as it appears in a URL.
        package var name: String {
            switch self {
            case .http: "http"
            case .https: "https"
            case .ws: "ws"
            case .wss: "wss"
            }
        }
    }

    /// The scheme.
    public let scheme: Scheme
    @usableFromInline let hostKind: WebHost.Kind
    /// The port, the scheme's default if the URL names none.
    public let port: UInt16
    @usableFromInline let hostPlace: OctetRange
    @usableFromInline let pathPlace: OctetRange
    @usableFromInline let queryPlace: OctetRange
    /// Host, path and query: the URL as it was written, unless it needs rewriting. One reference for all three.
    @usableFromInline let octets: Octets

    /// Creates a URL whose parts are in `octets` in their final form.
    init(
        scheme: Scheme, port: UInt16, hostKind: WebHost.Kind, host: Range<Int>, path: Range<Int>, query: Range<Int>,
        in octets: Octets
    ) {
        self.scheme = scheme
        self.hostKind = hostKind
        self.port = port
        hostPlace = OctetRange(host)
        pathPlace = OctetRange(path)
        queryPlace = OctetRange(query)
        self.octets = octets
    }

    /// The host, canonical.
    @inlinable public var host: WebHost { WebHost(canonical: octets[hostPlace], kind: hostKind) }
    /// The path: at least `/`, dot segments resolved, percent-encoded as a browser sends it.
    @inlinable public var path: Octets { octets[pathPlace] }
    /// The query with its question mark; empty if there is none.
    @inlinable public var query: Octets { octets[queryPlace] }

    /// Scheme, host and port: `https://example.com:8443`.
    public var origin: String {
        port == scheme.defaultPort ? "\(scheme.name)://\(host)" : "\(scheme.name)://\(host):\(port)"
    }

    /// The URL without its query, serialized.
    package var withoutQuery: Octets {
        var octets: [UInt8] = []
        octets.reserveCapacity(host.octets.count + path.count + 16)
        octets += scheme.name.utf8
        octets += "://".utf8
        octets += host.octets
        if port != scheme.defaultPort { octets += ":\(port)".utf8 }
        octets += path
        return Octets(octets)
    }

    /// Whether both have the same scheme, host and port.
    package func isSameOrigin(as other: RequestURL) -> Bool {
        scheme == other.scheme && port == other.port && host == other.host
    }
}

extension RequestURL: Hashable {
    /// Whether both serialize to the same URL.
    public static func == (left: RequestURL, right: RequestURL) -> Bool {
        left.isSameOrigin(as: right) && left.path == right.path && left.query == right.query
    }

    /// Feeds every part to `hasher`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(scheme)
        hasher.combine(port)
        hasher.combine(host)
        hasher.combine(path)
        hasher.combine(query)
    }
}

extension RequestURL: CustomStringConvertible {
    /// The URL, serialized.
    public var description: String {
        origin + String(decoding: path, as: UTF8.self) + String(decoding: query, as: UTF8.self)
    }
}

/// Why a text is no URL that a request could go to.
public struct RequestURLError: DescribedError, Hashable, Sendable {
    /// The kind of failure.
    public enum Code: String, Sendable {
        /// There is no `scheme:` in front.
        case schemeMissing = "url-scheme-missing"
        /// A scheme that carries no cookies.
        case schemeUnsupported = "url-scheme-unsupported"
        /// The host is missing or invalid.
        case hostInvalid = "url-host-invalid"
        /// The port is not a number up to 65535.
        case portInvalid = "url-port-invalid"
    }

    /// The kind of failure, as a stable identifier.
    public let code: Code

    /// An error of that kind.
    package init(code: Code) {
        self.code = code
    }

    /// One sentence that names the remedy.
    public var description: String {
        switch code {
        case .schemeMissing: "the URL has no scheme: write it in full, as in https://example.com/"
        case .schemeUnsupported: "only http, https, ws and wss URLs carry cookies"
        case .hostInvalid: "the URL's host is missing or not a valid host name or IP address"
        case .portInvalid: "the URL's port is not a number from 0 to 65535"
        }
    }
}

extension RequestURL {
    /// Reads a URL that paths are appended to, such as `https://example.com/crumb`.
    ///
    /// Returns `nil` if the text has a part that parsing would lose or that prevents appending a path: user
    /// information, a query, a fragment, a backslash, dot segments or percent-encoding; or if the path has empty
    /// segments, more than 200 octets, or characters other than letters, digits, `-`, `.`, `_` and `~`.
    package static func base(_ text: String) -> (url: RequestURL, prefix: String)? {
        guard let url = try? RequestURL(text), let prefix = url.pathPrefix,
            text.unicodeScalars.allSatisfy({
                $0.value > 0x20 && $0.value != 0x7F && !"@?#\\%".unicodeScalars.contains($0)
            }),
            // The URL's parser has resolved the dot segments, so the caller's intention is lost.
            text.split(separator: "/").allSatisfy({ $0 != "." && $0 != ".." })
        else { return nil }
        return (url, prefix)
    }

    /// The most octets of a ``pathPrefix``.
    private static let prefixLimit = 200

    /// The path as a prefix of other paths: empty for `/`, else as in `/crumb`, without a slash at the end.
    ///
    /// `nil` if the path has empty segments, dot segments, more than 200 octets, or characters other than letters, digits,
    /// `-`, `.`, `_` and `~` (RFC 3986, section 2.3), so that everyone compares it in the same way.
    private var pathPrefix: String? {
        let path = path.description
        let prefix = path.hasSuffix("/") ? path.dropLast() : path[...]
        guard !prefix.isEmpty else { return "" }
        let areUsable = prefix.dropFirst().split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
            segment in
            !segment.isEmpty && segment != "." && segment != ".."
                && segment.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || "-._~".contains($0) }
        }
        return areUsable && prefix.utf8.count <= RequestURL.prefixLimit ? String(prefix) : nil
    }
}
