public import CookieModel
import HTTPTypes
public import OAuth2
public import SessionStore

/// What gets a user back in where a site says "not signed in": a token, refreshed where it is due, goes back as a cookie
/// or in the Authorization field, and the request is sent once more.
public struct LoginFallback: Sendable {
    /// Logs the user in again, as an app does in a browser view; the tokens are in the store when it returns.
    public typealias Login = @Sendable (_ challenge: LoginChallenge) async throws -> Void

    /// How the request is signed in when it is sent once more.
    public enum Answer: Sendable {
        /// The jar has new cookies.
        case cookies
        /// The Authorization field has the token.
        case authorization(AuthorizationRule)
    }

    /// The rules, the first one that fits counting.
    public let rules: [LoginRule]
    private let store: TokenStore
    private let refresher: TokenRefresher
    private let transport: any EndpointTransport
    private let login: Login?

    /// A fallback for the requests of one jar.
    ///
    /// - Parameters:
    ///   - rules: what to do; ``CookieJar`` keeps them.
    ///   - store: where the tokens are.
    ///   - refresher: what refreshes them.
    ///   - transport: what asks endpoints that give cookies for tokens.
    ///   - login: what to do where only a new login helps; without it, the request fails and says so.
    public init(
        rules: [LoginRule], store: TokenStore, refresher: TokenRefresher, transport: any EndpointTransport,
        login: Login? = nil
    ) {
        self.rules = rules
        self.store = store
        self.refresher = refresher
        self.transport = transport
        self.login = login
    }

    /// The challenge that a response is; `nil` where no rule takes it for one.
    public func challenge(in head: ResponseHead, from url: RequestURL) -> LoginChallenge? {
        for rule in rules {
            if let challenge = LoginChallenge(rule, head, from: url) { return challenge }
        }
        return nil
    }

    /// Gets a token and delivers it.
    ///
    /// - Throws: ``LoginFallbackError``, or why there is no token: `TokenRefreshError`, `OAuth2Error`,
    ///   `SessionStoreError`.
    public func answer(_ challenge: LoginChallenge, in jar: CookieJar, now: Timestamp) async throws -> Answer {
        try await renewTokens(for: challenge, in: jar, now: now)
        let rule = challenge.rule
        let credential = try store.credential(rule.profile)
        switch rule.delivery {
        case .authorization:
            guard let scope = rule.urlScope, credential.isPresentable else { throw notPresentable(rule) }
            return .authorization(
                AuthorizationRule(within: scope) { _ throws(SessionStoreError) in credential })
        case .cookie(let template):
            let line = try template.setCookie(credential.tokens, profile: rule.profile, now: now)
            try keep([line], of: rule, from: rule.urlScope?.prefix ?? challenge.url, in: jar, now: now)
            return .cookies
        case .exchange(let url):
            try await exchange(credential, at: url, of: rule, in: jar, now: now)
            return .cookies
        }
    }

    /// `decorator`, as it decorates the request that is sent once more.
    func decorator(
        _ decorator: RequestDecorator, answering challenge: LoginChallenge, now: Timestamp
    ) async throws -> RequestDecorator {
        switch try await answer(challenge, in: decorator.jar, now: now) {
        case .cookies: return decorator
        case .authorization(let rule):
            var settings = decorator.settings
            settings.authorization.insert(rule, at: 0)
            return RequestDecorator(jar: decorator.jar, settings: settings)
        }
    }

    // MARK: - Tokens

    /// How long after it was issued a token that the site refuses is not renewed: the next one would fare no better.
    private static let settlingTime: Int64 = 10

    /// Sees to it that the tokens in the store are ones that may help.
    private func renewTokens(for challenge: LoginChallenge, in jar: CookieJar, now: Timestamp) async throws {
        let profile = challenge.rule.profile
        if challenge.sign == .stepUp {
            // A refreshed token is of the same login, which is what the site does not want.
            guard let login else { throw stepUpRequired(challenge) }
            return try await login(challenge)
        }
        do {
            _ =
                try isRefused(by: challenge, in: jar, now: now)
                ? try await refresher.refreshed(profile) : try await refresher.token(profile)
        } catch let error as TokenRefreshError where error.code == .loginRequired || error.code == .tokenExpired {
            guard let login else { throw loginRequired(challenge) }
            try await login(challenge)
        } catch let error as SessionStoreError where error.code == .tokenNotFound {
            guard let login else { throw loginRequired(challenge) }
            try await login(challenge)
        }
    }

