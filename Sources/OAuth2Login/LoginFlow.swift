package import OAuth2
package import SessionStore
import WebPrimitives

/// A login in progress with a server. Each step sends a request and evaluates the response.
package struct LoginFlow: Sendable {
    package let plan: TokenLoginPlan
    private let transport: any EndpointTransport
    private let checkIDToken: IDTokenCheck?
    private let now: @Sendable () -> Timestamp

    package init(
        _ plan: TokenLoginPlan, over transport: any EndpointTransport, checkingIDTokens checkIDToken: IDTokenCheck?,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.plan = plan
        self.transport = transport
        self.checkIDToken = checkIDToken
        self.now = now
    }

    private var scopes: Scopes { plan.credentials.settings.scopes.map { Scopes(parsing: $0) } ?? [] }
    private var resources: [String] { plan.credentials.settings.resources }

    /// The tokens of a grant that needs no user.
    ///
    /// - Parameter tokens: The tokens of another login, by its name, renewed if they are due.
    /// - Throws: `LoginError` if the grant needs a user.
    package func tokensWithoutUser(
        loggedInAs tokens: (String) async throws -> TokenSet
    ) async throws -> TokenSet {
        let grant = try await plan.credentials.repeatableGrant(
            of: plan.profile, now: now, loggedInAs: tokens)
        guard let grant else {
            throw LoginError(.loginFailed, "\(plan.name): this login needs a user")
        }
        return try await shielded {
            try await checked(try grant.tokens(in: try await send(grant.request()), now: now()), nonce: nil)
        }
    }

    // MARK: - On another device

    /// The code and the address to show to the user.
    package func deviceAuthorization() async throws -> DeviceAuthorization {
        let grant = try deviceGrant()
        return try grant.authorization(in: try await send(grant.authorizationRequest()), now: now())
    }

    /// Returns the tokens, once the user has confirmed.
    ///
    /// - Parameters:
    ///   - timeout: How many seconds the user may take, by an option of the command; `nil` for as long as the code lives.
    ///   - clock: The clock that measures waits.
    ///   - isWanted: Asked before each request. The login is cancelled if it returns `false`.
    package func tokens(
        confirmed authorization: DeviceAuthorization, within timeout: Int? = nil, clock: any Clock<Duration>,
        while isWanted: () async -> Bool = { true }
    ) async throws -> TokenSet {
        var device = authorization
        let end = min(device.expiry, timeout.map { now().advanced(bySeconds: Int64($0)) } ?? .distantFuture)
        while now() < end {
            try await clock.sleep(for: min(.seconds(device.interval), end - now()))
            guard await isWanted() else { throw LoginError(.loginFailed, "the login was cancelled") }
            do {
                // A client that signs its requests signs each one.
                let outcome = try await shielded { [device] in
                    let grant = try deviceGrant()
                    let response = try await send(grant.request(polling: device))
                    let outcome = try grant.outcome(in: response, polling: device, now: now())
                    if case .issued(let tokens) = outcome { _ = try await checked(tokens, nonce: nil) }
                    return outcome
                }
                switch outcome {
                case .issued(let tokens): return tokens
                case .pending: break
                case .slowDown: device.slowDown()
                }
            } catch let error as OAuth2Error where error.isTemporary {
                device.backOff(atLeast: error.retryAfter)
            }
        }
        let limit = end < device.expiry ? timeout.map { "within \($0) seconds (--timeout)" } : nil
        throw LoginError(
            .loginFailed, "the code was not confirmed \(limit ?? "before it expired"); log in again")
    }

    private func deviceGrant() throws -> DeviceGrant {
        DeviceGrant(
            deviceAuthorizationEndpoint: try url(.deviceAuthorization), tokenEndpoint: try url(.token),
            authentication: try authentication(), scopes: scopes, resources: resources)
    }

    // MARK: - In a browser

    /// The URL that the user's browser opens. It holds the secrets that tie the login together, so only the user may
    /// see it.
    package func exposedAuthorizationURL(
        for attempt: AuthorizationAttempt, comingBackTo redirectURI: String
    ) async throws -> String {
        let grant = try codeGrant(redirectURI)
        guard plan.pushes else { return grant.exposedAuthorizationURL(for: attempt) }
        let push = grant.pushRequest(to: try url(.pushedAuthorization), for: attempt)
        return try grant.exposedAuthorizationURL(afterPush: try await send(push), of: attempt)
    }

    /// The tokens, once the browser has come back.
    ///
    /// - Parameter redirect: the URL that the browser was redirected to, or its path and query.
    package func tokens(
        redirectedTo redirect: String, of attempt: AuthorizationAttempt, comingBackTo redirectURI: String
    ) async throws -> TokenSet {
        let grant = try codeGrant(redirectURI)
        let code = try grant.code(inRedirect: redirect, to: attempt)
        return try await shielded {
            let response = try await send(grant.request(redeeming: code, of: attempt))
            let tokens = try grant.tokens(in: response, redeeming: code, of: attempt, now: now())
            return try await checked(tokens, nonce: scopes.contains("openid") ? attempt.nonce : nil, code: code)
        }
    }

    /// Returns the code in a redirect.
    ///
    /// - Throws: `OAuth2Error` if the redirect does not belong to this login, or if it reports an error of the server.
    package func code(
        inRedirect redirect: String, of attempt: AuthorizationAttempt, comingBackTo redirectURI: String
    ) throws(OAuth2Error) -> Secret {
        try codeGrant(redirectURI).code(inRedirect: redirect, to: attempt)
    }

    /// Whether a redirect is an answer to this login. A refusal is one, too.
    package func isEnded(by redirect: String, of attempt: AuthorizationAttempt, comingBackTo redirectURI: String)
        -> Bool
    {
        do throws(OAuth2Error) {
            _ = try codeGrant(redirectURI).code(inRedirect: redirect, to: attempt)
            return true
        } catch {
            return error.code != .stateMismatch && error.code != .invalidRedirect
        }
    }

    private func codeGrant(_ redirectURI: String) throws(OAuth2Error) -> AuthorizationCodeGrant {
        var grant = AuthorizationCodeGrant(
            authorizationEndpoint: try url(.authorization), tokenEndpoint: try url(.token),
            issuer: plan.metadata.issuer, sendsIssuer: plan.metadata.sendsIssuer,
            authentication: try authentication(), redirectURI: redirectURI, scopes: scopes, resources: resources)
        grant.parameters = plan.parameters
        return grant
    }

    // MARK: - The end

    /// Stores the tokens of a login. Tokens that cannot be stored are revoked at the server, unless it states that they
    /// belong to the same user as a stored login of the client. That goes on if the task is cancelled.
    ///
    /// - Parameters:
    ///   - check: Throws if nothing may be stored now.
    ///   - mayReplace: Asked before the login of one account takes the name of another's.
    /// - Throws: `LoginError` with the code `name-invalid` if `mayReplace` returns `false`, `SessionStoreError`,
    ///   and the errors of `check`.
    package func keep(
        _ tokens: TokenSet, in store: TokenStore, if check: () async throws -> Void = {},
        replacing mayReplace: (AccountChange) -> Bool = { _ in false }
    ) async throws -> StoredToken {
        do {
            try await check()
            var id = plan.profile
            if !plan.hasAccount, let subject = LoggedInUser(account: "", tokens).subject { id.account = subject }
            let user = LoggedInUser(account: id.account, tokens)
            if !plan.replacesAccount, let before = plan.user, before.isOther(than: user) {
                let change = AccountChange(name: plan.name, before: before, after: user)
                guard mayReplace(change) else {
                    throw LoginError(
                        .nameInvalid,
                        advice: "\(change.description); nothing was changed. Log in under another name, or replace the "
                            + "login with \(app: "replacesAccount", command: "--replace-account")")
                }
            }
            let (profile, time) = (Profile(id: id, name: plan.name), now())
            _ = try await store.writing { [plan] store in
                try store.put(tokens, for: profile, credentials: plan.credentials, now: time)
            }
        } catch {
            try? await shielded { if await !isUserStored(of: tokens, in: store) { await discard(tokens) } }
            throw error
        }
        return try await store.reading { [plan] store in try store.get(plan.name) }
    }

    /// How many stored logins are compared with one that is not kept.
    private static let comparedLoginCount = 10

    /// Whether the server says that tokens are of the same user as a stored login of the same client.
    ///
    /// A server may end all of the grant with one token (RFC 7009, section 2.1), and the stored login with it.
    private func isUserStored(of tokens: TokenSet, in store: TokenStore) async -> Bool {
        guard let user = await user(of: tokens),
            let logins = try? await store.reading({ [plan] store in
                try store.logins(by: plan.profile, plan.credentials.settings)
            })
        else { return false }
        for stored in logins.filter({ $0.refusal == nil }).prefix(Self.comparedLoginCount) {
            if await self.user(of: stored.tokens) == user { return true }
        }
        return false
    }

    /// The user of tokens that the server accepts, as it tells (RFC 7662); `nil` if it does not.
    private func user(of tokens: TokenSet) async -> String? {
        guard let endpoint = try? url(.introspection), let authentication = try? authentication() else { return nil }
        let introspection = TokenIntrospection(endpoint: endpoint, authentication: authentication)
        let token = tokens.refreshToken ?? tokens.accessToken
        let request = introspection.request(about: token, tokens.refreshToken == nil ? .accessToken : .refreshToken)
        guard let response = try? await send(request),
            let known = try? introspection.answer(in: response, about: token), known.isActive
        else { return nil }
        return known.subject ?? known.username
    }

    /// Revokes tokens that are not stored, if the server has an endpoint for that. A failure here is not reported,
    /// since the user needs to know the reason that they are not stored.
    private func discard(_ tokens: TokenSet) async {
        _ = try? await TokenRevoker.end(tokens, of: plan.profile, by: plan.credentials, over: transport, now: now)
    }

    // MARK: - Parts

    /// Runs a request that may issue or end tokens to its end, even if the task is cancelled: tokens whose response is
    /// dropped would stay valid at the server.
    private func shielded<Value: Sendable>(
        _ exchange: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await Task { try await exchange() }.value
    }

    private func url(_ endpoint: ServerMetadata.Endpoint) throws(OAuth2Error) -> EndpointURL {
        try plan.credentials.settings.url(of: endpoint)
    }

    private func authentication() throws(OAuth2Error) -> ClientAuthentication {
        var generator = SystemRandomNumberGenerator()
        return try plan.credentials.authentication(of: plan.profile, now: now(), using: &generator)
    }

    private func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        let bound = try plan.credentials.binding(transport, now: now)
        return try await bound.send(request)
    }

    /// The tokens, if their ID token is of this server and this login, or if they have none.
    ///
    /// Those of any other login are revoked.
    private func checked(_ tokens: TokenSet, nonce: Secret?, code: Secret? = nil) async throws -> TokenSet {
        do {
            try await check(tokens, nonce: nonce, code: code)
            return tokens
        } catch {
            await discard(tokens)
            throw error
        }
    }

    private func check(_ tokens: TokenSet, nonce: Secret?, code: Secret?) async throws {
        guard let idToken = tokens.idToken else { return }
        let claims = try IDTokenClaims(unverified: idToken)
        try claims.check(
            issuer: plan.metadata.issuer, clientID: plan.profile.clientID, nonce: nonce, now: now())
        try claims.check(accessToken: tokens.accessToken, code: code)
        // RFC 9470, section 5: a site that wanted a stronger or more recent login would refuse this one again.
        let asked = Dictionary(plan.parameters.map { ($0.name, $0.value) }) { $1 }
        try claims.check(
            maximumAge: asked["max_age"].flatMap { Int64($0) }, authenticationContexts: asked["acr_values"],
            now: now())
        // If the server publishes no keys, TLS alone authenticates the issuer, which is enough for a token from the
        // token endpoint (OpenID Connect Core 1.0, section 3.1.3.7, point 6).
        guard try plan.credentials.needsServerKey(for: idToken, claims),
            plan.credentials.settings.endpoints[.keys] != nil, let checkIDToken
        else { return }
        let keys = try await send(EndpointRequest(reading: try url(.keys)))
        try keys.expectSuccess()
        try await checkIDToken(idToken, keys)
    }
}
