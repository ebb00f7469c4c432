public import CookieModel
internal import OAuth2
internal import Synchronization

/// One request to the server for new tokens, by the holder of the lease. Every answer is stored before a caller gets
/// it.
struct TokenRenewal: Sendable {
    let store: TokenStore
    let holder: LeaseHolder
    let transport: LeasedTransport
    let checkIDToken: IDTokenCheck?
    /// Fetches the server's keys. This needs no lease, and has the usual timeout of a request.
    let keyTransport: any EndpointTransport
    let now: @Sendable () -> Timestamp
    /// The tokens of another login, for a grant that exchanges them.
    let otherTokens: @Sendable (String) async throws -> TokenSet

    /// Sends the request, unless the lease is lost before.
    ///
    /// - Throws: ``LeaseLost``, or an error for the user.
    func run(_ current: StoredToken) async throws -> StoredToken {
        do {
            return try await renewed(current)
        } catch let error as OAuth2Error {
            throw transport.failure ?? error
        }
    }

    private func renewed(_ current: StoredToken) async throws -> StoredToken {
        let name = current.profile.name
        guard var credentials = try await store.reading({ try $0.credentials(name) }) else {
            throw TokenRefreshError(
                current.tokens.refreshToken == nil ? .tokenExpired : .settingsMissing, name,
                hasExpired: hasExpired(current))
        }
        if let resource = current.resource { credentials.settings.resources = [resource] }
        let transport = try credentials.binding(transport, now: now)
        if current.tokens.refreshToken == nil, let grant = try await repeatableGrant(of: current, by: credentials) {
            let response = try await transport.send(grant.request())
            return try await keep(
                try grant.tokens(in: response, now: now()), by: credentials, over: current,
                current.generation)
        }
        guard current.tokens.refreshToken != nil else {
            throw TokenRefreshError(.tokenExpired, name, hasExpired: hasExpired(current))
        }
        var generator = SystemRandomNumberGenerator()
        let authentication = try credentials.authentication(
            of: current.profile.id, now: now(), using: &generator)
        let grant = RefreshGrant(
            tokenEndpoint: try credentials.settings.url(of: .token), authentication: authentication,
            resources: credentials.settings.resources)
        let response = try await transport.send(try grant.request(refreshing: current.tokens))
        return try await keep(response, to: grant, by: credentials, over: current)
    }

    private func repeatableGrant(
        of current: StoredToken, by credentials: ProfileCredentials
    ) async throws -> RepeatableGrant? {
        let name = current.profile.name
        try await store.reading { [settings = credentials.settings] in try $0.checkExchange(settings, of: name) }
        return try await credentials.repeatableGrant(
            of: current.profile.id, now: now, loggedInAs: otherTokens)
    }

    private func hasExpired(_ current: StoredToken) -> Bool {
        current.tokens.validity(at: now()) == .expired
    }

    private func keep(
        _ response: EndpointResponse, to grant: RefreshGrant, by credentials: ProfileCredentials,
        over current: StoredToken
    ) async throws -> StoredToken {
        let name = current.profile.name
        var tokens = current.tokens
        var generation = current.generation
        // When the server answers, it has ended the old refresh token, and only the answer has the new one.
        if let rotated = TokenResponse.refreshToken(status: response.status, body: response.exposedBody),
            rotated != tokens.refreshToken
        {
            let next = try await store.writing { [generation, now = now()] in
                try $0.rotate(
                    rotated, of: name, for: current.tokens.refreshToken, expectedGeneration: generation, now: now)
            }
            guard let next else { return try await changedMeanwhile(current) }
            tokens.refreshToken = rotated
            tokens.refreshTokenExpiry = nil
            generation = next
        }
        do {
            let renewed = try grant.tokens(in: response, refreshing: tokens, now: now())
            return try await keep(renewed, by: credentials, over: current, generation)
        } catch let error as OAuth2Error where error.code == .invalidGrant {
            let isRefused = try await store.writing { [generation, holder, now = now()] in
                try $0.refuse(name, expectedGeneration: generation, releasing: holder, now: now)
            }
            guard isRefused else { return try await changedMeanwhile(current) }
            throw TokenRefreshError(.loginRequired, name)
        }
    }

