public import CookieModel
import HTTPTypes
public import OAuth2
public import SessionStore

/// Signs a user in again after a response that means "not signed in". It delivers a token, refreshed if it is due, as a
/// cookie or in the Authorization field, and the request is repeated unless there is a `RepetitionRefusal`. If the site
/// rejects that token, it gets a renewed one, and then one of a new login.
public struct LoginFallback: Sendable {
    /// Logs the user in again, for example in a browser view. The tokens are in the store when it returns.
    public typealias Login = @Sendable (_ challenge: LoginChallenge) async throws -> Void

    /// How the repeated request is signed in.
    package enum Answer: Sendable {
        /// The jar has new cookies.
        case cookies
        /// The Authorization field has the token.
        case authorization(AuthorizationRule)
    }

    /// The rules. The first one that matches applies.
    package let rules: [LoginRule]
    let store: TokenStore
    let refresher: TokenRefresher
    private let transport: any EndpointTransport
    let login: Login?

    /// Creates a fallback for the requests of one jar.
    ///
    /// - Parameters:
    ///   - rules: The rules, which `CookieJar` stores.
    ///   - store: The store of the tokens.
    ///   - refresher: Refreshes the tokens.
    ///   - transport: Sends requests to endpoints that return cookies for tokens.
    ///   - login: Logs the user in again if a new login is required. Without it, the request fails with
    ///     ``LoginFallbackError/Code/loginRequired``.
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

    /// Whether a rule is for a URL.
    package func isConcerned(with url: RequestURL) -> Bool {
        rules.contains { $0.urlScope?.contains(url) == true }
    }

    /// The challenge in a response; `nil` if no rule matches.
    package func challenge(in head: ResponseHead, from url: RequestURL) -> LoginChallenge? {
        for rule in rules {
            if let challenge = LoginChallenge(rule, head, from: url) { return challenge }
        }
        return nil
    }

    /// Gets a token and delivers it, as the first step of a ``LoginRecovery``.
    ///
    /// - Throws: ``LoginFallbackError``, or why there is no token: `TokenRefreshError`, `OAuth2Error`,
    ///   `SessionStoreError`.
    package func answer(
        _ challenge: LoginChallenge, in jar: CookieJar, now: Timestamp? = nil
    ) async throws -> Answer {
        var recovery = LoginRecovery(self)
        return try await recovery.answer(challenge, in: jar, now: now)
    }

    /// The tokens that a site gets by a rule.
    static func delivered(_ tokens: TokenSet, by rule: LoginRule) -> [Secret] {
        if case .cookie(let template) = rule.delivery { return template.tokens(of: tokens) }
        return [tokens.accessToken]
    }

    /// Delivers a token in the way of the challenge's rule.
    ///
    /// - Returns: how the repeated request is signed in, and the Set-Cookie lines that deliver the token.
    /// - Throws: ``TokenRefusal`` if an endpoint that exchanges tokens for cookies rejects the token.
    func deliver(
        _ credential: AccessCredential, answering challenge: LoginChallenge, in jar: CookieJar, now: Timestamp
    ) async throws -> (answer: Answer, lines: [Octets]) {
        let rule = challenge.rule
        switch rule.delivery {
        case .authorization:
            guard let scope = rule.urlScope, credential.isPresentable else { throw notPresentable(rule) }
            let rule = AuthorizationRule(within: scope, named: (rule.profile, store)) { _ throws(SessionStoreError) in
                credential
            }
            return (.authorization(rule), [])
        case .cookie(let template):
            let line = try template.setCookie(credential.tokens, profile: rule.profile, now: now)
            try await keep([line], of: rule, from: rule.urlScope?.prefix ?? challenge.url, in: jar, now: now)
            return (.cookies, [line])
        case .exchange(let url):
            return (.cookies, try await exchange(credential, at: url, of: rule, in: jar, now: now))
        }
    }

    /// The token that the site received and rejected, as far as it is known: the challenge rejects it explicitly, or
    /// the cookie that was sent to the site carries the current token.
    func refusedToken(by challenge: LoginChallenge, in jar: CookieJar, now: Timestamp) async throws -> Secret? {
        let rule = challenge.rule
        let stored = try await store.reading { try $0.get(rule.profile) }
        if challenge.refusesToken { return stored.tokens.accessToken }
        guard case .cookie(let template) = rule.delivery,
            let line = try? template.setCookie(stored.tokens, profile: rule.profile, now: now)
        else { return nil }
        let request = RequestContext(url: challenge.url)
        let sent = try await jar.retrieve(for: request, at: now).included
        return CookieJar.has(sent, cookieOf: [line]) ? stored.tokens.accessToken : nil
    }

    private func notPresentable(_ rule: LoginRule) -> LoginFallbackError {
        LoginFallbackError(
            .tokenNotPresentable, rule.profile,
            "a header field cannot present the token, or the key that it is bound to is missing")
    }

    // MARK: - Cookies

    private func keep(
        _ lines: [Octets], of rule: LoginRule, from url: RequestURL, in jar: CookieJar, now: Timestamp
    ) async throws {
        let decisions = try await jar.receiveToEnd(
            ReceivedResponse(context: RequestContext(url: url), status: 200, setCookie: lines), at: now)
        guard decisions.contains(where: { $0.outcome == .stored || $0.outcome == .replaced }) else {
            let reasons = decisions.flatMap { $0.reasons.reasons.map(\.identifier) }.joined(separator: ", ")
            throw LoginFallbackError(
                .cookieRefused, rule.scope, "the jar rejects the cookie for the token: \(reasons)")
        }
    }

