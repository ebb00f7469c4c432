import WebPrimitives

/// One challenge of a WWW-Authenticate field (RFC 9110, section 11.6.1).
package struct AuthenticationChallenge: Equatable {
    /// The scheme, in lower case.
    package let scheme: String
    /// The parameters, names in lower case.
    package private(set) var parameters: [String: String]

    package init(scheme: String, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.parameters = parameters
    }

    /// Returns the challenges in a field's value. Text that is not a challenge is skipped, so this cannot fail.
    package static func challenges(in value: some Sequence<UInt8>) -> [AuthenticationChallenge] {
        var reader = Reader(rest: Array(value)[...])
        var challenges: [AuthenticationChallenge] = []
        while let word = reader.nextToken() {
            reader.skipBlanks()
            if reader.rest.first == UInt8(ascii: "="), !challenges.isEmpty, let parameter = reader.parameterValue() {
                challenges[challenges.count - 1].parameters[word.lowercased()] = parameter
            } else {
                challenges.append(AuthenticationChallenge(scheme: word.lowercased()))
            }
        }
        return challenges
    }

    /// Whether it asks for a proof with a nonce of the server's (RFC 9449, section 9).
    package var wantsNonce: Bool { scheme == "dpop" && parameters["error"] == "use_dpop_nonce" }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        /// Returns the next token, skipping the text before it.
        mutating func nextToken() -> String? {
            rest = rest.drop { !Reader.isTokenCharacter($0) }
            let token = rest.prefix(while: Reader.isTokenCharacter)
            rest = rest[token.endIndex...]
            return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
        }

        mutating func skipBlanks() {
            rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        }

        /// The token or quoted string after an equals sign.
        mutating func parameterValue() -> String? {
            rest = rest.dropFirst()
            skipBlanks()
            guard rest.first == UInt8(ascii: "\"") else {
                let token = rest.prefix { Reader.isTokenCharacter($0) || $0 == UInt8(ascii: "=") }
                rest = rest[token.endIndex...]
                return String(decoding: token, as: UTF8.self)
            }
            rest = rest.dropFirst()
            var value: [UInt8] = []
            while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
                if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
                    value.append(escaped)
                } else {
                    value.append(byte)
                }
            }
            return String(decoding: value, as: UTF8.self)
        }

        /// `token68` has more characters than a token; taken for one word, it is a parameter of nothing.
        private static func isTokenCharacter(_ byte: UInt8) -> Bool {
            ASCII.isTokenCharacter(byte) || byte == ASCII.slash
        }
    }
}
