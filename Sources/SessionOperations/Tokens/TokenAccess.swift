package import CookieModel
package import OAuth2
package import OAuth2Login
package import RequestDecoration
package import SessionStore
package import SessionWire

/// The logins of a database, and the client of their authorization servers.
package struct TokenAccess: Sendable {
    package let store: TokenStore
    /// Refreshes tokens. A process has one, so that all callers who want the same token refreshed share the request.
    package let refresher: TokenRefresher
    private let transport: any EndpointTransport
    private let checkIDToken: IDTokenCheck?
    let now: @Sendable () -> Timestamp
    /// Runs a write to the database. A program with threads that may block for that runs it there.
    package var writing: @Sendable (_ body: @escaping @Sendable () throws -> Bool) async throws -> Bool = { try $0() }

    /// Creates the client of a process.
    ///
    /// - Parameters:
    ///   - transport: Sends requests to authorization servers.
    ///   - checkIDToken: Checks the signatures of ID tokens with the server's keys.
    ///   - process: The identifier of this process, which tells people the process that refreshes a token.
    ///   - shield: Keeps signals from ending the process between a request and the storing of its answer.
    ///   - clock: The clock that measures waits.
    package init(
        _ store: TokenStore, over transport: any EndpointTransport, checkingIDTokens checkIDToken: IDTokenCheck?,
        process: Int32, timing: TokenRefresher.Timing = TokenRefresher.Timing(),
        shield: @escaping TokenRefresher.Shield = { try await $0() }, clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.transport = transport
        self.checkIDToken = checkIDToken
        self.now = now
        refresher = TokenRefresher(
            store: store, transport: transport, checkingIDTokens: checkIDToken, process: process, timing: timing,
            shield: shield, clock: clock, now: now)
    }

    /// The fallback that recognizes "not signed in" by a jar's rules, and signs its requests in again.
    package func fallback(_ rules: [LoginRule]) -> LoginFallback {
        LoginFallback(rules: rules, store: store, refresher: refresher, transport: transport)
    }

    /// Begins a login at a server.
    package func flow(_ request: TokenLoginRequest) async throws -> LoginFlow {
        flow(try await request.plan(store, over: transport))
    }

    /// Continues a login at a server.
    package func flow(_ plan: TokenLoginPlan) -> LoginFlow {
        LoginFlow(plan, over: transport, checkingIDTokens: checkIDToken, now: now)
    }

    /// Revokes the tokens of a login at its server.
    ///
    /// - Returns: The kinds of tokens that the server has ended.
    /// - Throws: `LoginError`, `SessionStoreError`, or `OAuth2Error`.
    package func revoke(_ name: String) async throws -> [TokenKind] {
        try await TokenRevoker(store, over: transport, now: now).revoke(name)
    }

    /// Revokes the tokens of a login at its server, and removes the login.
    ///
    /// The login is removed although its tokens were not revoked if the server cannot revoke tokens, or is unknown. It
    /// stays if the server cannot be reached, or if another process keeps renewing its tokens.
    ///
    /// - Parameter force: Whether to remove the login whatever the server answers.
    package func logOut(_ name: String, force: Bool) async throws -> RevocationReport {
        let outcome = try await TokenRevoker(store, over: transport, now: now).revoke(
            beforeRemoving: name, force: force)
        // Another process may have removed it meanwhile.
        _ = try await writing { [store, now] in try store.remove(name, now: now()) }
        return RevocationReport(name: name, revoked: outcome.revoked, isRemoved: true, problem: outcome.commandProblem)
    }
}
