/// What a token endpoint issued for one authorization: an access token and what came with it (RFC 6749, section 5.1).
///
/// Whose tokens these are is not said here; ``Profile`` says it. All moments are microseconds since the Unix epoch.
public struct TokenSet: Sendable, Equatable {
    /// The access token.
    public var accessToken: Secret
    /// How the access token is presented.
    public var tokenType: TokenType
    /// The refresh token, where one was issued.
    public var refreshToken: Secret?
    /// The ID token (OpenID Connect Core 1.0, section 2), where one was issued. Nothing here has validated it.
    public var idToken: Secret?
    /// The scopes of the access token; `nil` where the server did not tell, which means "as requested".
    public var scopes: Scopes?
    /// When the tokens were received, in microseconds since the Unix epoch.
    public var receivedAt: Int64
    /// When the access token ends, in microseconds since the Unix epoch; `nil` where that is unknown.
    public var accessTokenExpiry: Int64?
    /// When the refresh token ends, in microseconds since the Unix epoch; `nil` where that is unknown or never.
    public var refreshTokenExpiry: Int64?
    /// When the grant ends, after which no refresh renews the tokens, in microseconds since the Unix epoch; `nil` where
    /// that is unknown or never.
    public var grantExpiry: Int64?

    /// A token set with an access token and whatever else is known.
    public init(
        accessToken: Secret, tokenType: TokenType = .bearer, refreshToken: Secret? = nil, idToken: Secret? = nil,
        scopes: Scopes? = nil, receivedAt: Int64, accessTokenExpiry: Int64? = nil, refreshTokenExpiry: Int64? = nil,
        grantExpiry: Int64? = nil
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
    public var accessTokenLifetime: TokenLifetime {
        TokenLifetime(start: receivedAt, end: accessTokenExpiry)
    }

    /// Whether the access token can be used at `now`, in microseconds since the Unix epoch.
    ///
    /// - Parameter skew: How long before its expiry a token counts as ``TokenValidity/due``: time for the request to
    ///   arrive, and for clocks that differ. See ``TokenLifetime/renewal(skew:)``.
    public func validity(at now: Int64, skew: Duration = .seconds(60)) -> TokenValidity {
        accessTokenLifetime.validity(at: now, skew: skew)
    }

    /// Whether there is a refresh token that has not ended at `now`, in microseconds since the Unix epoch, and neither
    /// has its grant.
    ///
    /// What has no known expiry counts as alive: only the server's answer tells.
    public func isRefreshable(at now: Int64) -> Bool {
        guard refreshToken != nil else { return false }
        return [refreshTokenExpiry, grantExpiry].compactMap(\.self).allSatisfy { now < $0 }
    }
}
