import WebPrimitives

/// The names of parameters, parts, members and fields with secret values.
///
/// Only letters count, without case: `apiKey`, `API_KEY` and `api-key2` are one name.
package enum SecretNames: Sendable {
    /// Secrets, in requests and URLs.
    case secrets
    /// Tokens that a response gives a client.
    case tokens
    /// Parameters that only requests for or about a token have.
    case tokenRequests
    /// Parameters that only requests for a token have in their URL. A token may also be in the URL of a page.
    case grants

    /// Words that make any name that contains them a secret.
    private static let words = ["password", "passwd", "passphrase", "passcode", "secret"]
    /// Words that are not secrets, although they begin like one.
    private static let harmless = ["secretary", "secretari"]
    /// Endings that make a name a secret.
    private static let endings = [
        "token", "apikey", "accesskey", "privatekey", "subscriptionkey", "signature", "credential", "authorization",
        "assertion", "jwt", "sessionid", "sessid", "sessionkey", "otp", "pwd",
    ]
    /// Complete names of parameters, parts or members that are secrets.
    private static let parameters: Set<String> = [
        "code", "codeverifier", "devicecode", "usercode", "mfacode", "onetimecode", "otpcode", "totpcode",
        "verificationcode", "securitycode", "otpattempt", "pass", "userpass", "pin", "pincode", "newpin", "oldpin",
        "userpin", "pinconfirmation", "cvc", "cvv", "credentials", "idtokenhint", "tokenid", "tokenvalue", "key", "sig",
        "session", "sid", "samlresponse", "wresult", "ticket",
    ]
    /// Complete names of fields that are secrets.
    private static let fields: Set<String> = [
        "authentication", "authenticationinfo", "cookie", "dpop", "proxyauthenticationinfo", "setcookie", "xauth",
        "xauthentication", "xauthkey", "xclientcert", "xcredentials", "xfunctionskey", "xsession", "xsid", "xtokenauth",
        "xwsse",
    ]
    private static let tokenEndings = [
        "accesstoken", "refreshtoken", "idtoken", "sessiontoken", "authtoken", "jwt", "clientsecret", "secretaccesskey",
        "devicecode",
    ]
    private static let tokenRequestNames: Set<String> = [
        "granttype", "clientsecret", "clientassertion", "token", "refreshtoken",
    ]

    /// Whether secrets are also removed from URLs in texts that are searched for these names.
    var includesURLs: Bool { self == .secrets || self == .tokens }

    /// Words in the names of fields whose value is a URL.
    private static let urlWords: Set<String> = [
        "href", "link", "location", "origin", "path", "redirect", "referer", "referrer", "refresh", "sourcemap", "uri",
        "url",
    ]

    /// Whether the value of a field of that name, in lower case, is exactly one URL, whatever octets it contains.
    static func isOneURL(field name: String) -> Bool {
        isURL(field: name) && !name.split(separator: "-").contains { $0 == "link" || $0 == "refresh" }
    }

    /// Whether the value of a field of that name, in lower case, is a URL, or contains URLs, also relative ones.
    static func isURL(field name: String) -> Bool {
        name.split(separator: "-").contains { urlWords.contains(String($0)) }
    }

    /// Whether the name of a parameter, a part or a member, which may be percent-encoded, is one of them.
    func contains(_ name: some Collection<UInt8>) -> Bool {
        let names = SecretNames.components(name)
        guard let last = names.last else { return false }
        return switch self {
        case .secrets: SecretNames.parameters.contains(last) || names.contains(where: SecretNames.isSecret)
        case .tokens: last == "token" || SecretNames.tokenEndings.contains { last.hasSuffix($0) }
        case .tokenRequests: names.count == 1 && SecretNames.tokenRequestNames.contains(last)
        case .grants: names == ["granttype"]
        }
    }

    /// Whether the name of a field is one of them.
    package func contains(field name: String) -> Bool {
        let name = SecretNames.letters(name.utf8)
        return SecretNames.fields.contains(name) || SecretNames.isSecret(name)
    }

    private static func isSecret(_ name: String) -> Bool {
        let name = harmless.reduce(name) { $0.replacing($1, with: "") }
        return words.contains { name.contains($0) } || endings.contains { name.hasSuffix($0) }
    }

    /// The components of a name: two for `user[password]`, and for `/path?password` in a fragment.
    private static func components(_ name: some Collection<UInt8>) -> [String] {
        PercentEncoding.decode(Array(name).span, plusIsSpace: true)
            .split { "[]./?:;".utf8.contains($0) }.map(letters).filter { !$0.isEmpty }
    }

    /// The letters of a name, in lower case. Every octet beyond ASCII counts as a letter.
    private static func letters(_ name: some Sequence<UInt8>) -> String {
        String(decoding: name.filter { ASCII.isLetter($0) || $0 >= 0x80 }.map(ASCII.lowercased), as: UTF8.self)
    }
}
