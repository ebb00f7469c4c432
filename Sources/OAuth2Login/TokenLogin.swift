@_exported public import OAuth2
import Platform
public import SessionStore
import Synchronization

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A login of a user at an authorization server, in one call.
///
/// ```swift
/// let login = TokenLogin(
///     issuer: "https://id.example", clientID: "app", scopes: ["openid", "offline_access"], transport: transport)
/// let stored = try await login.run(storingAs: "work", in: database.tokens) { url in try await browser.open(url) }
/// try await login.logOut("work", from: database.tokens)
/// ```
///
/// A login looks up the server's endpoints, has PKCE, `state` and `nonce`, checks the redirect and the ID token, and
/// stores the tokens with everything that ``refresher(of:)`` needs to renew them. Tokens that it does not store are
/// revoked.
public struct TokenLogin: Sendable {
    /// Where the browser comes back to.
    public enum Redirect: Sendable, Hashable {
        /// A free port of this machine, where the login listens itself (RFC 8252, section 7.3).
        case loopback
        /// A redirect URI that the server knows: an app's own scheme, its `https` URL, or a port of this machine.
        case uri(String)
    }

    /// The server's issuer identifier.
    public var issuer: String
    /// The client's identifier at the server.
    public var clientID: String
    /// The client's secret; `nil` for a public client, as nearly all apps are.
    public var clientSecret: Secret?
    /// The client's certificate and its key (RFC 8705); `nil` for none.
    public var clientCertificate: ClientCertificate?
    /// The scopes to request; if empty, those of the last login under the name.
    public var scopes: Scopes
    /// Where the browser comes back to.
    public var redirect: Redirect
    /// The resources that the tokens are for (RFC 8707).
    public var resources: [String] = []
    /// Further parameters of the page to log in on, such as `prompt` or `login_hint`.
    public var parameters: [(name: String, value: String)] = []
    /// Whether the tokens are bound to a new key (RFC 9449).
    public var bindsTokens = false
    /// Whether the login of another account under the same name is replaced. If not, the login fails.
    public var replacesAccount = false
    /// How long the user may take in the browser.
    public var timeout = Duration.seconds(300)
    /// The name that the user knows the program by, for the page that the browser shows at the end.
    public var program = "The app"

    private let transport: any EndpointTransport
    private let checkIDToken: IDTokenCheck?
    private let clock: any Clock<Duration>
    private let now: (@Sendable () -> Timestamp)?

    /// Creates a login. It sends nothing.
    ///
    /// - Parameters:
    ///   - transport: Sends requests to the server: `URLSessionEndpointTransport` of `URLSessionDecoration`,
    ///     `HTTPClientEndpointTransport` of `AsyncHTTPClientDecoration`, or one of your own.
    ///   - checkIDToken: Checks the signatures of ID tokens: `IDTokenVerifier.check` of `OpenIDConnect`. `nil` if TLS
    ///     suffices (OpenID Connect Core 1.0, section 3.1.3.7, point 6).
    ///   - clock: The clock that measures waits for another device, and for the end of a call that opens a browser.
    ///   - now: Returns the current time; `nil` for the clock of the store's database.
    public init(
        issuer: String, clientID: String, scopes: Scopes = [], redirect: Redirect = .loopback,
        transport: any EndpointTransport, checkingIDTokens checkIDToken: IDTokenCheck? = nil,
        clock: any Clock<Duration> = ContinuousClock(), now: (@Sendable () -> Timestamp)? = nil
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.scopes = scopes
        self.redirect = redirect
        self.transport = transport
        self.checkIDToken = checkIDToken
        self.clock = clock
        self.now = now
    }

    // MARK: - In a browser

