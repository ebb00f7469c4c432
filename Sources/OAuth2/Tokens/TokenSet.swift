public import HTTPTypes
// Users of OAuth2 need the time.
@_exported public import WebPrimitives

/// The tokens that a token endpoint issued for one authorization: an access token and its accompanying values (RFC
/// 6749, section 5.1).
///
/// It does not contain the owner of the tokens; see ``Profile``.
public struct TokenSet: Sendable, Equatable {
    /// The access token.
    public var accessToken: Secret
    /// How the access token is presented.
    public var tokenType: TokenType
    /// The refresh token, if one was issued.
    public var refreshToken: Secret?
    /// The ID token (OpenID Connect Core 1.0, section 2), if one was issued. Nothing here has validated it.
    public var idToken: Secret?
    /// The scopes of the access token; `nil` if the server did not tell, which means "as requested".
    public var scopes: Scopes?
    /// When the tokens were received.
    public var receivedAt: Timestamp
    /// When the access token ends; `nil` if that is unknown.
    public var accessTokenExpiry: Timestamp?
    /// When the refresh token ends; `nil` if that is unknown or never.
    public var refreshTokenExpiry: Timestamp?
    /// When the grant ends, after which no refresh renews the tokens; `nil` if that is
    /// unknown, or never.
    public var grantExpiry: Timestamp?

    /// A token set with an access token and whatever else is known.
    public init(
        accessToken: Secret, tokenType: TokenType = .bearer, refreshToken: Secret? = nil, idToken: Secret? = nil,
        scopes: Scopes? = nil, receivedAt: Timestamp, accessTokenExpiry: Timestamp? = nil,
        refreshTokenExpiry: Timestamp? = nil,
        grantExpiry: Timestamp? = nil
    ) {
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.refreshToken = refreshToken
        self.idToken = idToken
        self.scopes = scopes
        self.receivedAt = receivedAt
        self.accessTokenExpiry = accessTokenExpiry
        self.refreshTokenExpiry = refreshTokenExpiry
        self.grantExpiry = grantExpiry
    }

    /// When the access token was received and when it ends.
    package var accessTokenLifetime: TokenLifetime {
        TokenLifetime(start: receivedAt, end: accessTokenExpiry)
    }

    /// Whether the access token can be used at `now`.
    ///
    /// - Parameter skew: How long before its expiry a token counts as ``TokenValidity/due``: time for the request to
    ///   arrive, and for clocks that differ. See ``TokenLifetime/renewal(skew:)``.
    package func validity(at now: Timestamp, skew: Duration = .seconds(60)) -> TokenValidity {
        accessTokenLifetime.validity(at: now, skew: skew)
    }

    /// Returns the tokens with what a reply for the same grant leaves out, since it stays as it was (RFC 6749, section 6).
    package func completed(by former: TokenSet) -> TokenSet {
        var tokens = self
        // Servers that rotate nothing leave the token out, or repeat it, with its expiry or without.
        if refreshToken == nil || refreshToken == former.refreshToken {
            tokens.refreshToken = former.refreshToken
            tokens.refreshTokenExpiry = refreshTokenExpiry ?? former.refreshTokenExpiry
        }
        tokens.grantExpiry = grantExpiry ?? former.grantExpiry
        tokens.idToken = idToken ?? former.idToken
        tokens.scopes = scopes ?? former.scopes
        return tokens
    }

    /// Whether there is a refresh token that has not ended at `now`, and neither has its
    /// grant.
    ///
    /// A token or grant without a known expiry counts as valid: only the server knows.
    package func isRefreshable(at now: Timestamp) -> Bool {
        guard refreshToken != nil else { return false }
        return [refreshTokenExpiry, grantExpiry].compactMap(\.self).allSatisfy { now < $0 }
    }
}

extension TokenSet {
    /// The `Authorization` field that presents the access token (RFC 6750, section 2.1), which is no longer protected.
    ///
    /// `nil` for a type other than `Bearer`, which needs more than the token (RFC 6749, section 7.1: a client must not use a
    /// type that it does not understand), and for a token that no header field can carry unchanged. The field is marked as
    /// never to be indexed by HTTP/2 and HTTP/3 header compression.
    public var exposedAuthorizationField: HTTPField? {
        tokenType == .bearer ? authorizationField(scheme: "Bearer") : nil
    }

