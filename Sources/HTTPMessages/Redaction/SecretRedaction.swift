package import WebPrimitives

/// The secrets that a recording leaves out by default: values of cookies, credentials and tokens.
///
/// Names stay. Values of fields and parameters become ``mark``. Set-Cookie fields are left out, because a reader would
/// use the mark as the value.
package struct SecretRedaction: Sendable {
    /// The text that replaces a value.
    package static let mark = "redacted"
    /// The maximum length of a request's body in which secrets are searched for, in octets. A longer body that may have
    /// secrets is not recorded.
    package static let bodyLimit = 1 << 20
    /// The same for responses, which are never compared during a replay.
    package static let responseLimit = 4 << 20

    /// The names of the jar's own fields, in lower case, for one request.
    package var jarFields: Set<String> = []

    package init() {}

    /// Whether the value of a field of that name, which is in lower case, is left out.
    package func isSecret(field name: String) -> Bool {
        jarFields.contains(name) || SecretNames.secrets.contains(field: name)
    }

    /// The value of a field as it is recorded.
    package func value(_ value: Octets, ofField name: String) -> Octets {
        if isSecret(field: name) { return Octets(SecretRedaction.mark) }
        if name == "sec-websocket-protocol" { return SecretRedaction.protocols(value) }
        let places = SecretRedaction.places(in: value, ofField: name)
        return places.isEmpty ? value : Octets(value.bytes.redacted(places))
    }

    /// The places of secrets in the value of a field that is not a secret as a whole: in JSON, or in URLs.
    package static func places(in value: Octets, ofField name: String) -> [SecretPlace] {
        let first = value.trimmingBlanks.first
        if first == ASCII.leftBrace || first == ASCII.leftBracket,
            let places = places(inJSON: value.bytes[...], .secrets)
        {
            return places
        }
        let places =
            SecretNames.isOneURL(field: name)
            ? places(inURL: value.bytes[...])
            : places(inText: value.bytes[...], isURL: SecretNames.isURL(field: name))
        return places.map { SecretPlace(range: $0) }
    }

    /// WebSocket protocols that are not secrets. Pages cannot set other fields, so some send tokens beside these.
    private static let protocols: Set<String> = [
        "actioncable-unsupported", "actioncable-v1-json", "base64", "bearer", "binary", "chat", "graphql-transport-ws",
        "graphql-ws", "json", "mqtt", "mqttv3.1", "ocpp1.6", "ocpp2.0", "ocpp2.0.1", "sip", "soap", "superchat",
        "v10.stomp", "v11.stomp", "v12.stomp", "vite-hmr", "wamp.2.json", "wamp.2.msgpack", "xmpp",
    ]

    /// A list of WebSocket protocols (RFC 6455, section 11.3.4) without unknown ones.
    private static func protocols(_ value: Octets) -> Octets {
        let members = value.split(separator: ASCII.comma).map { Octets(Array($0)).trimmingBlanks }
        let redacted = members.map { member in
            protocols.contains(String(decoding: member.lowercased, as: UTF8.self)) ? member : Octets(mark)
        }
        return redacted == members ? value : Octets(Array(redacted.map(\.bytes).joined(separator: Array(", ".utf8))))
    }

    /// Whether a request asks an endpoint of OAuth 2.0 for or about a token. Its response has tokens in its body.
    package static func isForTokens(_ body: [UInt8], _ kind: NamedBody) -> Bool {
        places(in: body, kind, .tokenRequests)?.isEmpty == false
    }

    /// Whether the query of a URL asks for a token.
    package static func isForTokens(url: [UInt8]) -> Bool {
        !places(inForm: url[...].drop { $0 != ASCII.questionMark }.dropFirst(), .grants).isEmpty
    }
}

/// The place of a secret in a text.
package struct SecretPlace: Equatable {
    package let range: Range<Int>
    /// Whether the secret is a number, so that the mark needs JSON quotes.
    var isNumber = false

    /// The place in a longer text that contains this text at `offset`.
    func advanced(by offset: Int) -> SecretPlace {
        SecretPlace(range: (range.lowerBound + offset)..<(range.upperBound + offset), isNumber: isNumber)
    }
}

extension [UInt8] {
    /// The text with its secrets replaced by the mark.
    package func redacted(_ places: [SecretPlace]) -> [UInt8] {
        guard !places.isEmpty else { return self }
        var redacted: [UInt8] = []
        var position = 0
        for place in places.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            // A place may be within the previous one.
            guard place.range.lowerBound >= position else {
                position = Swift.max(position, place.range.upperBound)
                continue
            }
            redacted += self[position..<place.range.lowerBound]
            redacted += place.isNumber ? Array("\"\(SecretRedaction.mark)\"".utf8) : Array(SecretRedaction.mark.utf8)
            position = place.range.upperBound
        }
        return redacted + self[position...]
    }
}
