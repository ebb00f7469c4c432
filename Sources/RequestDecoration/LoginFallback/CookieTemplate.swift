import CookieModel
internal import OAuth2

/// A cookie that carries a token: a Set-Cookie line with `{access_token}` or `{id_token}` in its value.
///
/// Name, Domain, Path, Secure, HttpOnly and SameSite are as in any Set-Cookie line, and the jar's rules decide on it as on
/// one that the site sent. How long it lives is the token's affair, so that Max-Age and Expires are not for templates.
public struct CookieTemplate: Sendable, Hashable, Codable {
    /// The line, such as `session={access_token}; Path=/; Secure; HttpOnly; SameSite=Lax`.
    public let text: String

    /// A template from its line.
    public init(_ text: String) throws(LoginFallbackError) {
        let isVisible = text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        let pair = parts.first ?? ""
        guard isVisible, pair.contains("="), CookieTemplate.placeholders.contains(where: pair.contains) else {
            throw LoginFallbackError(
                .ruleInvalid, "the cookie", "write name={access_token}; Path=/; Secure; HttpOnly; SameSite=Lax")
        }
        let names = parts.dropFirst().map { part in
            part.prefix { $0 != "=" }.lowercased().filter { $0 != " " }
        }
        guard !names.contains("max-age"), !names.contains("expires") else {
            throw LoginFallbackError(.ruleInvalid, "the cookie", "it lives as long as the token; leave Max-Age out")
        }
        self.text = text
    }

    private static let placeholders = ["{access_token}", "{id_token}"]

    /// The line for a token set.
    ///
    /// - Throws: where the token has characters that no cookie can carry, or there is none.
    func setCookie(_ tokens: TokenSet, profile: String, now: Timestamp) throws(LoginFallbackError) -> Octets {
        var line = text
        for (placeholder, token) in zip(CookieTemplate.placeholders, [tokens.accessToken, tokens.idToken])
        where line.contains(placeholder) {
            guard let text = token?.exposedText, text.utf8.allSatisfy(CookieTemplate.isCookieOctet) else {
                throw LoginFallbackError(
                    .tokenNotPresentable, profile, "there is no such token, or no cookie can carry it")
            }
            line = line.split(separator: placeholder, omittingEmptySubsequences: false).joined(separator: text)
        }
        if let expiry = expiry(tokens) {
            line += "; Max-Age=\(max(0, Timestamp(microseconds: expiry).seconds - now.seconds))"
        }
        return Octets(line)
    }

    /// When the first of the tokens in the cookie ends; `nil` where that is unknown.
    private func expiry(_ tokens: TokenSet) -> Int64? {
        let ofIDToken = tokens.idToken.flatMap { try? IDTokenClaims(unverified: $0) }?.expiry
        return zip(CookieTemplate.placeholders, [tokens.accessTokenExpiry, ofIDToken])
            .compactMap { placeholder, expiry in text.contains(placeholder) ? expiry : nil }.min()
    }

    /// RFC 6265bis, section 4.1.1, `cookie-octet`.
    private static func isCookieOctet(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x23...0x2B, 0x2D...0x3A, 0x3C...0x5B, 0x5D...0x7E: true
        default: false
        }
    }
}
