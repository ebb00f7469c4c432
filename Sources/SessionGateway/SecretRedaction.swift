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

    private static let fields: Set<String> = ["authorization", "proxy-authorization", "dpop", "authentication-info"]
    private static let parameters: Set<String> = [
        "code", "code_verifier", "device_code", "user_code", "assertion", "client_assertion", "pwd", "pass", "passcode",
        "otp",
        "key", "sig", "session", "sessionid", "session_id", "sid", "phpsessid", "jsessionid", "samlresponse", "ticket",
    ]
    private static let endings = [
        "token", "password", "passwd", "secret", "api-key", "api_key", "apikey", "signature", "credential",
    ]

    /// The names of the jar's own fields, in lower case, for one request.
    var jarFields: Set<String> = []

    /// Whether the value of a field of that name, which is in lower case, is left out.
    func isSecret(field name: String) -> Bool {
        SecretRedaction.fields.contains(name) || jarFields.contains(name)
            || SecretRedaction.endings.contains { name.hasSuffix($0) }
    }

    /// Whether the value of a parameter of a URL or a form is left out.
    static func isSecret(parameter name: some Collection<UInt8>) -> Bool {
        let decoded = PercentEncoding.decode(Array(name).span, plusIsSpace: true)
        let name = String(decoding: decoded.lazy.map(ASCII.lowercased), as: UTF8.self)
        return parameters.contains(name) || endings.contains { name.hasSuffix($0) }
    }

    /// The value of a field as it is recorded.
    func value(_ value: Octets, ofField name: String) -> Octets {
        if isSecret(field: name) { return Octets(SecretRedaction.mark) }
        guard ["location", "content-location", "referer"].contains(name) else { return value }
        return Octets(SecretRedaction.url(value.bytes))
    }

    /// A URL whose secret parameters, in its query and in its fragment, have no values.
    static func url(_ url: [UInt8]) -> [UInt8] {
        let fragment = url.firstIndex(of: ASCII.numberSign) ?? url.count
        let query = url[..<fragment].firstIndex(of: ASCII.questionMark) ?? fragment
        var redacted = Array(url[..<query])
        for part in [url[query..<fragment], url[fragment...]] {
            guard let first = part.first else { continue }
            redacted.append(first)
            redacted += form(part.dropFirst())
        }
        return redacted
    }

    /// The parameters of a form (`application/x-www-form-urlencoded`) or a query without the secret values.
    static func form(_ form: some Collection<UInt8>) -> [UInt8] {
        let parameters = Array(form).split(separator: ASCII.ampersand, omittingEmptySubsequences: false).map { pair in
            guard let equals = pair.firstIndex(of: ASCII.equals), equals + 1 < pair.endIndex,
                isSecret(parameter: pair[..<equals])
            else { return Array(pair) }
            return Array(pair[...equals]) + Array(mark.utf8)
        }
        return Array(parameters.joined(separator: [ASCII.ampersand]))
    }

    /// Whether a form asks an endpoint of OAuth 2.0 for a token, or about one: the response has others in its body.
    static func isForTokens(_ form: [UInt8]) -> Bool {
        let names: Set<String> = ["grant_type", "client_secret", "client_assertion", "token", "refresh_token"]
        return form.split(separator: ASCII.ampersand).contains { pair in
            names.contains(String(decoding: pair.prefix { $0 != ASCII.equals }, as: UTF8.self))
        }
    }
}
