import CookieModel
import HTTPMessages
import OAuth2
import RequestDecoration
import SessionStore
import Synchronization
import WebPrimitives

/// Signs the user in again for the requests of one gateway, by the login rules of its jar.
///
/// Requests share a login. If other requests need a login by the same rule while one is in progress, they wait for it.
/// Requests that were sent before it ended are sent once more with its result.
actor GatewayLogin {
    /// The result of a login, and the remaining steps.
    struct Outcome: Sendable {
        let recovery: LoginRecovery
        let answer: LoginFallback.Answer
    }

    /// The state of the cookies that a "not signed in" response sets.
    enum Storage {
        /// They must be stored.
        case due
        /// They were stored.
        case done(CookieChanges)
        /// They must not be stored, because they are older than the login.
        case omitted
    }

    let jar: CookieJar
    private let make: @Sendable ([LoginRule]) -> LoginFallback
    /// The nonces that servers require in proofs.
    nonisolated let nonces = DPoPNonces()
    nonisolated let spools: BodySpool.Budget
    /// The last known rules.
    private nonisolated let known = Mutex<Known?>(nil)
    private typealias Known = (definitions: [String], stored: StoredLoginRules, fallback: LoginFallback)
    /// How long a failed login is not tried again, in seconds.
    private static let pause: Int64 = 30
    private var running: [LoginRule: Task<Outcome, any Error>] = [:]
    /// The error of the last failed login by a rule, and when it is tried again. A login by the user changes the
    /// token's generation and permits another attempt at once.
    private var failed: [LoginRule: (error: any Error, end: Timestamp, generation: Int64?)] = [:]
    /// The last login by each rule, and the number of logins.
    private var last: [LoginRule: (number: Int, outcome: Outcome)] = [:]

    /// Creates the logins of a jar.
    ///
    /// - Parameters:
    ///   - spools: Limits how many octets of bodies are kept at the same time.
    ///   - make: Makes the fallback for the jar's rules.
    init(
        _ jar: CookieJar, keepingBodiesIn spools: BodySpool.Budget,
        making make: @escaping @Sendable ([LoginRule]) -> LoginFallback
    ) {
        self.jar = jar
        self.spools = spools
        self.make = make
    }

    /// The fallback for a URL; `nil` if no rule applies to it.
    nonisolated func fallback(for url: RequestURL) async throws(GatewayFailure) -> LoginFallback? {
        do {
            let rows = try await jar.currentLoginRuleDefinitions()
            guard !rows.isEmpty else { return nil }
            let definitions = rows.map { "\($0.name) \($0.definition)" }
            let (stored, fallback): (StoredLoginRules, LoginFallback)
            if let former = known.withLock({ $0?.definitions == definitions ? $0 : nil }) {
                (stored, fallback) = (former.stored, former.fallback)
            } else {
                stored = StoredLoginRules(rows)
                fallback = make(stored.rules.map(\.rule))
                known.withLock { $0 = (definitions, stored, fallback) }
            }
            // Otherwise the site's session would end without a visible reason.
            if let damaged = stored.damaged(for: url) { throw damaged.error }
            return fallback.isConcerned(with: url) ? fallback : nil
        } catch {
            throw GatewayFailure(
                .proxyInternalError, 500,
                "the login rules of the jar '\(jar.name)' cannot be read: \(error.commandDescription)",
                nextStep: "List them with 'crumb token fallback list'.")
        }
    }

    private func generation(of rule: LoginRule) async -> Int64? {
        try? await jar.tokens.reading { try $0.get(rule.profile).generation }
    }

    /// The number of logins by each rule.
    var counts: [LoginRule: Int] { last.mapValues(\.number) }

    /// Answers a challenge to a request.
    ///
    /// The cookies of the response are stored before the login. Responses to requests that were sent before a login must
    /// not undo it, so their cookies are not stored.
    ///
    /// - Parameters:
    ///   - recovery: The recovery of the request.
    ///   - counts: The numbers of logins before the cookies of the request were chosen.
    ///   - store: Stores the cookies of the response.
    /// - Throws: if the cookies cannot be stored.
    func answer(
        _ challenge: LoginChallenge, by recovery: LoginRecovery, after counts: [LoginRule: Int],
        storing store: @escaping @Sendable () async throws -> CookieChanges, now: @escaping @Sendable () -> Timestamp
    ) async throws -> (result: Result<Outcome, any Error>, storage: Storage) {
        let rule = challenge.rule
        let generation = failed[rule] == nil ? nil : await generation(of: rule)
        if let last = last[rule], last.number > counts[rule] ?? 0 { return (.success(last.outcome), .omitted) }
        // Otherwise each image of a page would try again.
        if let failure = failed[rule], failure.generation == generation, now() < failure.end,
            now() >= failure.end.advanced(bySeconds: -GatewayLogin.pause)
        {
            return (.failure(failure.error), .due)
        }
        if let task = running[rule] {
            let result = await task.result
            return (result, (try? result.get()) == nil ? .due : .omitted)
        }
        let storing = Task.detached { try await store() }
        // A detached task, because a fetched token must be stored even if the gateway stops.
        let task = Task.detached { [jar] in
            _ = try await storing.value
            var recovery = recovery
            let answer = try await recovery.answer(challenge, in: jar, now: now())
            return Outcome(recovery: recovery, answer: answer)
        }
        running[rule] = task
        defer { running[rule] = nil }
        let changes = try await storing.value
        let result = await task.result
        switch result {
        case .success(let outcome):
            last[rule] = ((last[rule]?.number ?? 0) + 1, outcome)
            failed[rule] = nil
        case .failure(let error):
            let generation = await self.generation(of: rule)
            failed[rule] = (error, now().advanced(bySeconds: GatewayLogin.pause), generation)
        }
        return (result, .done(changes))
    }
}