    /// The `Authorization` field of a token that is bound to a key (RFC 9449, section 7.1), which a proof goes with;
    /// `nil` for one of another type, and for one that no header field can carry unchanged.
    var exposedBoundField: HTTPField? {
        tokenType == .dpop ? authorizationField(scheme: "DPoP") : nil
    }

    private func authorizationField(scheme: String) -> HTTPField? {
        guard let token = accessToken.exposedText, TokenSyntax.isAccessToken(token) else { return nil }
        var field = HTTPField(name: .authorization, value: "\(scheme) \(token)")
        field.indexingStrategy = .disallow
        return field
    }
}

/// How an access token is presented to a resource server (RFC 6749, section 7.1).
///
/// Types compare without regard to case (section 5.1): servers respond with `Bearer` and `bearer`.
public struct TokenType: Sendable, CustomStringConvertible {
    /// The type as the server wrote it.
    package let name: String

    /// A type by its name, in any case.
    public init(_ name: String) {
        self.name = name
    }

    /// `Bearer`: any holder of the token may use it (RFC 6750).
    public static let bearer = TokenType("Bearer")
    /// `DPoP`: the token is bound to a key, and needs a proof with each request (RFC 9449).
    public static let dpop = TokenType("DPoP")

    /// The type as the server wrote it.
    public var description: String { name }
}

extension TokenType: Hashable {
    /// Whether both name the same type, in any case.
    public static func == (left: TokenType, right: TokenType) -> Bool {
        left.name.lowercased() == right.name.lowercased()
    }

    /// Feeds the name in lower case to `hasher`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name.lowercased())
    }
}

/// Which characters tokens are made of.
enum TokenSyntax {
    /// Whether `text` can be an access token: not empty, visible ASCII only.
    ///
    /// NB: RFC 6750, section 2.1 allows `b64token` only, and RFC 6749, appendix A.12 a space too. Tokens with `!` and
    /// `|` are issued by large providers and sent as Bearer tokens; a space would end the token in the header field.
    static func isAccessToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Whether `text` can be a refresh token: not empty, printable ASCII (RFC 6749, appendix A.17).
    static func isRefreshToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Whether `text` can be a token type's name: visible ASCII, of a sensible length (RFC 6749, appendix A.13).
    static func isTokenType(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && isAccessToken(text)
    }
}

/// Tokens, with the key that the access token is bound to, if it is bound to one (RFC 9449).
package struct AccessCredential: Sendable, Equatable {
    /// The tokens.
    package var tokens: TokenSet
    /// The key that the access token is bound to; `nil` if any holder of the token may use it.
    package var proofKey: SigningKey?

    /// A credential from its parts.
    package init(_ tokens: TokenSet, proofKey: SigningKey? = nil) {
        self.tokens = tokens
        self.proofKey = proofKey
    }

    /// Whether the token can be presented at all: it is of a type that is understood, a header field can carry it, and
    /// the key is there that it is bound to.
    package var isPresentable: Bool {
        tokens.exposedAuthorizationField != nil || (tokens.exposedBoundField != nil && proofKey != nil)
    }

    /// The header fields that present the token with one request, which is no longer protected: `Authorization`, and
    /// for a bound token a proof in `DPoP` (RFC 9449, section 7).
    ///
    /// - Parameters:
    ///   - method: The request's method, as it is sent.
    ///   - url: The request's URL without query and fragment.
    ///   - nonce: The server's last nonce; `nil` if it gave none.
    ///   - now: When the request is made.
    ///   - generator: A cryptographically secure source: no two proofs are alike.
    /// - Returns: `nil` if the token is not ``isPresentable``.
    package func exposedFields(
        method: String, url: String, nonce: String? = nil, now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) throws(OAuth2Error) -> [HTTPField]? {
        if let field = tokens.exposedAuthorizationField { return [field] }
        guard let field = tokens.exposedBoundField, let name = HTTPField.Name("DPoP"),
            let proof = try proof(method: method, url: url, nonce: nonce, now: now, using: &generator)
        else { return nil }
        var proofField = HTTPField(name: name, value: proof.exposedBytes)
        proofField.indexingStrategy = .disallow
        return [field, proofField]
    }

    /// The proof that goes with a bound token and one request; `nil` if the token is bound to no key, or lacks it.
    package func proof(
        method: String, url: String, nonce: String?, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) throws(OAuth2Error) -> Secret? {
        guard tokens.tokenType == .dpop, let proofKey else { return nil }
        return try DPoPProof(key: proofKey, nonce: nonce).value(
            method: method, url: url, accessToken: tokens.accessToken, now: now, using: &generator)
    }
}