    private func keep(
        _ tokens: TokenSet, by credentials: ProfileCredentials, over current: StoredToken, _ generation: Int64
    ) async throws -> StoredToken {
        var tokens = tokens
        // The ID token that comes with a resource's access token is not stored, because the login has its own.
        let isOwn = current.resource == nil
        let refusal = await isOwn ? idTokenRefusal(of: tokens, by: credentials, after: current) : nil
        if refusal != nil { tokens.idToken = current.tokens.idToken }
        let cause = refusal == nil ? TokenChange.Cause.refreshed : .refreshedWithoutIDToken
        let written: StoredToken? = try await store.writing { [tokens, holder, now = now()] store in
            func isWritten(over generation: Int64) throws(SessionStoreError) -> Bool {
                if let resource = current.resource {
                    return try store.put(
                        tokens, for: resource, of: current.profile.name, expectedGeneration: generation,
                        releasing: holder, now: now)
                }
                return try store.put(
                    tokens, for: current.profile, expectedGeneration: generation, cause: cause, releasing: holder,
                    now: now)
            }
            if try !isWritten(over: generation) {
                // The server has meanwhile rejected another process's use of the same refresh token: the new tokens
                // count.
                let latest = try store.get(current.profile.name)
                guard latest.refusal != nil, let sent = current.tokens.refreshToken,
                    latest.tokens.refreshToken == sent, try isWritten(over: latest.generation)
                else { return nil }
            }
            return try store.get(current.profile.name, for: current.resource)
        }
        guard var written else { return try await changedMeanwhile(current) }
        written.idTokenRefusal = refusal
        return written
    }

    /// The reason why an ID token that came with a refresh does not belong to the refreshed login; `nil` if it does.
    ///
    /// Its algorithm must be an expected one, and a signature with the client's secret or the server's keys must be
    /// valid. If the keys cannot be fetched, TLS suffices, because the token came from the token endpoint itself
    /// (OpenID Connect Core 1.0, section 3.1.3.7, point 6).
    private func idTokenRefusal(
        of tokens: TokenSet, by credentials: ProfileCredentials, after current: StoredToken
    ) async -> OAuth2Error? {
        guard let token = tokens.idToken, token != current.tokens.idToken else { return nil }
        let profile = current.profile.id
        do throws(OAuth2Error) {
            let claims = try IDTokenClaims(unverified: token)
            try claims.check(
                issuer: profile.issuer, clientID: profile.clientID, nonce: nil, now: now())
            try claims.check(accessToken: tokens.accessToken)
            if let earlier = current.tokens.idToken.flatMap({ try? IDTokenClaims(unverified: $0) }) {
                try claims.check(following: earlier)
            }
            guard try credentials.needsServerKey(for: token, claims) else { return nil }
        } catch {
            return error
        }
        return await signatureRefusal(of: token, by: credentials)
    }

    /// The reason why no key of the server has signed an ID token; `nil` if one has, or if the keys are unavailable.
    private func signatureRefusal(of token: Secret, by credentials: ProfileCredentials) async -> OAuth2Error? {
        guard let checkIDToken, credentials.settings.endpoints[.keys] != nil,
            let endpoint = try? credentials.settings.url(of: .keys),
            let keys = try? await keyTransport.send(EndpointRequest(reading: endpoint)),
            (try? keys.expectSuccess()) != nil
        else { return nil }
        do {
            try await checkIDToken(token, keys)
            return nil
        } catch let error as OAuth2Error where error.code == .invalidIDToken {
            return error
        } catch {
            // The signature cannot be checked, which proves nothing about this token.
            return nil
        }
    }

    /// Handles a new login or an import that took place meanwhile. It counts, not the server's answer about the old
    /// grant.
    private func changedMeanwhile(_ current: StoredToken) async throws -> StoredToken {
        let name = current.profile.name
        let latest = try await store.writing { [holder] store in
            try store.releaseLease(name, of: holder)
            return try store.get(name, for: current.resource)
        }
        // A new login has no tokens for single resources yet.
        if latest.resource != nil, latest.refusal == nil, latest.tokens.accessToken.isEmpty {
            throw TokenRefreshError(.refreshBusy, name)
        }
        guard latest.refusal == nil, latest.tokens.validity(at: now()) != .expired else {
            throw TokenRefreshError(.loginRequired, name)
        }
        return latest
    }
}

/// The reason why no token can be used, although neither the store nor the server has failed: a stable code, the
/// profile, and one sentence that a user can act on.
public struct TokenRefreshError: DescribedError, Hashable, Sendable {
    /// A stable identifier.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The identifier as it is printed.
        public let rawValue: String