/// The steps that sign one request in, and its body, which may be sent more than once.
struct RequestLogin {
    /// How often a request is sent once more at most.
    private static let limit = 5

    /// The body of the request, kept for sending it again; `nil` if it has no body.
    let body: BodySpool?
    /// The name of the login: that of its tokens.
    let name: Octets
    private let login: GatewayLogin
    private let context: RequestContext
    private var recovery: LoginRecovery
    private var answer: AuthorizationRule?
    /// The numbers of logins before the cookies of the request were chosen: a login that ends after that is not in them.
    private var counts: [LoginRule: Int]
    private var repetitions = 0
    private var hasProof = false
    private var wantedNonce = false

    /// - Parameter counts: The numbers of logins before the decision.
    /// - Returns: `nil` if no rule applies to the request, the client signs it in itself, or the browser would not send
    ///   cookies of the class that a session has.
    init?(
        _ login: GatewayLogin, _ request: ForwardedRequest, _ decision: GatewayDecision, after counts: [LoginRule: Int]
    ) async throws(GatewayFailure) {
        guard let context = decision.context, decision.verdict?.classes.contains(.lax) != false,
            !request.head.has("authorization"), let fallback = try await login.fallback(for: request.url)
        else { return nil }
        self.login = login
        self.context = context
        self.counts = counts
        let rule = fallback.rules.first { $0.urlScope?.contains(request.url) == true }
        name = Octets(rule?.profile ?? "login")
        recovery = LoginRecovery(fallback)
        body = request.framing == .none ? nil : BodySpool(login.spools)
    }

    /// Begins an attempt to send the request, before the decision on it.
    mutating func begin() async {
        counts = await login.counts
    }

