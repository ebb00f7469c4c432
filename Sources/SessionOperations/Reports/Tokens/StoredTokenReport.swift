package import CookieModel
import OAuth2
package import SessionStore

/// A token set without its tokens.
package struct StoredTokenReport: Codable {
    package let name: String
    package let issuer: String
    package let clientID: String
    package let account: String
    /// Who has logged in, as the ID token names the user; else the account.
    package let user: String?
    /// As ``TokenValidity``, or `login-required`.
    package let state: String
    package let scope: String?
    package let expires: String?
    package let hasRefreshToken: Bool
    /// When what the user allowed ends, and with it every renewal; only where the server told.
    package let grantExpires: String?
    /// Why the ID token of this refresh was not kept; one sentence.
    package let idTokenProblem: String?

    package init(_ stored: StoredToken, now: Timestamp) {
        name = stored.profile.name
        issuer = stored.profile.id.issuer
        clientID = stored.profile.id.clientID
        account = stored.profile.id.account
        user = LoggedInUser(account: stored.profile.id.account, stored.tokens).name
        state = stored.refusal == nil ? stored.tokens.validity(at: now.microseconds).rawValue : "login-required"
        scope = stored.tokens.scopes?.description
        expires = stored.tokens.accessTokenExpiry.map { Timestamp(microseconds: $0).rfc3339 }
        hasRefreshToken = stored.tokens.refreshToken != nil
        grantExpires = stored.tokens.grantExpiry.map { Timestamp(microseconds: $0).rfc3339 }
        idTokenProblem = stored.idTokenRefusal?.description
    }

    /// The report for a person.
    package var text: String {
        "\(name): \(state), \(expires.map { "expires \($0)" } ?? "expiry unknown")"
            + (user.map { ", user \($0)" } ?? "")
            + (hasRefreshToken ? ", with a refresh token" : "")
            + (grantExpires.map { ", granted until \($0)" } ?? "")
    }
}