    /// Whether the site was shown the present token, and did not take it although its time is not over: it was revoked.
    private func isRefused(by challenge: LoginChallenge, in jar: CookieJar, now: Timestamp) throws -> Bool {
        let rule = challenge.rule
        let stored = try store.get(rule.profile)
        let isFresh = Timestamp(microseconds: stored.tokens.receivedAt).advanced(bySeconds: LoginFallback.settlingTime)
        guard stored.isRefreshable(at: now), isFresh <= now else { return false }
        if challenge.refusesToken { return true }
        guard case .cookie(let template) = rule.delivery,
            let line = try? template.setCookie(stored.tokens, profile: rule.profile, now: now),
            case .cookie(let cookie) = SetCookie.parse(line)
        else { return false }
        return try jar.retrieve(for: RequestContext(url: challenge.url), now: now).included.contains {
            $0.name == cookie.name && $0.value == cookie.value
        }
    }

    private func notPresentable(_ rule: LoginRule) -> LoginFallbackError {
        LoginFallbackError(
            .tokenNotPresentable, rule.profile,
            "the token is not one that a header field can present, or lacks the key that it is bound to")
    }

    private func loginRequired(_ challenge: LoginChallenge) -> LoginFallbackError {
        LoginFallbackError(
            .loginRequired, challenge.rule.profile, "only a new login helps; make it with 'crumb token login'",
            loginURL: challenge.loginURL)
    }

    private func stepUpRequired(_ challenge: LoginChallenge) -> LoginFallbackError {
        var parameters = ""
        // What a server names goes into a command to copy: nothing but plain words.
        if let context = challenge.authenticationContext,
            context.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"'\"\\$`;&|<>()".utf8.contains($0) })
        {
            parameters += " --parameter acr_values=\(context)"
        }
        if let age = challenge.maximumAge { parameters += " --parameter max_age=\(age)" }
        return LoginFallbackError(
            .stepUpRequired, challenge.rule.profile,
            "the site wants another login than this; make it with 'crumb token login'\(parameters)",
            loginURL: challenge.loginURL)
    }

    // MARK: - Cookies

    private func keep(
        _ lines: [Octets], of rule: LoginRule, from url: RequestURL, in jar: CookieJar, now: Timestamp
    ) throws {
        let decisions = try jar.receive(
            ReceivedResponse(context: RequestContext(url: url), status: 200, setCookie: lines), now: now)
        guard decisions.contains(where: { $0.outcome == .stored || $0.outcome == .replaced }) else {
            let reasons = decisions.flatMap { $0.reasons.reasons.map(\.identifier) }.joined(separator: ", ")
            throw LoginFallbackError(
                .cookieRefused, rule.scope, "the jar does not take the cookie for the token: \(reasons)")
        }
    }

    private func exchange(
        _ credential: AccessCredential, at text: String, of rule: LoginRule, in jar: CookieJar, now: Timestamp
    ) async throws {
        let url = try RequestURL(text)
        guard credential.isPresentable,
            let request = EndpointRequest(presenting: credential.tokens, to: try EndpointURL(text))
        else { throw notPresentable(rule) }
        let transport: any EndpointTransport =
            if let key = credential.proofKey {
                DPoPTransport(transport, key: key) { now.microseconds }
            } else {
                transport
            }
        let response = try await transport.send(request)
        let lines = response.exposedFields.octets(of: .setCookie)
        guard (200..<400).contains(response.status.code), !lines.isEmpty else {
            throw LoginFallbackError(
                .exchangeFailed, rule.scope,
                "the endpoint for cookies gave none (status \(response.status.code))")
        }
        try keep(lines, of: rule, from: url, in: jar, now: now)
    }
}
