package import RequestDecoration

extension LoginRuleReport {
    package init(name: String, rule: LoginRule) {
        let (delivery, template): (String, String?) =
            switch rule.delivery {
            case .cookie(let template): ("cookie", template.text)
            case .authorization: ("authorization", nil)
            case .exchange(let url): ("exchange", url)
            }
        self.init(
            name: name, scope: rule.scope, profile: rule.profile, statuses: rule.signs.statuses.sorted(),
            redirects: rule.signs.redirects, delivery: delivery, template: template)
    }
}

extension LoginChallengeReport {
    package init(_ challenge: LoginChallenge, rule: String, action: Action, mayRepeat: Bool) {
        self.init(
            action: action, mayRepeat: mayRepeat, rule: rule, sign: challenge.sign.rawValue,
            profile: challenge.rule.profile,
            loginURL: challenge.loginURL, authenticationContext: challenge.authenticationContext,
            maximumAge: challenge.maximumAge)
    }
}
