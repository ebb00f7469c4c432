import CookieModel
internal import OAuth2

/// How to recognize a response that means "not signed in", and how to sign the user in again with a token.
public struct LoginRule: Sendable, Hashable, Codable {
    /// The signs of a response that means "not signed in". One sign is enough.
    public struct Signs: Sendable, Hashable, Codable {
        /// Statuses, such as 401.
        package var statuses: Set<Int>
        /// The start of the URLs of login pages that the site redirects to, such as `https://app.example/login`. One
        /// without scheme and host is relative to the URL of the response.
        package var redirects: [String]
        /// Whether a challenge to present a token is a sign: Bearer (RFC 6750, section 3) or DPoP (RFC 9449, section
        /// 7.1).
        package var bearerChallenge: Bool

        /// Creates signs from their parts.
        public init(statuses: Set<Int> = [401], redirects: [String] = [], bearerChallenge: Bool = true) {
            self.statuses = statuses
            self.redirects = redirects
            self.bearerChallenge = bearerChallenge
        }

        /// The signs that a user names; status 401 if none is named.
        package init(named statuses: [Int], redirects: [String]) {
            self.init(statuses: statuses.isEmpty && redirects.isEmpty ? [401] : Set(statuses), redirects: redirects)
        }
    }

    /// How a token is delivered to the site.
    public enum Delivery: Sendable, Hashable, Codable {
        /// As a cookie: see ``CookieTemplate``.
        case cookie(CookieTemplate)
        /// In the Authorization field.
        case authorization
        /// By a POST request to a URL of the site, with the token in the Authorization field. The response sets
        /// cookies.
        case exchange(String)
    }

    /// The start of the URLs that the rule is for: ``URLScope``.
    public var scope: String
    /// The signs of "not signed in".
    package var signs: Signs
    /// The name of the token profile.
    public var profile: String
    /// How its token is delivered.
    package var delivery: Delivery

    /// Creates a rule from its parts.
    ///
    /// - Throws: ``LoginFallbackError/Code/ruleInvalid``: the scope, or the URL of an exchange, is no URL that a token may
    ///   go to (`https`, or this machine), or the two are of different sites.
    public init(
        scope: String, signs: Signs = Signs(), profile: String, delivery: Delivery
    ) throws(LoginFallbackError) {
        self.scope = scope
        self.signs = signs
        self.profile = profile
        self.delivery = delivery
        try check()
    }

    /// The URLs that the rule is for; `nil` if the text is not a scope.
    package var urlScope: URLScope? { try? URLScope(scope) }

    private func check() throws(LoginFallbackError) {
        guard let urlScope, AuthorizationRule.isConfidential(urlScope.prefix) else {
            throw LoginFallbackError(
                .ruleInvalid, scope, "this is not an https URL, and tokens are sent only over https")
        }
        guard !urlScope.hasWildcard else {
            throw LoginFallbackError(
                .ruleInvalid, scope, "a scope is one host, without '*': set a rule for each host")
        }
        guard signs.redirects.allSatisfy({ (try? urlScope.prefix.resolving(Octets($0))) != nil && !$0.isEmpty }) else {
            throw LoginFallbackError(.ruleInvalid, scope, "the redirect to a login page must be a URL or a path")
        }
        if case .exchange(let text) = delivery {
            guard let url = try? RequestURL(text), AuthorizationRule.isConfidential(url) else {
                throw LoginFallbackError(
                    .ruleInvalid, scope, "the endpoint for cookies must be an https URL")
            }
            let list = CookiePolicy().publicSuffixes
            guard SchemefulSite(url, list) == SchemefulSite(urlScope.prefix, list) else {
                throw LoginFallbackError(
                    .ruleInvalid, scope,
                    "\(url.withoutQuery) belongs to another site, which cannot set cookies for this one; use "
                        + "a URL of this site")
            }
        }
    }
}

/// A cookie that carries a token: a Set-Cookie line with `{access_token}` or `{id_token}` in its value.
///
/// The jar applies its rules to the line as if the site had sent it. The cookie has the lifetime of the token, so
/// templates cannot contain Max-Age or Expires.
public struct CookieTemplate: Sendable, Hashable, Codable {
    /// The line, such as `session={access_token}; Path=/; Secure; HttpOnly; SameSite=Lax`.
    package let text: String

    /// Creates a template from its line.
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
            throw LoginFallbackError(.ruleInvalid, "the cookie", "it has the lifetime of the token; leave out Max-Age")
        }
        self.text = text
    }

    private static let placeholders = ["{access_token}", "{id_token}"]

    /// Returns the Set-Cookie line for a token set.
    ///
    /// - Throws: if the token has characters that no cookie can carry, or is missing.
    func setCookie(_ tokens: TokenSet, profile: String, now: Timestamp) throws(LoginFallbackError) -> Octets {
        var line = text
        for (placeholder, token) in zip(CookieTemplate.placeholders, [tokens.accessToken, tokens.idToken])
        where line.contains(placeholder) {
            guard let text = token?.exposedText, text.utf8.allSatisfy(CookieTemplate.isCookieOctet) else {
                throw LoginFallbackError(
                    .tokenNotPresentable, profile, "the token is missing, or a cookie cannot carry it")
            }
            line = line.split(separator: placeholder, omittingEmptySubsequences: false).joined(separator: text)
        }
        if let expiry = expiry(tokens) {
            line += "; Max-Age=\(max(0, expiry.seconds - now.seconds))"
        }
        return Octets(line)
    }

    /// The tokens that the cookie carries.
    func tokens(of tokens: TokenSet) -> [Secret] {
        zip(CookieTemplate.placeholders, [tokens.accessToken, tokens.idToken])
            .compactMap { placeholder, token in text.contains(placeholder) ? token : nil }
    }

    /// When the first of the tokens in the cookie ends; `nil` if that is unknown.
    private func expiry(_ tokens: TokenSet) -> Timestamp? {
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
