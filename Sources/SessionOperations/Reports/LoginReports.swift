package import RequestDecoration

/// A login rule of a jar, in JSON.
package struct LoginRuleReport: Codable, Sendable {
    package let name: String
    package let scope: String
    package let profile: String
    package let statuses: [Int]
    package let redirects: [String]
    /// `cookie`, `authorization` or `exchange`.
    package let delivery: String
    /// The Set-Cookie line, or the URL that answers with cookies.
    package let template: String?

    package init(name: String, rule: LoginRule) {
        self.name = name
        scope = rule.scope
        profile = rule.profile
        statuses = rule.signs.statuses.sorted()
        redirects = rule.signs.redirects
        switch rule.delivery {
        case .cookie(let template): (delivery, self.template) = ("cookie", template.text)
        case .authorization: (delivery, template) = ("authorization", nil)
        case .exchange(let url): (delivery, template) = ("exchange", url)
        }
    }
}

/// The login rules of a jar.
package struct LoginRuleList: Codable, Sendable {
    package let rules: [LoginRuleReport]

    package init(rules: [LoginRuleReport]) {
        self.rules = rules
    }
}

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
