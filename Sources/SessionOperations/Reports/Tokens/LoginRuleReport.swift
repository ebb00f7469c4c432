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