    /// Logs in with a browser, and stores the tokens.
    ///
    /// With a redirect to this machine, the login listens there. A request that does not belong to the login gets an
    /// error page, and the wait continues: any program of the machine, and any web page, can send requests there. The
    /// page that the browser shows in the end tells the user whether the tokens are stored.
    ///
    /// If the task is cancelled before the tokens are stored, the call revokes them and throws.
    ///
    /// - Parameters:
    ///   - name: The name to keep the tokens under.
    ///   - store: `database.tokens`.
    ///   - open: Opens a URL in the user's browser. With a redirect to this machine, the URL is one of this machine, too,
    ///     without secrets, so that it may be in the arguments of a program. The result does not matter. If the call
    ///     has not returned when the browser has come back and the tokens are stored, the login waits for it for up to
    ///     2 seconds, and cancels it then. With another redirect, the app receives it: the call returns the URL that the
    ///     browser came back with, as that of `WebAuthenticationBrowser` does. If the call throws, the login ends with
    ///     its error, unless the browser has come back by then.
    /// - Throws: ``LoginError``, `OAuth2Error`, `SessionStoreError`, or the error of `open`.
    public func run<Opened: Sendable>(
        storingAs name: String, in store: TokenStore, open: @escaping @Sendable (URL) async throws -> Opened
    ) async throws -> StoredToken {
        let redirectURI = if case .uri(let uri) = redirect { uri } else { LoopbackRedirect.defaultURI }
        if LoopbackRedirect.isLoopback(redirectURI) {
            return try await run(storingAs: name, in: store, listeningAt: redirectURI) { _ = try await open($0) }
        }
        guard Opened.self == URL.self || Opened.self == URL?.self else {
            throw LoginError(
                .settingsInvalid,
                "\(redirectURI): the app receives this redirect; have 'open' return the URL that the browser came back with"
            )
        }
        let flow = try await flow(name, .authorizationCode, in: store)
        let visit = try await visit(by: flow, comingBackTo: redirectURI)
        guard let target = try await open(try TokenLogin.url(visit.url)) as? URL else { throw CancellationError() }
        return try await stored(visit, redirectedTo: target.absoluteString, by: flow, in: store)
    }

    private func run(
        storingAs name: String, in store: TokenStore, listeningAt redirectURI: String,
        open: @escaping @Sendable (URL) async throws -> Void
    ) async throws -> StoredToken {
        let flow = try await flow(name, .authorizationCode, in: store)
        let listener = try LoopbackRedirect(redirectURI, for: program)
        let visit = try await visit(by: flow, comingBackTo: listener.redirectURI)
        listener.offer(visit.url)
        let opening = try TokenLogin.url(listener.opening)
        // Whether the browser has come back, or cannot be opened: the first of the two counts.
        let isDecided = Atomic(false)
        return try await withThrowingTaskGroup(of: Event.self) { group in
            defer { group.cancelAll() }
            group.addTask { @Sendable in
                do {
                    try await open(opening)
                } catch {
                    guard isDecided.exchange(true, ordering: .relaxed) else { throw error }
                }
                return .opened
            }
            group.addTask { @Sendable [timeout] in
                let arrival = try await listener.arrival(within: timeout) {
                    flow.isEnded(by: $0, of: visit.attempt, comingBackTo: visit.redirectURI)
                }
                do {
                    guard !isDecided.exchange(true, ordering: .relaxed) else { throw CancellationError() }
                    let stored = try await stored(visit, redirectedTo: arrival.target, by: flow, in: store)
                    await arrival.show(.done)
                    return .decided(.success(stored))
                } catch {
                    await arrival.show(.failed(reason: TokenLogin.reason(error)))
                    return .decided(.failure(error))
                }
            }
            var isOpening = true
            var result: Result<StoredToken, any Error>?
            while result == nil || isOpening, let event = try await group.next() {
                switch event {
                case .opened: isOpening = false
                case .decided(let decided):
                    result = decided
                    // The call has its answer, too: most return at once. Foundation on Linux can hang if a request of
                    // URLSession is cancelled at this moment.
                    if isOpening { group.addTask { [clock] in await TokenLogin.patience(by: clock) } }
                case .isOver: isOpening = false
                }
            }
            guard let result else { throw CancellationError() }
            return try result.get()
        }
    }

    /// What happens in a login that listens.
    private enum Event: Sendable {
        /// The call that opens the browser has returned.
        case opened
        /// The browser has come back.
        case decided(Result<StoredToken, any Error>)
        /// The call that opens the browser has had time enough to return.
        case isOver
    }

    /// Waits for the call that opens the browser.
    private static func patience(by clock: any Clock<Duration>) async -> Event {
        try? await clock.sleep(for: .seconds(2))
        return .isOver
    }

    /// One visit of a browser to the server.
    private struct Visit: Sendable {
        let attempt: AuthorizationAttempt
        let redirectURI: String
        let url: String
    }

    private func visit(by flow: LoginFlow, comingBackTo redirectURI: String) async throws -> Visit {
        var generator = SystemRandomNumberGenerator()
        let attempt = AuthorizationAttempt(using: &generator)
        let url = try await flow.exposedAuthorizationURL(for: attempt, comingBackTo: redirectURI)
        return Visit(attempt: attempt, redirectURI: redirectURI, url: url)
    }

