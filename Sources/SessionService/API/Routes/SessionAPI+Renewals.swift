import CookieModel
import HTTPTypes
import Hummingbird
import OAuth2
import RequestDecoration
import SessionOperations
import SessionStore

extension SessionAPI {
    var renewalRoutes: [ServiceRoute] {
        [ServiceRoute(.post, "/v1/jars/{jar}/renewals", .jar(.secrets), and: [.write], use: renew)]
    }

    /// What a response says by a jar's rules, where it says "not signed in".
    func challenge(
        in document: ResponseDocument, by rules: [LoginRuleMemory.Rule], of jar: CookieJar
    ) throws -> (name: String, challenge: LoginChallenge)? {
        let url = try document.requestContext().url
        guard let found = tokens.fallback(rules.map(\.rule)).challenge(in: try document.head(), from: url),
            let name = rules.first(where: { $0.rule == found.rule })?.name
        else { return nil }
        return (name, found)
    }

    /// What there is to do about a challenge.
    func report(
        on found: (name: String, challenge: LoginChallenge), of jar: CookieJar, sent: Timestamp?, now: Timestamp
    ) throws -> LoginChallengeReport {
        LoginChallengeReport(
            found.challenge, rule: found.name, action: try action(on: found, of: jar, sent: sent, now: now))
    }

    private func action(
        on found: (name: String, challenge: LoginChallenge), of jar: CookieJar, sent: Timestamp?, now: Timestamp
    ) throws -> LoginChallengeReport.Action {
        let rule = found.challenge.rule
        guard found.challenge.sign != .stepUp else { return .logIn }
        if rule.delivery != .authorization, renewals.isOlder(sent, than: found.name, of: jar.name) {
            return .sendAgain
        }
        if renewals.isFruitless(sent, found.name, of: jar.name, now: now) { return .logIn }
        do throws(SessionStoreError) {
            let stored = try tokens.store.get(rule.profile)
            let lives = stored.tokens.validity(at: now.microseconds) != .expired
            return lives || stored.isRefreshable(at: now) ? .renew : .logIn
        } catch {
            guard error.code == .tokenNotFound else { throw error }
            return .logIn
        }
    }

    /// Signs a request in again whose response says "not signed in": gets a token by the jar's rule, delivers it, and
    /// answers what the request is to be sent once more with.
    private func renew(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let asked = try await request.document(ResponseDocument.self, in: context)
        let jar = try jar(in: context)
        let description = try asked.requestContext()
        let head = try asked.head()
        let sent = try asked.sendTime()
        guard let (rule, challenge) = try challenge(in: asked, by: try loginRules.rules(of: jar), of: jar) else {
            throw ServiceProblem(
                .unprocessableContent, "login-not-needed", "no rule of the jar takes this response for 'not signed in'")
        }
        guard !renewals.isFruitless(sent, rule, of: jar.name, now: now()) else {
            var problem = ServiceProblem(
                .conflict, "login-required",
                "\(challenge.rule.profile): the site refuses what was renewed just now; only a new login helps")
            problem.loginURL = challenge.loginURL
            throw problem
        }
        // Of many requests that were under way together, the first has done it for all.
        var authorization: AuthorizationRule?
        if challenge.rule.delivery == .authorization || !renewals.isOlder(sent, than: rule, of: jar.name) {
            let answer = try await tokens.fallback([challenge.rule]).answer(challenge, in: jar, now: now())
            if case .authorization(let rule) = answer { authorization = rule }
            renewals.note(rule, of: jar.name, at: now())
        }
        let credential = try credential(by: authorization, for: description, nonce: head.proofNonce, of: challenge)
        let retrieval = try jar.retrieve(for: description, now: now())
        context.audit(SecretAccess(.cookieField, jar: jar.name, site: description.url.host.description))
        if !credential.isEmpty {
            context.audit(
                SecretAccess(
                    .accessToken, jar: jar.name, site: description.url.host.description,
                    names: [challenge.rule.profile]))
        }
        let fields = try fields(of: jar, for: description, own: [], in: context)
        return .json(
            text: DecorationText(retrieval, own: [], fields: fields, credential: credential, rule: rule).bytes)
    }

    /// The header fields that present the token with the request.
    private func credential(
        by rule: AuthorizationRule?, for description: CookieModel.RequestContext, nonce: String?,
        of challenge: LoginChallenge
    ) throws -> [HTTPField] {
        guard let rule, rule.scope.contains(description.url), let credential = try rule.credential(description.url)
        else { return [] }
        var generator = SystemRandomNumberGenerator()
        return try credential.exposedFields(
            method: description.method, url: description.url.withoutQuery.description, nonce: nonce,
            now: now().microseconds, using: &generator) ?? []
    }
}
