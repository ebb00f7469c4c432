import CookieModel
import HTTPTypes
import OAuth2
import RequestDecoration
import SessionOperations
import SessionStore

/// The jar behind one `crumb curl`, in a file or of a service: it decorates each hop, and stores the cookies of each
/// response.
protocol CurlJar: AnyObject {
    /// Returns the cookies and fields to send with a hop.
    ///
    /// - Parameter isRepeated: whether the hop was made before, without the nonce that its server requires.
    func decoration(of hop: RedirectChain, isRepeated: Bool) throws -> CurlDecoration

    /// Whether the response that a header block begins leads to the same request once more. If it does not although the
    /// response says "not signed in", ``refusal`` is the reason.
    func repetition(after block: ResponseHead, to hop: RedirectChain) throws -> CurlHopRun.Repetition?

    /// Stores the cookies of a response.
    func receive(_ block: ResponseHead, to hop: RedirectChain) throws -> [StorageDecisionReport]

    /// Gets a token after the last response that says "not signed in", and delivers it.
    func signIn() throws

    /// Whether a request may be repeated, which needs its body again.
    var mayRepeatRequests: Bool { get }

    /// Why the last response says "not signed in" and stays the answer; `nil` if it does not.
    var failure: (any Error)? { get }

    /// Why the request is not sent once more although the last response says "not signed in"; `nil` if that is not so.
    /// The session is renewed for the next request anyway.
    var refusal: RepetitionRefusal? { get }
}

/// The cookies and fields that a jar adds to one hop, in the form that curl takes.
struct CurlDecoration {
    /// The names of the jar's cookies in the Cookie field.
    var cookies: [String] = []
    /// The names of the jar's header fields.
    var fields: [String] = []
    /// The lines of a configuration file that have curl send all of it.
    var configuration: [UInt8] = []
    /// Whether a response may lead to the same request once more, so that its output waits.
    var mayBeRepeated = false

    /// Adds a header field.
    mutating func add(_ name: String, _ value: [UInt8]) {
        let line = Array("\(name): ".utf8) + value
        configuration += CurlOption(name: "header", value: line).configurationLine
    }

    /// Adds the Cookie field; nothing if it is empty.
    mutating func add(cookieString: Octets) {
        if !cookieString.isEmpty { add("Cookie", cookieString.bytes) }
    }
}

/// A jar of a database file behind `crumb curl`.
final class LocalCurlJar: CurlJar {
    private let target: LazyJar
    private let plan: CurlPlan
    private let console: Console
    /// The jar's header fields that can be read.
    private let fields: [StoredHeaderField]
    /// Gets the session back in if a response says "not signed in"; `nil` if no rule of the jar is for this command.
    private var recovery: LoginRecovery?
    private var authorization: AuthorizationRule?
    private let nonces = DPoPNonces()
    /// Whether the token of the current hop has a proof, for which its server may require a nonce.
    private var mayWantNonce = false
    private var challenge: LoginChallenge?
    private(set) var failure: (any Error)?
    private(set) var refusal: RepetitionRefusal?

    init(_ target: LazyJar, _ plan: CurlPlan, _ console: Console) throws {
        self.target = target
        self.plan = plan
        self.console = console
        recovery = try target.jar.flatMap { try LocalCurlJar.recovery($0, plan, clock: console.clock) }
        let fields = try target.jar?.cachedHeaderFields() ?? []
        for field in fields where field.value == nil {
            console.error(HeaderFieldReport(field, showingValue: false).damageLine)
        }
        self.fields = fields.filter { $0.value != nil }
    }

    /// - Returns: `nil` if the jar has no rules, or the user signs the request in.
    private static func recovery(
        _ jar: CookieJar, _ plan: CurlPlan, clock: @escaping CommandClock
    ) throws -> LoginRecovery? {
        let rules = try jar.loginRules().map(\.rule)
        // A rule that was added a moment ago, too late for this program to be replaced, is for the next request.
        guard !rules.isEmpty, !plan.signsIn, Network.current != nil else { return nil }
        let access = try TokenAccess(jar.tokens, refreshTimeout: RefreshOptions.usual(), clock: clock)
        return LoginRecovery(access.fallback(rules))
    }