    private func exchange(
        _ credential: AccessCredential, at text: String, of rule: LoginRule, in jar: CookieJar, now: Timestamp
    ) async throws -> [Octets] {
        let url = try RequestURL(text)
        guard credential.isPresentable,
            let request = EndpointRequest(presenting: credential.tokens, to: try EndpointURL(text))
        else { throw notPresentable(rule) }
        let transport: any EndpointTransport =
            if let key = credential.proofKey {
                DPoPTransport(transport, key: key) { now }
            } else {
                transport
            }
        let response = try await transport.send(request)
        let lines = response.exposedFields.octets(of: .setCookie)
        guard (200..<400).contains(response.status.code), !lines.isEmpty else {
            let error = LoginFallbackError(
                .exchangeFailed, url.withoutQuery.description,
                "the endpoint for cookies returned none (status \(response.status.code)); check the rule for "
                    + "\(rule.scope)")
            throw [401, 403].contains(response.status.code) ? TokenRefusal(error: error) : error
        }
        try await keep(lines, of: rule, from: url, in: jar, now: now)
        return lines
    }
}

extension CookieJar {
    /// Whether a request carries a cookie of one of the Set-Cookie lines, with its value.
    func sends(cookieOf lines: [Octets], with request: RequestContext, now: Timestamp) throws -> Bool {
        CookieJar.has(try retrieve(for: request, now: now).included, cookieOf: lines)
    }

    /// Whether cookies that were sent include one of the Set-Cookie lines, with its value.
    static func has(_ sent: [Cookie], cookieOf lines: [Octets]) -> Bool {
        lines.contains { line in
            guard case .cookie(let cookie) = SetCookie.parse(line) else { return false }
            return sent.contains { $0.name == cookie.name && $0.value == cookie.value }
        }
    }
}

/// A response that means "not signed in", and the rule that matches it.
public struct LoginChallenge: Sendable, Hashable {
    /// The sign that the rule matched.
    package enum Sign: String, Sendable, CaseIterable {
        /// The status.
        case status
        /// A redirect to a login page.
        case redirect
        /// A challenge to present a token: Bearer, or DPoP.
        case bearerChallenge = "bearer-challenge"
        /// A challenge to log in again in a stronger way, or more recently (RFC 9470).
        case stepUp = "step-up"
    }

    /// The rule.
    public let rule: LoginRule
    /// The sign that the rule matched.
    package let sign: Sign
    /// The URL of the response.
    public let url: RequestURL
    /// The login page that the site names, without its query; `nil` if it names none.
    public let loginURL: String?
    /// The authentication methods that the site accepts, best first, separated by spaces (`acr_values`; RFC 9470,
    /// section 3).
    public let authenticationContext: String?
    /// The maximum age of the login in seconds (`max_age`; RFC 9470, section 3).
    public let maximumAge: Int?
    /// Whether the site rejects the token of the request (`invalid_token`; RFC 6750, section 3.1).
    package let refusesToken: Bool
    /// Whether the site has certainly not acted on the request.
    let isUnprocessed: Bool

    /// The challenge that a response is; `nil` if the rule does not take it for one.
    init?(_ rule: LoginRule, _ head: ResponseHead, from url: RequestURL) {
        guard rule.urlScope?.contains(url) == true else { return nil }
        // A site may offer several ways to present a token, and say why only in one of them.
        let challenges = head.authenticate.flatMap { AuthenticationChallenge.challenges(in: $0) }
            .filter { $0.scheme == "bearer" || $0.scheme == "dpop" }
        let stepUp = challenges.first { $0.parameters["error"] == "insufficient_user_authentication" }
        let target = (300...399).contains(head.status) ? head.location.flatMap { try? url.resolving($0) } : nil
        let isToLogin =
            target.map { target in
                rule.signs.redirects.contains { LoginChallenge.begins(target, with: $0, at: url) }
            } ?? false
        if stepUp != nil {
            sign = .stepUp
        } else if isToLogin {
            sign = .redirect
        } else if rule.signs.bearerChallenge, head.status == 401, !challenges.isEmpty {
            sign = .bearerChallenge
        } else if rule.signs.statuses.contains(head.status) {
            sign = .status
        } else {
            return nil
        }
        self.rule = rule
        self.url = url
        isUnprocessed = head.isUnprocessed
        refusesToken = challenges.contains { $0.parameters["error"] == "invalid_token" }
        loginURL = isToLogin ? target.map { $0.withoutQuery.description } : nil
        authenticationContext = stepUp?.parameters["acr_values"]
        maximumAge = stepUp?.parameters["max_age"].flatMap { Int($0) }
    }

    /// Whether tokens are of a login as the site wants it, as far as their ID token tells.
    func isMet(by tokens: TokenSet, now: Timestamp) -> Bool {
        guard let token = tokens.idToken, let claims = try? IDTokenClaims(unverified: token) else { return true }
        do {
            try claims.check(
                maximumAge: maximumAge.map { Int64($0) }, authenticationContexts: authenticationContext,
                now: now)
            return true
        } catch {
            return false
        }
    }

    /// Whether `target` is the URL that `text` means at `url`, or one below it.
    private static func begins(_ target: RequestURL, with text: String, at url: RequestURL) -> Bool {
        guard let prefix = try? url.resolving(Octets(text)) else { return false }
        return URLScope(prefix).contains(target)
    }
}
