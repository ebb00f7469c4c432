import CookieModel
import RequestDecoration
import SessionClient
import SessionOperations

/// A jar of a service behind `crumb curl`. The service decorates each request, stores the cookies of the responses, and
/// renews tokens.
final class RemoteCurlJar: CurlJar {
    private let jar: RemoteJar
    private let plan: CurlPlan
    private let console: Console
    private let hasLoginRules: Bool
    /// Damaged header fields that were reported; each is reported once.
    private var reportedFields: Set<String> = []
    /// Whether the service is known to store cookies in the jar.
    private var maySend = false
    /// Signs in with the stored token, with a renewed one, and after a new login.
    private var state: ServiceJarState
    /// Whether the server of this hop may want a nonce in the proof of the token, and the request can be made again with it.
    private var mayWantNonce = false
    /// The service's answer to a response, until its decisions are reported.
    private var received: (block: ResponseHead, answer: ResponseDecisions)?
    private(set) var failure: (any Error)?
    private(set) var refusal: RepetitionRefusal?

    init(_ jar: RemoteJar, _ plan: CurlPlan, _ console: Console) throws {
        self.jar = jar
        self.plan = plan
        self.console = console
        state = ServiceJarState(jar.name, signInLimit: 3, details: RequestDetails.init)
        let rules = try jar.ifCreated { try jar.service.answer(to: .loginRules(of: jar.name)) }?.rules
        if rules == nil { console.noteMissingJar(jar.name, similarTo: jar.service.jarNames(similarTo: jar.name)) }
        hasLoginRules = !plan.signsIn && rules?.isEmpty == false
    }

    var mayRepeatRequests: Bool { hasLoginRules }

    func decoration(of hop: RedirectChain, isRepeated: Bool) throws -> CurlDecoration {
        if isRepeated { try renew(by: state.renewal) }
        try checkThatCookiesCanBeStored(after: hop)
        // The user's credentials take the place of a token.
        let names = plan.signsIn ? plan.givenFields.union(HeaderFieldReport.tokenFieldNames) : plan.givenFields
        let request = state.decoration(
            of: hop, at: console.now, cookies: plan.cookies(for: hop).map { Octets($0) }, settingFields: names)
        let answer = try jar.ifCreated { try jar.service.answer(to: request) }
        let fields = state.fields(answer, for: hop)
        reportDamage(answer)
        var decoration = CurlDecoration(cookies: answer?.included ?? [])
        decoration.add(cookieString: answer?.cookieString ?? [])
        for field in fields {
            if !hasLoginRules || !field.presentsToken { decoration.fields.append(field.name) }
            decoration.add(field.name, field.octets.bytes)
        }
        mayWantNonce = hasLoginRules && state.hasProof && !isRepeated && plan.canRepeatBody(in: hop)
        decoration.mayBeRepeated = mayWantNonce || hasLoginRules && !state.isOver
        return decoration
    }

    /// Lets the service receive an empty response before the first request that may act, such as a login: its cookies
    /// would be lost if the access token may not write to the jar.
    private func checkThatCookiesCanBeStored(after hop: RedirectChain) throws {
        guard !maySend, !hop.context.hasSafeMethod else { return }
        let request = state.receipt(of: ResponseHead(status: 200), to: hop)
        _ = try jar.ifCreated { try jar.service.answer(to: request) }
        maySend = true
    }

    private func reportDamage(_ answer: DecorationReport?) {
        for cookie in answer?.excluded.compactMap(\.cookie) ?? [] { console.error(cookie.unreadableLine) }
        for field in answer?.damagedFields ?? [] where reportedFields.insert(field.damageLine).inserted {
            console.error(field.damageLine)
        }
    }

    func repetition(after block: ResponseHead, to hop: RedirectChain) throws -> CurlHopRun.Repetition? {
        refusal = nil
        if mayWantNonce, block.wantsProofNonce {
            state.note(block, to: hop, isRejection: true)
            return .nonceWanted
        }
        guard let login = try answer(to: block, hop).login, !state.isOver else { return nil }
        state.note(block, to: hop, isRejection: true)
        refusal = RepetitionRefusal(mayRepeat: login.mayRepeat, isBodyRepeatable: plan.canRepeatBody(in: hop))
        return refusal == nil ? .notSignedIn(sign: login.sign) : nil
    }

    func receive(_ block: ResponseHead, to hop: RedirectChain) throws -> [StorageDecisionReport] {
        let answer = try answer(to: block, hop)
        received = nil
        if hasLoginRules, state.isOver, let login = answer.login { failure = CommandFailure.loginRequired(login) }
        return answer.decisions
    }

    /// The service's answer to a response; it is asked once.
    private func answer(to block: ResponseHead, _ hop: RedirectChain) throws -> ResponseDecisions {
        if let received, received.block == block { return received.answer }
        // Without cookies and login rules, a response says nothing to the service.
        guard !block.setCookie.isEmpty || hasLoginRules && block.status >= 200 else {
            return ResponseDecisions(decisions: [])
        }
        let request = state.receipt(of: block, to: hop)
        let answer =
            block.setCookie.isEmpty
            ? try jar.ifCreated { try jar.service.answer(to: request) } ?? ResponseDecisions(decisions: [])
            : try jar.store(request)
        received = (block, answer)
        return answer
    }

    func signIn() throws {
        failure = nil
        try renew(by: state.beginSignIn())
    }

    /// Has the service renew the token after the last refusal.
    private func renew(by request: SessionRequest<DecorationReport>?) throws {
        refusal = nil
        guard let request else { return }
        state.renewed(try jar.service.answer(to: request))
    }
}

extension CommandFailure {
    /// The site says "not signed in" whatever the service tries.
    fileprivate static func loginRequired(_ login: LoginChallengeReport) -> CommandFailure {
        CommandFailure(
            .loginRequired,
            "\(login.profile): the site refuses the renewed token too. Log in again: crumb token login"
                + (login.loginURL.map { " (the site's own page is \($0))" } ?? ""))
    }
}
