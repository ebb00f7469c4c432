package import CookieModel
import OAuth2
package import SessionStore

/// The steps that sign one request in again: the stored token, then a renewed one, then a new login. Each is tried at
/// most once, so there is no loop. The token that the site has just rejected is never delivered again.
///
/// A rule for the Authorization field adds its token from the first request on: ``present(to:now:)``.
///
/// ```swift
/// var recovery = LoginRecovery(fallback)
/// if let rule = await recovery.present(to: url, now: now) { head = try await send(signedInBy: rule) }
/// while let challenge = recovery.challenge(in: head, from: url) {
///     let answer = try await recovery.answer(challenge, in: jar, now: now)
///     guard challenge.repetitionRefusal(of: request) == nil else { break }
///     head = try await sendOnceMore(signedInBy: answer)
/// }
/// ```
package struct LoginRecovery: Sendable {
    /// How far it has come.
    private enum Progress {
        case untried
        /// A valid token was delivered.
        case delivered(Secret)
        /// A renewed token was delivered.
        case renewed
        /// The user has logged in.
        case loggedIn
    }

    /// The next step after the request's first challenge.
    private let fallback: LoginFallback
    private var progress = Progress.untried
    /// The rule of the first challenge.
    package private(set) var rule: LoginRule?
    /// The token that went with the request before any challenge, and its rule; `nil` until ``present(to:now:)`` is
    /// called.
    private var presented: Presented?
    /// The tokens that the site got last: if it still says "not signed in", it rejects them.
    private var delivered: [Secret]?
    /// The Set-Cookie lines that delivered them; empty for the Authorization field.
    private var lines: [Secret] = []

    private enum Presented {
        case nothing
        case token(Secret, LoginRule)
    }

    /// Creates the recovery of one request.
    package init(_ fallback: LoginFallback) {
        self.fallback = fallback
    }

    /// Whether every step has been tried, so the next response is final.
    package var isOver: Bool {
        switch progress {
        case .untried, .delivered: false
        case .renewed: fallback.login == nil
        case .loggedIn: true
        }
    }

    /// The name of the tokens that ``present(to:now:)`` gave last; `nil` if it gave none.
    package var presentedProfile: String? {
        guard case .token(_, let rule) = presented else { return nil }
        return rule.profile
    }

    /// Returns the rule that presents a token to `url` before the site asks for one. The token is refreshed if it is
    /// due. The rule's scope is the protection space, as in HTTP authentication.
    ///
    /// Call this before each request, redirects included. A missing token is not an error here: the site may not
    /// require one, and its challenge leads to the same recovery as before.
    ///
    /// - Returns: the rule that presents the token; `nil` if the first rule for the URL delivers it in another way, or
    ///   there is no token that is valid.
    package mutating func present(to url: RequestURL, now: Timestamp? = nil) async -> AuthorizationRule? {
        let now = now ?? fallback.store.clock.now
        presented = .nothing
        guard let rule = fallback.rules.first(where: { $0.urlScope?.contains(url) == true }),
            rule.delivery == .authorization, let scope = rule.urlScope,
            let token = try? await fallback.refresher.token(rule.profile).tokens,
            token.validity(at: now) != .expired,
            (try? await fallback.store.reading { try $0.credential(rule.profile) })?.isPresentable == true
        else { return nil }
        presented = .token(token.accessToken, rule)
        let store = fallback.store
        return AuthorizationRule(within: scope, named: (rule.profile, store)) { _ throws(SessionStoreError) in
            try? store.credential(rule.profile)
        }
    }

    /// The challenge in a response; `nil` if no rule matches, or if every step has been tried.
    ///
    /// After the first challenge, only challenges of the same rule count.
    package func challenge(in head: ResponseHead, from url: RequestURL) -> LoginChallenge? {
        guard !isOver, let challenge = fallback.challenge(in: head, from: url) else { return nil }
        return rule == nil || rule == challenge.rule ? challenge : nil
    }

    /// The reason why a new login is required, if a response still means "not signed in" after every step; otherwise
    /// `nil`.
    package func failure(in head: ResponseHead, from url: RequestURL) -> LoginFallbackError? {
        guard isOver, let challenge = fallback.challenge(in: head, from: url) else { return nil }
        return challenge.rule == rule ? challenge.stillRefused : nil
    }

    /// Whether a request carries the tokens that were delivered last, as far as the jar tells: only then has the site
    /// rejected them, and the next step of this recovery follows.
    ///
    /// Otherwise a new recovery begins with the stored token. This is so if the cookie was removed or replaced, or if the
    /// stored token is another one or was revoked.
    ///
    /// - Parameter jar: The jar as it was when the request was sent.
    package func isCarried(by request: RequestContext, in jar: CookieJar, now: Timestamp) throws -> Bool {
        guard let rule, let delivered else { return false }
        let stored: StoredToken
        do throws(SessionStoreError) {
            stored = try fallback.store.get(rule.profile)
        } catch {
            guard error.code == .tokenNotFound else { throw error }
            return false
        }
        guard stored.refusal == nil, LoginFallback.delivered(stored.tokens, by: rule) == delivered else { return false }
        if case .authorization = rule.delivery { return true }
        return try jar.sends(cookieOf: lines.map { Octets($0.exposedBytes) }, with: request, now: now)
    }

    /// Gets the next token and delivers it.
    ///
    /// - Throws: ``LoginFallbackError``, or why there is no token: `TokenRefreshError`, `OAuth2Error`,
    ///   `SessionStoreError`.
    package mutating func answer(
        _ challenge: LoginChallenge, in jar: CookieJar, now: Timestamp? = nil
    ) async throws -> LoginFallback.Answer {
        let now = now ?? jar.database.clock.now
        rule = challenge.rule
        while true {
            try await goOn(challenge, in: jar, now: now)
            let credential = try await fallback.store.reading { try $0.credential(challenge.rule.profile) }
            let tokens = LoginFallback.delivered(credential.tokens, by: challenge.rule)
            // A login that is stronger may keep its token.
            guard tokens != delivered || challenge.sign == .stepUp else {
                guard !isOver else { throw challenge.stillRefused }
                continue
            }
            if case .untried = progress { progress = .delivered(credential.tokens.accessToken) }
            delivered = tokens
            do {
                let delivery = try await fallback.deliver(credential, answering: challenge, in: jar, now: now)
                lines = delivery.lines.map { Secret($0.bytes) }
                return delivery.answer
            } catch let refusal as TokenRefusal {
                // An endpoint that exchanges tokens for cookies rejects a token in place of the site itself.
                guard !isOver else { throw refusal.error }
            }
        }
    }

    /// One step: sees to it that the tokens in the store are ones that may help.
    private mutating func goOn(_ challenge: LoginChallenge, in jar: CookieJar, now: Timestamp) async throws {
        // A refreshed token belongs to the same login, which does not satisfy a step-up challenge.
        guard challenge.sign != .stepUp else {
            try await logIn(challenge)
            let tokens = try await fallback.store.reading { try $0.get(challenge.rule.profile).tokens }
            guard challenge.isMet(by: tokens, now: now) else { throw challenge.stepUpRequired }
            return
        }
        do {
            switch progress {
            case .untried:
                if let refused = try await refusedToken(by: challenge, in: jar, now: now) {
                    let stored = try await fallback.store.reading { try $0.get(challenge.rule.profile).tokens }
                    if stored.accessToken == refused {
                        delivered = LoginFallback.delivered(stored, by: challenge.rule)
                    }
                    return try await renew(refused, challenge)
                }
                let before = try await fallback.store.reading { try $0.get(challenge.rule.profile).tokens.accessToken }
                let token = try await fallback.refresher.token(challenge.rule.profile).tokens.accessToken
                if token != before { progress = .renewed }
            case .delivered(let refused): try await renew(refused, challenge)
            case .renewed, .loggedIn: try await logIn(challenge)
            }
        } catch {
            guard LoginRecovery.needsLogin(error) else { throw error }
            try await logIn(challenge, because: error)
        }
    }

    /// The token that the site refuses, as far as can be told. One that was not sent it cannot refuse, whatever it says.
    private func refusedToken(
        by challenge: LoginChallenge, in jar: CookieJar, now: Timestamp
    ) async throws -> Secret? {
        if challenge.rule.delivery == .authorization, let presented {
            guard case .token(let token, challenge.rule) = presented else { return nil }
            return token
        }
        return try await fallback.refusedToken(by: challenge, in: jar, now: now)
    }

    /// Gets a token in the place of one that the site refuses, unless someone else has.
    private mutating func renew(_ refused: Secret, _ challenge: LoginChallenge) async throws {
        let isRenewed = try await fallback.refresher.renewed(challenge.rule.profile, insteadOf: refused) != nil
        progress = .renewed
        if !isRenewed, fallback.login != nil { try await logIn(challenge) }
    }

    private mutating func logIn(_ challenge: LoginChallenge, because reason: (any Error)? = nil) async throws {
        guard let login = fallback.login else {
            throw challenge.sign == .stepUp ? challenge.stepUpRequired : challenge.loginRequired(because: reason)
        }
        progress = .loggedIn
        try await login(challenge)
    }

    /// Whether only a new login helps: the token cannot be renewed, or the server refuses to.
    private static func needsLogin(_ error: any Error) -> Bool {
        switch error {
        case let error as TokenRefreshError: [.loginRequired, .tokenExpired, .settingsMissing].contains(error.code)
        case let error as SessionStoreError: error.code == .tokenNotFound
        case let error as OAuth2Error: error.refusesGrant || error.code == .endpointMissing
        default: false
        }
    }
}

/// The error for a token that an endpoint which exchanges tokens for cookies rejects.
struct TokenRefusal: Error {
    let error: LoginFallbackError
}
