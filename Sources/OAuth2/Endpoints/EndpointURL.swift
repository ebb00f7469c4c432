/// The URL of an authorization server's endpoint, such as the token endpoint (RFC 6749, section 3.2).
///
/// It is `https`, or `http` to this machine, because requests to it contain secrets. It has no user information and no
/// fragment (section 3.2 forbids one), and its host is ASCII.
public struct EndpointURL: Sendable, Hashable, CustomStringConvertible {
    /// `https` or `http`.
    package let scheme: String
    /// Host and port, as in the URL.
    package let authority: String
    /// Path and query, beginning with `/`.
    public let path: String

    /// Creates a URL from text, after validation.
    ///
    /// - Parameters:
    ///   - text: An absolute URL.
    ///   - dangerouslyAllowingPlainHTTP: Whether secrets may go unencrypted to other machines. For tests in closed
    ///     networks only: everyone on the way can read and use the tokens.
    /// - Throws: ``OAuth2Error/Code/invalidEndpoint`` or ``OAuth2Error/Code/insecureEndpoint``.
    public init(_ text: String, dangerouslyAllowingPlainHTTP: Bool = false) throws(OAuth2Error) {
        guard let parts = EndpointURL.parts(of: text) else {
            throw OAuth2Error(
                .invalidEndpoint,
                "The endpoint\(EndpointURL.quoted(text)) is not an absolute https URL of ASCII characters without user "
                    + "information and fragment.")
        }
        guard parts.scheme == "https" || dangerouslyAllowingPlainHTTP || EndpointURL.isLoopback(parts.host) else {
            throw OAuth2Error(
                .insecureEndpoint,
                "The endpoint\(EndpointURL.quoted(text)) is not https, so secrets would go there unencrypted.")
        }
        scheme = parts.scheme
        authority = parts.authority
        path = parts.path
    }

    /// The URL as text.
    public var description: String { "\(scheme)://\(authority)\(path)" }

    /// The URL without its query, which a server's operator may consider secret.
    var withoutQuery: String {
        "\(scheme)://\(authority)\(path.prefix { $0 != "?" })"
    }

    /// A URL for the middle of a sentence, without its query; nothing for one that may hold a password, or more than a URL.
    private static func quoted(_ text: String) -> String {
        let shown = text.prefix { $0 != "?" && $0 != "#" }
        guard (1...200).contains(shown.utf8.count), !shown.contains("@"), shown.utf8.allSatisfy(isURLCharacter) else {
            return ""
        }
        return " '\(shown)'"
    }

    private static func parts(of text: String) -> (scheme: String, authority: String, host: String, path: String)? {
        guard text.utf8.allSatisfy(isURLCharacter), let colon = text.firstIndex(of: ":") else { return nil }
        let scheme = text[..<colon].lowercased()
        let afterScheme = text[colon...].dropFirst()
        guard scheme == "https" || scheme == "http", afterScheme.hasPrefix("//") else { return nil }
        let rest = afterScheme.dropFirst(2)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard let host = host(of: authority) else { return nil }
        let target = rest[authority.endIndex...]
        let path = target.hasPrefix("/") ? String(target) : "/" + target
        return (scheme, authority.lowercased(), host.lowercased(), path)
    }

    /// The host of `host [ ":" port ]`; `nil` if it is anything else.
    private static func host(of authority: Substring) -> Substring? {
        let host: Substring
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[...end]
            let literal = host.dropFirst().dropLast()
            guard !literal.isEmpty, literal.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { return nil }
        } else {
            host = authority.prefix { $0 != ":" }
            let isName = host.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                default: false
                }
            }
            guard isName, !host.isEmpty else { return nil }
        }
        let port = authority[host.endIndex...]
        guard !port.isEmpty else { return host }
        guard port.first == ":", port.count > 1, port.dropFirst().allSatisfy(\.isNumber),
            UInt16(port.dropFirst()) != nil
        else { return nil }
        return host
    }

    /// Whether a host in lower case is this machine: the loopback addresses (RFC 8252, section 7.3), and the names that
    /// RFC 6761, section 6.3 reserves for them.
    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
    }

    /// The characters of RFC 3986, section 2, without `#`.
    private static func isURLCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~:/?[]@!$&'()*+,;=%".utf8.contains(byte)
        }
    }
}

/// The URL of a resource that a token is for (RFC 8707).
package enum ResourceIndicator {
    /// Makes sure that a resource is an absolute URI without a fragment (section 2).
    ///
    /// - Throws: ``OAuth2Error/Code/invalidEndpoint``.
    package static func check(_ resource: String) throws(OAuth2Error) {
        let scheme = resource.utf8.prefix { $0 != UInt8(ascii: ":") }
        let isSchemeValid = scheme.enumerated().allSatisfy { index, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                index > 0
            default: false
            }
        }
        guard !scheme.isEmpty, isSchemeValid, scheme.count < resource.utf8.count, resource.utf8.count <= 2048,
            resource.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") })
        else {
            throw OAuth2Error(
                .invalidEndpoint, "A resource is an absolute URL without a fragment, such as https://api.example/.")
        }
    }
}
