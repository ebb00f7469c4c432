import CookieModel
import HTTPTypes
import Hummingbird
import SessionOperations
import SessionStore

/// What `POST /v1/jars/{jar}/explain` asks about; with Set-Cookie lines, what would become of them.
struct ExplainDocument: RequestDocument, RequestDescription {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case url, method, topLevel, initiator, navigation, script
    }

    let url: String
    let method: String?
    let topLevel: String?
    let initiator: String?
    let navigation: Bool?
    /// Whether it is about what scripts of the page see, or may set.
    let script: Bool?
}

/// What `POST /v1/jars/{jar}/explain-set-cookie` asks about.
struct ExplainSetCookieDocument: RequestDocument, RequestDescription {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case url, method, topLevel, initiator, navigation, script, setCookie, setCookieBase64
    }

    let url: String
    let method: String?
    let topLevel: String?
    let initiator: String?
    let navigation: Bool?
    let script: Bool?
    let setCookie: [String]?
    let setCookieBase64: [String]?

    /// The field values, in order.
    func lines() throws(ServiceProblem) -> [Octets] {
        try SetCookieDocument(
            url: url, method: nil, topLevel: nil, initiator: nil, navigation: nil, setCookie: setCookie,
            setCookieBase64: setCookieBase64
        ).lines()
    }
}

extension SessionAPI {
    var explainRoutes: [ServiceRoute] {
        [
            ServiceRoute(.post, "/v1/jars/{jar}/explain", .jar(.read), body: .document, use: explain),
            ServiceRoute(
                .post, "/v1/jars/{jar}/explain-set-cookie", .jar(.read), body: .document, use: explainSetCookie),
        ]
    }

    private func explain(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let asked = try await request.document(ExplainDocument.self, in: context)
        let description = try asked.requestContext(asked.script == true ? .script : .http)
        let jar = try jar(in: context)
        let grant = context.caller.grant
        let now = now()
        let report = try await blocking {
            var explanation = Explanation(description, jar: jar.name, policy: jar.policy, now: now)
            try explanation.add(jar)
            // Of other jars nobody learns who may not know of them.
            try explanation.addOtherJars(of: database, named: grant.jarNames, policy: policy)
            return ExplanationReport(explanation)
        }
        return .json(report)
    }

    private func explainSetCookie(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let asked = try await request.document(ExplainSetCookieDocument.self, in: context)
        let description = try asked.requestContext(asked.script == true ? .script : .http)
        let lines = try asked.lines()
        let jar = try jar(in: context)
        let now = now()
        let report = try await blocking {
            let stored = try jar.cookies()
            return SetCookieDryRunReport(
                SetCookieDryRun(
                    lines, description, jar: jar.name, policy: jar.policy, cookies: stored.readable + stored.unreadable,
                    now: now))
        }
        return .json(report)
    }
}
