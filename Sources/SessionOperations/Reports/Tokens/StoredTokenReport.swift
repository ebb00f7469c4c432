package import CookieModel
import OAuth2
package import SessionStore

/// A token set without its tokens.
package struct StoredTokenReport: Codable {
    package let name: String
    package let issuer: String
    package let clientID: String
    package let account: String
    /// As ``TokenValidity``, or `login-required`.
    package let state: String
    package let scope: String?
    package let expires: String?
    package let hasRefreshToken: Bool
    /// Why the ID token of this refresh was not kept; one sentence.
    package let idTokenProblem: String?

    package init(_ stored: StoredToken, now: Timestamp) {
        name = stored.profile.name
        issuer = stored.profile.id.issuer
        clientID = stored.profile.id.clientID
        account = stored.profile.id.account
        state = stored.refusal == nil ? stored.tokens.validity(at: now.microseconds).rawValue : "login-required"
        scope = stored.tokens.scopes?.description
        expires = stored.tokens.accessTokenExpiry.map { Timestamp(microseconds: $0).rfc3339 }
        hasRefreshToken = stored.tokens.refreshToken != nil
        idTokenProblem = stored.idTokenRefusal?.description
    }

    /// The report for a person.
    package var text: String {
        "\(name): \(state), \(expires.map { "expires \($0)" } ?? "expiry unknown")"
            + (hasRefreshToken ? ", with a refresh token" : "")
    }
}