    /// Adds the fields that present a token, if the rule requires it.
    mutating func present(
        in decision: inout GatewayDecision, _ request: ForwardedRequest, now: Timestamp
    ) async throws(GatewayFailure) {
        hasProof = false
        guard let context = decision.context else { return }
        for rule in [answer, await recovery.present(to: request.url, now: now)].compactMap(\.self) {
            do {
                let result = try await login.jar.database.readingToEnd {
                    [method = request.method, nonces = login.nonces] in
                    try rule.fields(for: context, method: method, nonces: nonces, now: now)
                }
                guard case .success(let fields) = result else { continue }
                decision.decoration?.credential = fields
                hasProof = fields.count > 1
                return
            } catch {
                throw GatewayFailure(
                    .proxyInternalError, 500,
                    "the token for \(request.destination.description) cannot be read: \(error.commandDescription)",
                    nextStep: "Run 'crumb status' to see the state of the database.")
            }
        }
    }

    /// The gateway's next step for a request, after its response.
    enum Consequence {
        /// The client gets the response.
        case none
        /// The request is sent once more: it lacked the server's nonce, or the user is signed in again.
        case repetition(isSignedIn: Bool)
        /// The client gets a response that says "not signed in": the login failed, or the user is signed in again and
        /// the request must not be sent once more.
        case failure(LoginFailure, isSignedIn: Bool)
    }

    /// Signs the user in if a response says "not signed in".
    ///
    /// - Parameter store: Stores the cookies of the response. It is called only before a login.
    /// - Throws: if that fails.
    mutating func consequence(
        of response: ForwardedResponse, to request: ForwardedRequest,
        storing store: @escaping @Sendable () async throws -> CookieChanges, now: @escaping @Sendable () -> Timestamp
    ) async throws -> (consequence: Consequence, storage: GatewayLogin.Storage) {
        let head = response.responseHead
        if let nonce = head.proofNonce { login.nonces.remember(nonce, for: request.url.origin) }
        if hasProof, !wantedNonce, head.wantsProofNonce, await body?.isIncomplete != true {
            wantedNonce = true
            return (.repetition(isSignedIn: false), .due)
        }
        if let failure = recovery.failure(in: head, from: request.url) {
            return (.failure(LoginFailure(failure), isSignedIn: false), .due)
        }
        guard repetitions < RequestLogin.limit, let challenge = recovery.challenge(in: head, from: request.url)
        else { return (.none, .due) }
        repetitions += 1
        let (result, storage) = try await login.answer(
            challenge, by: recovery, after: counts, storing: store, now: now)
        switch result {
        case .failure(let error): return (.failure(LoginFailure(error), isSignedIn: false), storage)
        case .success(let outcome):
            recovery = outcome.recovery
            if case .authorization(let rule) = outcome.answer { answer = rule }
            // Meanwhile, more of the body may have arrived than there is room for.
            let isBodyRepeatable = await body?.isIncomplete != true
            guard let refusal = challenge.repetitionRefusal(of: context, isBodyRepeatable: isBodyRepeatable) else {
                return (.repetition(isSignedIn: true), storage)
            }
            return (.failure(LoginFailure(refusal, context), isSignedIn: true), storage)
        }
    }
}

/// The reason why a user could not be signed in again: a stable code, and a sentence with the next step. It contains no
/// token.
public struct LoginFailure: Sendable, Hashable, CustomStringConvertible {
    /// The code.
    public let code: String
    /// The sentence.
    public let description: String

    fileprivate init(_ error: any Error) {
        code =
            switch error {
            case let error as LoginFallbackError: error.code.rawValue
            case let error as TokenRefreshError: error.code.rawValue
            case let error as SessionStoreError: error.code.rawValue
            case let error as OAuth2Error: error.failureCode
            default: "login-failed"
            }
        description = error.commandDescription
    }

    fileprivate init(_ refusal: RepetitionRefusal, _ request: RequestContext) {
        code =
            switch refusal {
            case .mayHaveActed: "request-not-repeated"
            case .bodyNotRepeatable: "body-too-long"
            }
        description = refusal.message(
            for: SecretRedaction.url(request.url.withoutQuery.description), request.method,
            bodyReason: "its body is longer than \(BodySpool.lengthLimit >> 20) MiB, or there is no room for it")
    }
}
