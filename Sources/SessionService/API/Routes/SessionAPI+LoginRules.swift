import CookieModel
import HTTPTypes
import Hummingbird
import RequestDecoration
import SessionOperations
import SessionStore

extension LoginRuleDocument {
    /// How a token goes back to the site.
    private enum Delivery: String, CaseIterable {
        case cookie, authorization, exchange
    }

    fileprivate func rule() throws -> LoginRule {
        let delivery = try Delivery.named(self.delivery, member: "delivery")
        guard (delivery == .authorization) == (template == nil) else {
            throw ServiceProblem.bodyInvalid(
                "template: use a Set-Cookie line for a cookie, a URL for an exchange, and nothing for Authorization")
        }
        let way: LoginRule.Delivery =
            switch delivery {
            case .cookie: .cookie(try CookieTemplate(template ?? ""))
            case .authorization: .authorization
            case .exchange: .exchange(template ?? "")
            }
        return try LoginRule(
            scope: try RequestURL(scope, member: "scope").description,
            signs: LoginRule.Signs(named: statuses?.map(\.value) ?? [], redirects: redirects ?? []), profile: profile,
            delivery: way)
    }
}

extension SessionAPI {
    /// A rule sends tokens to a site, so that to make one takes as much as to take the tokens and send them oneself.
    var loginRuleRoutes: [ServiceRoute] {
        [
            ServiceRoute(.get, "/v1/jars/{jar}/login-rules", .jar(.read)) { _, context in
                let rules = try jar(in: context).loginRules()
                return .json(LoginRuleList(rules: rules.map { LoginRuleReport(name: $0.name, rule: $0.rule) }))
            },
            ServiceRoute(.put, "/v1/jars/{jar}/login-rules/{name}", .allJars(.write), and: [.secrets], body: .document)
            {
                request, context in
                let rule = try await request.document(LoginRuleDocument.self, in: context).rule()
                let name = try context.pathParameter("name")
                let jar = try jar(in: context)
                _ = try jar.tokens.get(rule.profile)
                try await blocking { try jar.setLoginRule(rule, named: name) }
                return .json(LoginRuleReport(name: name, rule: rule))
            },
            ServiceRoute(.delete, "/v1/jars/{jar}/login-rules/{name}", .jar(.write)) { _, context in
                let name = try context.pathParameter("name")
                let jar = try jar(in: context)
                guard try await blocking({ try jar.removeLoginRule(named: name) }) else {
                    throw ServiceProblem(
                        .loginRuleNotFound, "\(name): the jar has no login rule with this name")
                }
                return Response(status: .noContent)
            },
        ]
    }
}