        /// A code from its identifier.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The server no longer accepts the grant: only a new login helps.
        public static let loginRequired = Code(rawValue: "login-required")
        /// The access token has expired, and there is no refresh token.
        public static let tokenExpired = Code(rawValue: "token-expired")
        /// There is a refresh token, but the server and the settings for using it are missing.
        package static let settingsMissing = Code(rawValue: "token-settings-missing")
        /// Another process was still refreshing when this one stopped waiting.
        package static let refreshBusy = Code(rawValue: "token-refresh-busy")
    }

    /// The reason for the failure.
    public let code: Code
    /// The profile's name.
    public let profile: String
    private let detail: ErrorSentence

    /// - Parameter hasExpired: Whether the access token has expired as well, for ``Code/tokenExpired``.
    init(_ code: Code, _ profile: String, hasExpired: Bool = true) {
        self.code = code
        self.profile = profile
        detail =
            switch code {
            case .loginRequired:
                "the login was revoked or quarantined, or the server no longer accepts it; "
                    + "log in again\(command: " with 'crumb token login \(profile)'")"
            case .tokenExpired:
                "\(hasExpired ? "the access token has expired, and there" : "there") is no refresh token to renew it with; "
                    + "log in again\(command: " with 'crumb token login \(profile)'"), or import a new one"
            case .settingsMissing:
                "the token endpoint is unknown, so the tokens cannot be renewed; "
                    + "name it\(command: " with 'crumb token import'"), or log in\(app: " again", command: " with 'crumb token login \(profile)'")"
            default: "another process has been refreshing the token for too long; try again"
            }
    }

    /// Creates an error with its own sentence.
    ///
    /// - Parameter detail: What happened and what to do, as a clause without a full stop.
    init(_ code: Code, _ profile: String, detail: ErrorSentence) {
        self.code = code
        self.profile = profile
        self.detail = detail
    }

    /// One sentence that names the profile and what to do.
    public var description: String { "\(profile): \(detail.text)" }
}

extension TokenRefreshError: CommandDescribed {
    package var commandDescription: String { "\(profile): \(detail.commandText)" }
}

/// Sends requests while a lease is held. It renews the lease before each request, and sends none after the lease has
/// expired.
///
/// A program may be stopped at any time and continue an hour later. If it then sent a refresh token that another
/// process has used meanwhile, the login would end.
struct LeasedTransport: EndpointTransport {
    private let base: any EndpointTransport
    private let timeout: Duration
    private let lease: Duration
    private let steadyNow: @Sendable () -> ContinuousClock.Instant
    private let renew: @Sendable () async throws -> Bool
    private let state = State()

    /// - Parameters:
    ///   - base: the transport that sends the requests, and observes ``EndpointRequest/latestSending`` and
    ///     ``EndpointRequest/answerTimeout``.
    ///   - timeout: how long to wait for an answer.
    ///   - lease: how long a renewed lease lasts.
    ///   - steadyNow: returns the time of a monotonic clock, which cannot be set.
    ///   - renew: renews the lease; returns `false` if another holder has it.
    init(
        _ base: any EndpointTransport, timeout: Duration, lease: Duration,
        steadyNow: @escaping @Sendable () -> ContinuousClock.Instant, renew: @escaping @Sendable () async throws -> Bool
    ) {
        self.base = base
        self.timeout = timeout
        self.lease = lease
        self.steadyNow = steadyNow
        self.renew = renew
    }

    /// The reason why nothing was sent; `nil` if the lease is not the reason.
    var failure: (any Error)? { state.failure.withLock { $0 } }

    func send(_ request: EndpointRequest) async throws(OAuth2Error) -> EndpointResponse {
        // Counted from before the renewal, with a clock that cannot be set back. The database's clock decides when
        // others may take the lease, and this end comes first.
        let end = steadyNow() + lease
        do {
            guard try await renew() else { throw LeaseLost() }
        } catch {
            state.failure.withLock { $0 = error }
            throw OAuth2Error(unreachable: "another process is refreshing the tokens")
        }
        return try await base.send(request.sent(before: end, answeredWithin: timeout))
    }

    private final class State: Sendable {
        let failure = Mutex<(any Error)?>(nil)
    }
}

/// Another process has taken the lease. Nothing was sent, and the caller has to check what that process has received.
struct LeaseLost: Error {}
