import CookieModel
import OAuth2
import SessionStore

/// A token set without its tokens.
struct StoredTokenReport: Encodable {
    let name: String
    let issuer: String
    let clientID: String
    let account: String
    /// As ``TokenValidity``, or `login-required`.
    let state: String
    let scope: String?
    let expires: String?
    let hasRefreshToken: Bool

    init(_ stored: StoredToken, now: Timestamp) {
        name = stored.profile.name
        issuer = stored.profile.id.issuer
        clientID = stored.profile.id.clientID
        account = stored.profile.id.account
        state = stored.refusal == nil ? stored.tokens.validity(at: now.microseconds).rawValue : "login-required"
        scope = stored.tokens.scopes?.description
        expires = stored.tokens.accessTokenExpiry.map { Timestamp(microseconds: $0).rfc3339 }
        hasRefreshToken = stored.tokens.refreshToken != nil
    }

    var text: String {
        "\(name): \(state), \(expires.map { "expires \($0)" } ?? "expiry unknown")"
            + (hasRefreshToken ? ", with a refresh token" : "")
    }
}

/// An access token and what its user has to know.
struct AccessTokenReport: Encodable {
    let accessToken: String
    let tokenType: String
    let expires: String?

    init(_ tokens: TokenSet, token: String) {
        accessToken = token
        tokenType = tokens.tokenType.name
        expires = tokens.accessTokenExpiry.map { Timestamp(microseconds: $0).rfc3339 }
    }
}
