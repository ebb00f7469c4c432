import CookieModel
import RequestDecoration
import SessionClient
import SessionOperations

/// A jar of a service behind `crumb curl`. The service decorates each request, stores the cookies of the responses, and
/// renews tokens.
final class RemoteCurlJar: CurlJar {
    /// How many times a request is signed in again: with the stored token, with a renewed one, and after a new login.
    private static let signInLimit = 3
    /// The fields that present a token.
    private static let credentialFields: Set = ["authorization", "dpop"]

    private let jar: RemoteJar
    private let plan: CurlPlan
    private let console: Console
    private let hasLoginRules: Bool
    /// Damaged header fields that were reported; each is reported once.
    private var reportedFields: Set<String> = []
    /// Whether the service is known to store cookies in the jar.
    private var maySend = false
    /// When the request of this hop was sent.
    private var sent = Timestamp.distantPast
    /// Whether the token of this hop has a proof, in which its server may want a nonce.
    private var mayWantNonce = false
    /// The service's answer to a response, until its decisions are reported.
    private var received: (block: ResponseHead, answer: ResponseDecisions)?
    /// The last response that says "not signed in" or asks for a nonce, and its URL.
    private var rejection: (document: ResponseDocument, url: RequestURL)?
    /// The fields that present the renewed token, for the request that was rejected.
    private var credential: (fields: [HeaderFieldReport], url: RequestURL)?
    private var signInCount = 0
    private(set) var failure: (any Error)?
    private(set) var refusal: RepetitionRefusal?

    init(_ jar: RemoteJar, _ plan: CurlPlan, _ console: Console) throws {
        self.jar = jar
        self.plan = plan
        self.console = console
        let rules = try jar.ifCreated { try jar.service.answer(to: .loginRules(of: jar.name)) }?.rules
        if rules == nil { console.noteMissingJar(jar.name, similarTo: jar.service.jarNames(similarTo: jar.name)) }
        hasLoginRules = !plan.signsIn && rules?.isEmpty == false
    }

    var mayRepeatRequests: Bool { hasLoginRules }

    /// Whether nothing is left to try.
    private var isOver: Bool { signInCount >= RemoteCurlJar.signInLimit }

    func decoration(of hop: RedirectChain, isRepeated: Bool) throws -> CurlDecoration {
        if isRepeated { try renew() }
        try checkThatCookiesCanBeStored(after: hop)
        let answer = try jar.ifCreated { try jar.service.answer(to: .decorate(document(of: hop), in: jar.name)) }
        sent = console.now
        reportDamage(answer)
        var decoration = CurlDecoration(cookies: answer?.included ?? [])
        decoration.add(cookieString: answer?.cookieString ?? [])
        let renewed = credential.flatMap { $0.url == hop.context.url && !hop.hasLeftOrigin ? $0.fields : nil }
        credential = nil
        var presented: [HeaderFieldReport] = []
        for field in answer?.fields ?? [] where field.name != "cookie" {
            if hasLoginRules, RemoteCurlJar.credentialFields.contains(field.name.lowercased()) {
                presented.append(field)
            } else {
                decoration.fields.append(field.name)
                decoration.add(field.name, field.octets.bytes)
            }
        }
        presented = renewed ?? presented
        for field in presented { decoration.add(field.name, field.octets.bytes) }
        mayWantNonce = presented.count > 1 && !isRepeated && plan.canRepeatBody(in: hop)
        decoration.mayBeRepeated = mayWantNonce || hasLoginRules && !isOver
        return decoration
    }

    /// Lets the service receive an empty response before the first request that may act, such as a login: its cookies
    /// would be lost if the access token may not write to the jar.
    private func checkThatCookiesCanBeStored(after hop: RedirectChain) throws {
        guard !maySend, !hop.context.hasSafeMethod else { return }
        let empty = ResponseDocument(
            url: hop.context.url.description, status: 200, headers: [], RequestDetails(hop.context), sent: nil)
        _ = try jar.ifCreated { try jar.service.answer(to: .receive(empty, in: jar.name)) }
        maySend = true
    }

    /// The request of a hop, without the values of the caller's own fields other than cookies.
    private func document(of hop: RedirectChain) -> DecorateDocument {
        var names = plan.givenFields
        // The user's credentials take the place of a token, and a token goes to the first origin only.
        if plan.signsIn || hop.hasLeftOrigin { names.formUnion(RemoteCurlJar.credentialFields) }
        let headers =
            plan.cookies(for: hop).map { HeaderFieldDocument(name: "cookie", value: Octets($0)) }
            + names.subtracting(["cookie"]).sorted().map { HeaderFieldDocument(name: $0, value: "") }
        return DecorateDocument(
            url: hop.context.url.description, RequestDetails(hop.context), headers: headers.isEmpty ? nil : headers)
    }

    private func reportDamage(_ answer: DecorationReport?) {
        for cookie in answer?.excluded.compactMap(\.cookie) ?? [] { console.error(cookie.unreadableLine) }
        for field in answer?.damagedFields ?? [] where reportedFields.insert(field.damageLine).inserted {
            console.error(field.damageLine)
        }
    }

    func repetition(after block: ResponseHead, to hop: RedirectChain) throws -> CurlHopRun.Repetition? {
        let document = document(of: block, to: hop)
        (rejection, refusal) = (nil, nil)
        if mayWantNonce, block.wantsProofNonce {
            rejection = (document, hop.context.url)
            return .nonceWanted
        }
        guard let login = try answer(to: block, document).login, !isOver else { return nil }
        rejection = (document, hop.context.url)
        refusal = RepetitionRefusal(mayRepeat: login.mayRepeat, isBodyRepeatable: plan.canRepeatBody(in: hop))
        return refusal == nil ? .notSignedIn(sign: login.sign) : nil
    }

    func receive(_ block: ResponseHead, to hop: RedirectChain) throws -> [StorageDecisionReport] {
        let answer = try answer(to: block, document(of: block, to: hop))
        received = nil
        if hasLoginRules, isOver, let login = answer.login { failure = CommandFailure.loginRequired(login) }
        return answer.decisions
    }

    /// The service's answer to a response; it is asked once.
    private func answer(to block: ResponseHead, _ document: ResponseDocument) throws -> ResponseDecisions {
        if let received, received.block == block { return received.answer }
        // Without cookies and login rules, a response says nothing to the service.
        guard !block.setCookie.isEmpty || hasLoginRules && block.status >= 200 else {
            return ResponseDecisions(decisions: [])
        }
        let answer: ResponseDecisions
        if block.setCookie.isEmpty {
            answer =
                try jar.ifCreated { try jar.service.answer(to: .receive(document, in: jar.name)) }
                ?? ResponseDecisions(decisions: [])
        } else {
            answer = try jar.store(.receive(document, in: jar.name))
        }
        received = (block, answer)
        return answer
    }

    private func document(of block: ResponseHead, to hop: RedirectChain) -> ResponseDocument {
        ResponseDocument(block, to: hop.context.url.description, RequestDetails(hop.context), sent: sent)
    }

    func signIn() throws {
        failure = nil
        signInCount += 1
        try renew()
    }

    /// Has the service renew the token after the last refusal.
    private func renew() throws {
        guard let rejection else { return }
        (self.rejection, refusal) = (nil, nil)
        let answer: DecorationReport = try jar.service.answer(to: .renew(rejection.document, in: jar.name))
        let fields = answer.fields.filter { RemoteCurlJar.credentialFields.contains($0.name.lowercased()) }
        credential = fields.isEmpty ? nil : (fields, rejection.url)
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
