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
                output.append(0x25)
                output.append(hexDigit(byte >> 4))
                output.append(hexDigit(byte & 0x0F))
            }
        }
        return output
    }

    /// The parameters of an encoded text, in order. What is not UTF-8 becomes U+FFFD.
    static func decode(_ text: some StringProtocol) -> [(name: String, value: String)] {
        text.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (decodedPart(parts[0]), parts.count > 1 ? decodedPart(parts[1]) : "")
        }
    }

    private static func decodedPart(_ part: some Collection<UInt8>) -> String {
        var output: [UInt8] = []
        var rest = Array(part)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                output.append(0x20)
            } else if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                output.append(value)
                rest = rest.dropFirst(2)
            } else {
                output.append(byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x41 + value - 10
    }
}
