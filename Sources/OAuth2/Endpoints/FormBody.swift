internal import WebPrimitives

/// A form-encoded request body while it is put together.
struct FormBody {
    private var bytes: [UInt8] = []

    /// An empty body.
    init() {}

    /// Creates the body of a request about a token, with the token's kind (RFC 7009, RFC 7662, section 2.1 of both).
    init(about token: Secret, _ kind: TokenKind) {
        append("token", token)
        append("token_type_hint", kind.rawValue)
    }

    mutating func append(_ name: String, _ value: String) {
        append(name, encoded: FormEncoding.encode(value))
    }

    mutating func append(_ name: String, _ value: Secret) {
        append(name, encoded: FormEncoding.encode(value))
    }

    /// Appends the scopes, if there are any.
    mutating func append(_ scopes: Scopes?) {
        if let scopes, !scopes.isEmpty { append("scope", scopes.description) }
    }

    /// The resources that the token is for (RFC 8707, section 2).
    mutating func append(resources: [String]) {
        for resource in resources { append("resource", resource) }
    }

    /// The body, which holds secrets and therefore is one.
    var secret: Secret { Secret(bytes) }

    /// The parameters as a URL's query.
    var query: String { String(decoding: bytes, as: UTF8.self) }

    private mutating func append(_ name: String, encoded value: [UInt8]) {
        if !bytes.isEmpty { bytes.append(0x26) }
        bytes += FormEncoding.encode(name)
        bytes.append(0x3D)
        bytes += value
    }
}

/// `application/x-www-form-urlencoded`, as RFC 6749, appendix B uses it: UTF-8, space as `+`, the rest as `%HH`.
///
/// In a Basic credential a space is `%20`: servers that decode percent-encoding only take that as well.
enum FormEncoding {
    static let mediaType = "application/x-www-form-urlencoded"

    static func encode(_ text: String, space: [UInt8] = [0x2B]) -> [UInt8] {
        encode(text.utf8, space: space)
    }

    static func encode(_ secret: Secret, space: [UInt8] = [0x2B]) -> [UInt8] {
        secret.withExposed { span in
            span.withUnsafeBufferPointer { encode($0, space: space) }
        }
    }

    private static func encode(_ bytes: some Collection<UInt8>, space: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        for byte in bytes {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2A, 0x2D, 0x2E, 0x5F:
                output.append(byte)
            case 0x20:
                output += space
            default:
                PercentEncoding.append(byte, to: &output)
            }
        }
        return output
    }

    /// Returns the parameters of an encoded text, in order. Octets that are not UTF-8 become U+FFFD.
    static func decode(_ text: some StringProtocol) -> [(name: String, value: String)] {
        text.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (decodedPart(parts[0]), parts.count > 1 ? decodedPart(parts[1]) : "")
        }
    }

    private static func decodedPart(_ part: some Collection<UInt8>) -> String {
        String(decoding: PercentEncoding.decode(Array(part).span, plusIsSpace: true), as: UTF8.self)
    }
}
