import CookieModel
import HTTPTypes
import Hummingbird
import OAuth2
import RequestDecoration
import SessionOperations
import SessionStore

extension SessionAPI {
    var renewalRoutes: [ServiceRoute] {
        [ServiceRoute(.renew, use: renew)]
    }

    /// Returns the challenge in a response by a jar's rules; `nil` if the response does not say "not signed in".
    private func challenge(
        in document: ResponseDocument, by rules: [LoginRuleMemory.Rule]
    ) throws -> (name: String, challenge: LoginChallenge)? {
        let url = try document.requestContext().url
        guard let found = tokens.access.fallback(rules.map(\.rule)).challenge(in: try document.head(), from: url),
            let name = rules.first(where: { $0.rule == found.rule })?.name
        else { return nil }
        return (name, found)
    }

    /// Returns the challenge in a response whose cookies are not stored yet, and notes whether the request carried the
    /// renewed token.
    func notedChallenge(
        in document: ResponseDocument, by rules: [LoginRuleMemory.Rule], of jar: CookieJar, now: Timestamp
    ) async throws -> (name: String, challenge: LoginChallenge)? {
        guard !rules.isEmpty, let found = try challenge(in: document, by: rules) else { return nil }
        let (context, sent) = (try document.requestContext(), try document.sendTime())
        try await blocking { renewals.note(found.challenge, to: context, sent: sent, found.name, of: jar, now: now) }
        return found
    }

    /// The next step after a challenge to a request.
    func report(
        on found: (name: String, challenge: LoginChallenge), to request: CookieModel.RequestContext, of jar: CookieJar,
        sent: Timestamp?, now: Timestamp
    ) async throws -> LoginChallengeReport {
        let mayRepeat = found.challenge.repetitionRefusal(of: request) == nil
        let action = try await blocking { try self.action(on: found, to: request, of: jar, sent: sent, now: now) }
        return LoginChallengeReport(
            found.challenge, rule: found.name, action: action == .sendAgain && !mayRepeat ? .none : action,
            mayRepeat: mayRepeat)
    }

    /// Call it on a thread that may block.
    private func action(
        on found: (name: String, challenge: LoginChallenge), to request: CookieModel.RequestContext, of jar: CookieJar,
        sent: Timestamp?, now: Timestamp
    ) throws -> LoginChallengeReport.Action {
        let rule = found.challenge.rule
        guard found.challenge.sign != .stepUp else { return .logIn }
        switch try renewals.step(after: found.challenge, to: request, sent: sent, found.name, of: jar, now: now) {
        case .sendAgain: if rule.delivery != .authorization { return .sendAgain }
        case .logIn: return .logIn
        case .renew: break
        }
        do throws(SessionStoreError) {
            let stored = try tokens.access.store.get(rule.profile)
            let lives = stored.tokens.validity(at: now) != .expired
            return lives || stored.isRefreshable(at: now) ? .renew : .logIn
        } catch {
            guard error.code == .tokenNotFound else { throw error }
            return .logIn
        }
    }

    /// Signs a request in again whose response says "not signed in": gets a token by the jar's rule, delivers it, and
    /// answers with the fields to use when the request is sent again.
    private func renew(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let asked = try await request.document(ResponseDocument.self, in: context)
        let jar = try jar(in: context)
        let description = try asked.requestContext()
        let head = try asked.head()
        let sent = try asked.sendTime()
        guard let (rule, challenge) = try challenge(in: asked, by: try loginRules.rules(of: jar)) else {
            throw ServiceFailure(
                .loginNotNeeded, "by no login rule of the jar does this response mean 'not signed in'")
        }
        var authorization: AuthorizationRule?
        // A server that wants its nonce in the proof does not refuse the token.
        let step: RenewalMemory.Step =
            head.wantsProofNonce
            ? .sendAgain
            : try await blocking {
                try renewals.step(after: challenge, to: description, sent: sent, rule, of: jar, now: now())
            }
        switch step {
        case .logIn: throw challenge.stillRefused
        case .sendAgain:
            // Of many requests that were under way together, the first has done it for all.
            var recovery = LoginRecovery(tokens.access.fallback([challenge.rule]))
            authorization = await recovery.present(to: challenge.url, now: now())
        case .renew(let begun):
            var recovery = begun ?? LoginRecovery(tokens.access.fallback([challenge.rule]))
            if case .authorization(let rule) = try await recovery.answer(challenge, in: jar, now: now()) {
                authorization = rule
            }
            renewals.note(recovery, rule, of: jar.name, at: now())
        }
        let credential = try await credential(by: authorization, for: description, nonce: head.proofNonce)
        var decoration = try decoration(of: description, in: jar, context)
        decoration.credential = credential
        if !credential.isEmpty { audit(challenge.rule.profile, of: jar, for: description, context) }
        // A nonce is missing only in a request that was not acted on: the status is 401.
        let mayRepeat = challenge.repetitionRefusal(of: description) == nil
        return .json(text: DecorationReport.fastJSON(decoration, renewedBy: rule, mayRepeat: mayRepeat))
    }

    /// Returns the header fields that present a token with a request before its site asks for one, according to a login
    /// rule. They are empty for a caller without the right to renew tokens, and for a request that is signed in
    /// already.
    func presentedCredential(
        in jar: CookieJar, for asked: DecorateDocument, _ description: CookieModel.RequestContext,
        _ context: ServiceRequestContext
    ) async throws -> [HTTPField] {
        let rules = try loginRules.rules(of: jar)
        let isSignedIn = (asked.members.headers ?? []).contains { $0.name.lowercased() == "authorization" }
        guard !rules.isEmpty, !isSignedIn, context.caller.grant.verbs.contains(.write) else { return [] }
        var recovery = LoginRecovery(tokens.access.fallback(rules.map(\.rule)))
        let rule = await recovery.present(to: description.url, now: now())
        let fields = try await credential(by: rule, for: description, nonce: nil)
        if let profile = recovery.presentedProfile, !fields.isEmpty {
            audit(profile, of: jar, for: description, context)
        }
        return fields
    }

    /// Notes that an access token was given away.
    private func audit(
        _ profile: String, of jar: CookieJar, for description: CookieModel.RequestContext,
        _ context: ServiceRequestContext
    ) {
        context.audit(
            SecretAccess(
                .accessToken, jar: jar.name, site: description.url.host.description, names: [profile]))
    }

    /// The header fields that present the token with the request.
    private func credential(
        by rule: AuthorizationRule?, for description: CookieModel.RequestContext, nonce: String?
    ) async throws -> [HTTPField] {
        guard let rule, rule.scope.contains(description.url),
            let credential = try await blocking({ try rule.credential(description.url) })
        else { return [] }
        var generator = SystemRandomNumberGenerator()
        return try credential.exposedFields(
            method: description.method, url: description.url.withoutQuery.description, nonce: nonce,
            now: now(), using: &generator) ?? []
    }
}