    private func stored(
        _ visit: Visit, redirectedTo target: String, by flow: LoginFlow, in store: TokenStore
    ) async throws -> StoredToken {
        let tokens = try await flow.tokens(
            redirectedTo: target, of: visit.attempt, comingBackTo: visit.redirectURI)
        return try await flow.keep(tokens, in: store, if: { try Task.checkCancellation() })
    }

    private static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text) else {
            throw LoginError(.loginFailed, "the page to log in on has no URL that a browser can open")
        }
        return url
    }

    /// A failure for the page in the browser, as a clause.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case is LoginError, is OAuth2Error, is SessionStoreError: "\(error)"
        default: "see the app"
        }
    }

    // MARK: - On another device

    /// Logs in with a browser of another device (RFC 8628), and stores the tokens.
    ///
    /// - Parameters:
    ///   - name: The name to keep the tokens under.
    ///   - store: `database.tokens`.
    ///   - show: Shows the user the code and the address to enter it at. The login then waits until the user has
    ///     confirmed, or the code has expired. If the task is cancelled before the tokens are stored, the login revokes
    ///     them.
    /// - Throws: ``LoginError``, `OAuth2Error`, `SessionStoreError`, or the error of `show`.
    public func runOnAnotherDevice(
        storingAs name: String, in store: TokenStore, show: (DeviceAuthorization) async throws -> Void
    ) async throws -> StoredToken {
        let flow = try await flow(name, .deviceCode, in: store)
        let device = try await flow.deviceAuthorization()
        try await show(device)
        let tokens = try await flow.tokens(confirmed: device, clock: clock)
        return try await flow.keep(tokens, in: store, if: { try Task.checkCancellation() })
    }

    // MARK: - Afterwards

    /// Returns valid tokens of logins from now on, each renewed once for all callers in this process and in others.
    ///
    /// Create one for a process: its callers share requests.
    public func refresher(of store: TokenStore) -> TokenRefresher {
        TokenRefresher(
            store: store, transport: transport, checkingIDTokens: checkIDToken,
            process: getpid(), clock: clock, now: now)
    }

    /// Revokes the tokens of a login at its server. The login's settings stay.
    ///
    /// - Returns: The kinds of tokens that the server has ended.
    /// - Throws: ``LoginError``, `OAuth2Error`, or `SessionStoreError`.
    @discardableResult
    public func revoke(_ name: String, of store: TokenStore) async throws -> [TokenKind] {
        try await TokenRevoker(store, over: transport, now: clock(of: store)).revoke(name)
    }

    /// Revokes the tokens of a login at its server, and removes the login.
    ///
    /// The login is removed although its tokens were not revoked if the server cannot revoke tokens, or is unknown. It
    /// stays if the server cannot be reached, or if another process keeps renewing its tokens.
    ///
    /// - Parameter force: Whether to remove the login whatever the server answers.
    /// - Throws: ``LoginError``, `OAuth2Error`, or `SessionStoreError`.
    @discardableResult
    public func logOut(_ name: String, from store: TokenStore, force: Bool = false) async throws -> LogoutOutcome {
        let outcome = try await TokenRevoker(store, over: transport, now: clock(of: store)).revoke(
            beforeRemoving: name, force: force)
        // Another process may have removed it meanwhile.
        _ = try await store.remove(name, at: now?())
        return outcome
    }

    private func flow(
        _ name: String, _ grant: ProfileSettings.Grant, in store: TokenStore
    ) async throws -> LoginFlow {
        var request = TokenLoginRequest(name: name)
        request.issuer = issuer
        request.clientID = clientID
        request.clientSecret = clientSecret
        request.clientCertificate = clientCertificate
        request.grant = grant
        request.scope = scopes.isEmpty ? nil : scopes.description
        request.resources = resources
        request.replacesAccount = replacesAccount
        if case .uri(let uri) = redirect, grant == .authorizationCode { request.redirectURI = uri }
        request.parameters = parameters
        request.bindsTokens = bindsTokens
        let plan = try await request.plan(store, over: transport)
        return LoginFlow(plan, over: transport, checkingIDTokens: checkIDToken, now: clock(of: store))
    }

    private func clock(of store: TokenStore) -> @Sendable () -> Timestamp {
        now ?? { [clock = store.clock] in clock.now }
    }
}