    var mayRepeatRequests: Bool { recovery != nil }

    func decoration(of hop: RedirectChain, isRepeated: Bool) throws -> CurlDecoration {
        if isRepeated { failure = nil }
        let retrieval = try target.jar?.retrieve(for: hop.context, now: console.now) ?? Retrieval()
        for exclusion in retrieval.excluded where exclusion.reasons.contains(.unreadable) {
            console.error("\(exclusion.cookie.label): \(ExclusionReason.unreadable.explanation)")
        }
        let jar = Decoration(
            retrieval, own: plan.cookies(for: hop).map { Octets($0) },
            fields: FieldSelection(fields, for: hop.context.url, isSetByCaller: plan.givenFields.contains))
        var decoration = CurlDecoration(
            cookies: jar.cookies.cookies.map(\.name.description), fields: jar.fields.sent.map(\.name))
        decoration.add(cookieString: jar.cookies.octets)
        for sent in jar.fields.sent { decoration.add(sent.name, sent.value.bytes) }
        try addCredential(to: &decoration, hop, isRepeated: isRepeated)
        return decoration
    }

    /// Adds the fields that present a token, as the login rules require.
    private func addCredential(to decoration: inout CurlDecoration, _ hop: RedirectChain, isRepeated: Bool) throws {
        let rules = [authorization, try presentedRule(in: hop)].compactMap(\.self)
        var fields: [HTTPField] = []
        for rule in rules where fields.isEmpty && !hop.hasLeftOrigin {
            let presented = try rule.fields(
                for: hop.context, method: plan.sentMethod(for: hop), nonces: nonces, now: console.now)
            fields = (try? presented.get()) ?? []
        }
        for field in fields { decoration.add(field.name.rawName, field.withUnsafeBytesOfValue { Array($0) }) }
        mayWantNonce = fields.count > 1 && !isRepeated && plan.canRepeatBody(in: hop)
        decoration.mayBeRepeated = mayWantNonce || recovery?.isOver == false
    }

    /// The rule that presents a token in a hop before its site asks for one.
    private func presentedRule(in hop: RedirectChain) throws -> AuthorizationRule? {
        guard !hop.hasLeftOrigin else { return nil }
        let (url, now) = (hop.context.url, console.now)
        return try recover { await $0.present(to: url, now: now) }
    }

    /// Takes a step of the recovery; `nil` without a recovery.
    private func recover<Answer: Sendable>(
        _ step: @escaping @Sendable (inout LoginRecovery) async throws -> Answer?
    ) throws -> Answer? {
        guard let before = recovery else { return nil }
        let (after, answer) = try Blocking.run {
            var recovery = before
            let answer = try await step(&recovery)
            return (recovery, answer)
        }
        recovery = after
        return answer
    }

    func repetition(after block: ResponseHead, to hop: RedirectChain) -> CurlHopRun.Repetition? {
        (challenge, refusal) = (nil, nil)
        if mayWantNonce, block.wantsProofNonce { return .nonceWanted }
        guard let challenge = recovery?.challenge(in: block, from: hop.context.url) else { return nil }
        self.challenge = challenge
        refusal = challenge.repetitionRefusal(of: hop.context, isBodyRepeatable: plan.canRepeatBody(in: hop))
        return refusal == nil ? .notSignedIn(sign: challenge.sign.rawValue) : nil
    }

    func receive(_ block: ResponseHead, to hop: RedirectChain) throws -> [StorageDecisionReport] {
        failure = failure ?? recovery?.failure(in: block, from: hop.context.url)
        if let nonce = block.proofNonce { nonces.remember(nonce, for: hop.context.url.origin) }
        let response = ReceivedResponse(context: hop.context, status: block.status, setCookie: block.setCookie)
        return try target.receive(response, now: console.now).map { StorageDecisionReport($0) }
    }

    func signIn() throws {
        failure = nil
        guard let challenge, let jar = target.jar else { return }
        (self.challenge, refusal) = (nil, nil)
        let now = console.now
        guard case .authorization(let rule) = try recover({ try await $0.answer(challenge, in: jar, now: now) }) else {
            authorization = nil
            return
        }
        authorization = rule
    }
}
