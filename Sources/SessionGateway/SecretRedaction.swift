import HTTPMessages
import WebPrimitives

/// The secrets that a recording leaves out by default: values of cookies, credentials and tokens.
///
/// Names stay. Values of fields and parameters become ``mark``. Cookies have no Set-Cookie field, since a reader would take
/// the mark for their value.
struct SecretRedaction: Sendable {
    /// The text in the place of a value.
    static let mark = "redacted"
    /// The longest body in which secrets are looked for, in octets. A longer one of a kind that names them is not recorded.
    static let bodyLimit = 1 << 20

    /// The names of the jar's own fields, in lower case, for one request.
    var jarFields: Set<String> = []

    /// Whether the value of a field of that name, which is in lower case, is left out.
    func isSecret(field name: String) -> Bool {
        jarFields.contains(name) || SecretNames.secrets.contains(field: name)
    }

    /// The value of a field as it is recorded.
    func value(_ value: Octets, ofField name: String) -> Octets {
        if isSecret(field: name) { return Octets(SecretRedaction.mark) }
        switch name {
        case "location", "content-location", "referer", "refresh": return Octets(SecretRedaction.url(value.bytes))
        case "sec-websocket-protocol": return SecretRedaction.protocols(value)
        default: return value
        }
    }

    /// Protocols of WebSockets that are no secrets. Pages, which can set no other field, send tokens beside them.
    private static let protocols: Set<String> = [
        "actioncable-unsupported", "actioncable-v1-json", "base64", "bearer", "binary", "chat", "graphql-transport-ws",
        "graphql-ws", "json", "mqtt", "mqttv3.1", "ocpp1.6", "ocpp2.0", "ocpp2.0.1", "sip", "soap", "superchat",
        "v10.stomp", "v11.stomp", "v12.stomp", "vite-hmr", "wamp.2.json", "wamp.2.msgpack", "xmpp",
    ]

    /// A list of protocols of WebSockets (RFC 6455, section 11.3.4) without those that are not well known.
    private static func protocols(_ value: Octets) -> Octets {
        let members = value.split(separator: ASCII.comma).map { Octets(Array($0)).trimmingBlanks }
        let redacted = members.map { member in
            protocols.contains(String(decoding: member.lowercased, as: UTF8.self)) ? member : Octets(mark)
        }
        return redacted == members ? value : Octets(Array(redacted.map(\.bytes).joined(separator: Array(", ".utf8))))
    }

    /// A URL whose secret parameters, in its path, its query and its fragment, have no values.
    static func url(_ url: [UInt8]) -> [UInt8] {
        let fragment = url.firstIndex(of: ASCII.numberSign) ?? url.count
        let query = url[..<fragment].firstIndex(of: ASCII.questionMark) ?? fragment
        let segments = url[..<query].split(separator: ASCII.slash, omittingEmptySubsequences: false)
        var redacted = Array(segments.map { pairs($0, .secrets) }.joined(separator: [ASCII.slash]))
        for part in [url[query..<fragment], url[fragment...]] {
            guard let first = part.first else { continue }
            redacted.append(first)
            redacted += form(part.dropFirst())
        }
        return redacted
    }

    /// The same for a URL that is shown.
    static func url(_ url: String) -> String {
        url.utf8.contains(ASCII.equals) ? String(decoding: self.url(Array(url.utf8)), as: UTF8.self) : url
    }

    /// The parameters of a form (`application/x-www-form-urlencoded`) or a query without the values of some names.
    static func form(_ form: some Collection<UInt8>, _ names: SecretNames = .secrets) -> [UInt8] {
        let parameters = Array(form).split(separator: ASCII.ampersand, omittingEmptySubsequences: false)
        return Array(parameters.map { pairs($0, names) }.joined(separator: [ASCII.ampersand]))
    }

    /// A name and its value, or several with semicolons between them. What is behind the first secret name may be part of
    /// its value.
    private static func pairs(_ text: ArraySlice<UInt8>, _ names: SecretNames) -> [UInt8] {
        var start = text.startIndex
        while start < text.endIndex {
            let end = text[start...].firstIndex(of: ASCII.semicolon) ?? text.endIndex
            if let equals = text[start..<end].firstIndex(of: ASCII.equals), equals + 1 < text.endIndex,
                names.contains(text[start..<equals])
            {
                return Array(text[...equals]) + Array(mark.utf8)
            }
            start = end + 1
        }
        return Array(text)
    }

    /// Whether a request asks an endpoint of OAuth 2.0 for a token, or about one: the response has others in its body.
    static func isForTokens(_ body: [UInt8], _ kind: NamedBody) -> Bool {
        self.body(body, kind, .tokenRequests) != body
    }

    /// Whether the query of a URL asks for a token.
    static func isForTokens(url: [UInt8]) -> Bool {
        let query = url.drop { $0 != ASCII.questionMark }.dropFirst()
        return form(query, .grants) != Array(query)
    }
}
