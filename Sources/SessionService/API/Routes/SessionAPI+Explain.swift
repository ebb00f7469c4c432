import CookieModel
import HTTPTypes
import Hummingbird
import SessionOperations
import SessionStore

extension ExplainSetCookieDocument {
    /// The field values, in order.
    fileprivate func lines() throws(ServiceProblem) -> [Octets] {
        try SetCookieDocument(
            url: url, setCookie: setCookie, setCookieBase64: setCookieBase64
        ).lines()
    }
}

extension EngineVerdictDocument {
    /// Creates the verdict from its names.
    fileprivate func verdict() throws(ServiceProblem) -> EngineVerdict {
        do {
            return try EngineVerdict(source: source, classes: classes, partition: partition)
        } catch {
            throw .bodyInvalid("verdict.\(error)")
        }
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
        var description = try asked.requestContext(asked.script == true ? .script : .http)
        description.verdict = try asked.verdict?.verdict()
        let jar = try jar(in: context)
        let grant = context.caller.grant
        let now = now()
        let report = try await blocking { [description] in
            var explanation = Explanation(description, jar: jar.name, policy: jar.policy, now: now)
            try explanation.add(jar)
            // Other jars are reported only to callers who may see them.
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
