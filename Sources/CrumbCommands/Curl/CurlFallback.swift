import CookieModel
import RequestDecoration
import SessionOperations
import SessionStore

/// Signs the session in again if a response says "not signed in": one ``LoginRecovery`` for each command.
struct CurlFallback {
    private var recovery: LoginRecovery
    private let jar: CookieJar

    /// - Returns: `nil` if the jar has no rules, or the user signs the request in.
    init?(_ jar: CookieJar, _ plan: CurlPlan, clock: @escaping CommandClock) throws {
        let rules = try jar.loginRules().map(\.rule)
        // A rule that was added a moment ago, too late for this program to be replaced, is for the next request.
        guard !rules.isEmpty, !plan.signsIn, Network.current != nil else { return nil }
        self.jar = jar
        recovery = LoginRecovery(try TokenAccess(jar.tokens, clock: clock).fallback(rules))
    }

    /// Whether nothing is left to try.
    var isOver: Bool { recovery.isOver }

    /// The challenge that an answer is, if a rule takes it for "not signed in".
    func challenge(_ block: ResponseBlock, from url: RequestURL) -> LoginChallenge? {
        recovery.challenge(in: block.head, from: url)
    }

    /// Returns the rule that presents a token in a hop before its site asks for one.
    mutating func present(in hop: RedirectChain, now: Timestamp) throws -> AuthorizationRule? {
        let (before, url) = (recovery, hop.context.url)
        guard !hop.hasLeftOrigin else { return nil }
        let (after, rule) = try Blocking.run {
            var recovery = before
            let rule = await recovery.present(to: url, now: now)
            return (recovery, rule)
        }
        recovery = after
        return rule
    }

    /// The error if a response still says "not signed in" and only a new login helps.
    func failure(_ block: ResponseBlock, from url: RequestURL) -> LoginFallbackError? {
        recovery.failure(in: block.head, from: url)
    }

    /// Gets a token and delivers it.
    ///
    /// - Returns: the rule for the Authorization field of the repeated request, with its scope.
    mutating func answer(_ challenge: LoginChallenge, now: Timestamp) throws -> AuthorizationRule? {
        let (before, jar) = (recovery, jar)
        let (after, answer) = try Blocking.run {
            var recovery = before
            let answer = try await recovery.answer(challenge, in: jar, now: now)
            return (recovery, answer)
        }
        recovery = after
        guard case .authorization(let rule) = answer else { return nil }
        return rule
    }
}

extension CurlPlan {
    /// Whether the user names the caller, in place of a token.
    var signsIn: Bool {
        answersChallenges
            || options.contains { $0.fieldName == "authorization" || ["user", "oauth2-bearer"].contains($0.name) }
    }

    /// Whether a hop can be made again with its body, or needs none.
    func canRepeatBody(in hop: RedirectChain) -> Bool {
        hop.hasActed && !hop.keepsBody || options.flatMap(\.bodyFiles).allSatisfy(RequestBody.isReplayable)
    }
}
