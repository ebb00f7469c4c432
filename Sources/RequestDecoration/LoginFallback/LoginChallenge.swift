public import CookieModel
internal import OAuth2

/// A response that says "not signed in", and the rule that knows it.
public struct LoginChallenge: Sendable, Hashable {
    /// What gave it away.
    public enum Sign: String, Sendable, CaseIterable {
        /// The status.
        case status
        /// A redirect to where one logs in.
        case redirect
        /// A challenge to present a token: Bearer, or DPoP.
        case bearerChallenge = "bearer-challenge"
        /// A challenge to log in again in a stronger way, or more recently (RFC 9470).
        case stepUp = "step-up"
    }

    /// The rule.
    public let rule: LoginRule
    /// What gave it away.
    public let sign: Sign
    /// The URL that answered.
    public let url: RequestURL
    /// Where the site wants the user to log in, without its query; `nil` where it does not say.
    public let loginURL: String?
    /// How the site wants the user to log in: one way or several, the best first, with spaces between (`acr_values`; RFC
    /// 9470, section 3).
    public let authenticationContext: String?
    /// How many seconds ago the login may have been at most (`max_age`; RFC 9470, section 3).
    public let maximumAge: Int?
    /// Whether the site says that it was shown a token and does not take it (`invalid_token`; RFC 6750, section 3.1).
    public let refusesToken: Bool

    /// The challenge that a response is; `nil` where the rule does not take it for one.
    init?(_ rule: LoginRule, _ head: ResponseHead, from url: RequestURL) {
        guard rule.urlScope?.contains(url) == true else { return nil }
        // A site may offer several ways to present a token, and say why only in one of them.
        let challenges = head.authenticate.flatMap { AuthenticationChallenge.challenges(in: $0) }
            .filter { $0.scheme == "bearer" || $0.scheme == "dpop" }
        let stepUp = challenges.first { $0.parameters["error"] == "insufficient_user_authentication" }
        let target = (300...399).contains(head.status) ? head.location.flatMap { try? url.resolving($0) } : nil
        let isToLogin =
            target.map { target in
                rule.signs.redirects.contains { LoginChallenge.begins(target, with: $0, at: url) }
            } ?? false
        if stepUp != nil {
            sign = .stepUp
        } else if isToLogin {
            sign = .redirect
        } else if rule.signs.bearerChallenge, head.status == 401, !challenges.isEmpty {
            sign = .bearerChallenge
        } else if rule.signs.statuses.contains(head.status) {
            sign = .status
        } else {
            return nil
        }
        self.rule = rule
        self.url = url
        refusesToken = challenges.contains { $0.parameters["error"] == "invalid_token" }
        loginURL = isToLogin ? target.map { $0.withoutQuery.description } : nil
        authenticationContext = stepUp?.parameters["acr_values"]
        maximumAge = stepUp?.parameters["max_age"].flatMap { Int($0) }
    }

    /// Whether tokens are of a login as the site wants it, as far as their ID token tells.
    func isMet(by tokens: TokenSet, now: Timestamp) -> Bool {
        guard let token = tokens.idToken, let claims = try? IDTokenClaims(unverified: token) else { return true }
        do {
            try claims.check(
                maximumAge: maximumAge.map { Int64($0) }, authenticationContexts: authenticationContext,
                now: now.microseconds)
            return true
        } catch {
            return false
        }
    }

    /// Whether `target` is the URL that `text` means at `url`, or one below it.
    private static func begins(_ target: RequestURL, with text: String, at url: RequestURL) -> Bool {
        guard let prefix = try? url.resolving(Octets(text)) else { return false }
        return URLScope(prefix).contains(target)
    }
}
