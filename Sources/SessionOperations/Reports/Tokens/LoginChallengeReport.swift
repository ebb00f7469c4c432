package import RequestDecoration

/// A response that says "not signed in", and what there is to do, in JSON.
package struct LoginChallengeReport: Codable, Sendable {
    /// What there is to do.
    package enum Action: String, Codable, Sendable {
        /// Have the tokens renewed and delivered, and send the request once more with what that answers.
        case renew
        /// Send the request once more with the jar's cookies: others have had them renewed since it was sent.
        case sendAgain = "send-again"
        /// Log in anew under the name of the profile: nothing else helps.
        case logIn = "log-in"
    }

    package let action: Action
    /// The name of the rule that knows it.
    package let rule: String
    /// What gave it away.
    package let sign: String
    /// What the tokens are called.
    package let profile: String
    /// The page that the site wants the user to log in on.
    package let loginURL: String?
    /// How the site wants the user to log in (RFC 9470, section 3).
    package let authenticationContext: String?
    /// How many seconds ago the login may have been at most.
    package let maximumAge: Int?

    package init(_ challenge: LoginChallenge, rule: String, action: Action) {
        self.action = action
        self.rule = rule
        sign = challenge.sign.rawValue
        profile = challenge.rule.profile
        loginURL = challenge.loginURL
        authenticationContext = challenge.authenticationContext
        maximumAge = challenge.maximumAge
    }
}
