import CookieModel
import Foundation
import OAuth2
import SessionStore

/// Logs in at a server, in one way or another.
struct TokenLogin {
    /// The server.
    let metadata: ServerMetadata
    /// Issuer and client; the account is known afterwards.
    let profile: ProfileID
    /// How the client authenticates, and what is asked for.
    let credentials: ProfileCredentials
    /// Further parameters of a login in a browser.
    let parameters: [(name: String, value: String)]
    let console: Console

    private var scopes: Scopes { credentials.settings.scopes.map { Scopes(parsing: $0) } ?? [] }

    /// The client's own tokens.
    func withClientCredentials() throws -> TokenSet {
        let grant = ClientCredentialsGrant(
            tokenEndpoint: try url(.token), authentication: try authentication(),
            scopes: scopes.isEmpty ? nil : scopes, resources: credentials.settings.resources)
        return try grant.tokens(in: try send(grant.request()), now: Timestamp.now.microseconds)
    }

    // MARK: - On another device

    /// Tells the user what to type where, and waits.
    func onAnotherDevice() throws -> TokenSet {
        var grant = DeviceGrant(
            deviceAuthorizationEndpoint: try url(.deviceAuthorization), tokenEndpoint: try url(.token),
            authentication: try authentication(), scopes: scopes, resources: credentials.settings.resources)
        var device = try grant.authorization(
            in: try send(grant.authorizationRequest()), now: Timestamp.now.microseconds)
        // Whoever asks for a login wants to see this, quiet or not.
        console.ask("Open \(device.verificationURI) and enter the code \(device.userCode)")
        if let complete = device.verificationURIComplete { console.ask("or open \(complete)") }
        while Timestamp.now.microseconds < device.expiry {
            Thread.sleep(forTimeInterval: TimeInterval(device.interval))
            // Signed anew for each request, where the client signs.
            grant.authentication = try authentication()
            do {
                let response = try send(grant.request(polling: device))
                switch try grant.outcome(in: response, polling: device, now: Timestamp.now.microseconds) {
                case .issued(let tokens): return try checked(tokens, nonce: nil)
                case .pending: break
                case .slowDown: device.slowDown()
                }
            } catch let error as OAuth2Error where error.isTemporary {
                // Section 3.5 of RFC 8628: ask less often.
                device.slowDown()
            }
        }
        throw Problem(.loginFailed, "the code was not confirmed in time; log in again")
    }

    // MARK: - In a browser

    /// How a login in a browser goes on.
    struct BrowserOptions {
        /// Whether the browser is opened; if not, the user gets the URL.
        var opensBrowser = true
        /// Where the browser comes back to.
        var redirectURI = "http://127.0.0.1/callback"
        /// Whether the request is pushed to the server beforehand.
        var pushes = false
        /// How long the user may take.
        var timeout = Duration.seconds(300)
    }

    /// Sends the user to the server in a browser, and waits until the browser comes back.
    func inBrowser(_ options: BrowserOptions) throws -> TokenSet {
        let redirect = try LoopbackRedirect(options.redirectURI)
        var grant = AuthorizationCodeGrant(
            authorizationEndpoint: try url(.authorization), tokenEndpoint: try url(.token), issuer: metadata.issuer,
            sendsIssuer: metadata.sendsIssuer, authentication: try authentication(), redirectURI: redirect.redirectURI,
            scopes: scopes, resources: credentials.settings.resources)
        grant.parameters = parameters
        var generator = SystemRandomNumberGenerator()
        let attempt = AuthorizationAttempt(using: &generator)
        var url = grant.exposedAuthorizationURL(for: attempt)
        if options.pushes || metadata.requiresPushedRequests {
            let push = grant.pushRequest(to: try self.url(.pushedAuthorization), for: attempt)
            url = try grant.exposedAuthorizationURL(afterPush: try send(push), of: attempt)
        }
        if !options.opensBrowser || !WebBrowser.open(url) {
            console.ask("Open this page in a browser:\n\(url)")
            if !options.opensBrowser {
                console.ask("Where the browser cannot come back, paste the URL that it ended at.")
            }
        }
        let arrival = try redirect.arrival(
            until: .now + options.timeout, readsInput: !options.opensBrowser
        ) { target in
            do throws(OAuth2Error) {
                _ = try grant.code(inRedirect: target, to: attempt)
                return true
            } catch {
                // A refusal is an answer to this login, too.
                return error.code != .stateMismatch && error.code != .invalidRedirect
            }
        }
        guard let arrival else { throw Problem(.loginFailed, "nobody logged in within the time; log in again") }
        do {
            let code = try grant.code(inRedirect: arrival.target, to: attempt)
            grant.authentication = try authentication()
            let response = try send(grant.request(redeeming: code, of: attempt))
            let tokens = try checked(
                try grant.tokens(in: response, redeeming: code, of: attempt, now: Timestamp.now.microseconds),
                nonce: scopes.contains("openid") ? attempt.nonce : nil)
            arrival.finish(.done)
            return tokens
        } catch {
            arrival.finish(.failed)
            throw error
        }
    }

    // MARK: - Parts

    private func url(_ endpoint: ServerMetadata.Endpoint) throws(OAuth2Error) -> EndpointURL {
        try credentials.settings.url(of: endpoint)
    }

    private func authentication() throws -> ClientAuthentication {
        var generator = SystemRandomNumberGenerator()
        return try credentials.authentication(of: profile, now: Timestamp.now.microseconds, using: &generator)
    }

    private func send(_ request: EndpointRequest) throws -> EndpointResponse {
        let transport = try credentials.binding(HelperTransport()) { Timestamp.now.microseconds }
        return try Blocking.run { try await transport.send(request) }
    }

    /// The tokens, where their ID token, if there is one, is of this server and this login.
    private func checked(_ tokens: TokenSet, nonce: Secret?) throws -> TokenSet {
        guard let idToken = tokens.idToken, !metadata.issuer.isEmpty else { return tokens }
        let claims = try IDTokenClaims(unverified: idToken)
        try claims.check(
            issuer: metadata.issuer, clientID: profile.clientID, nonce: nonce, now: Timestamp.now.microseconds)
        // Of a token signed with the client's own secret, as of one whose server has no keys to show, TLS alone vouches
        // for the issuer, which is enough for what comes from the token endpoint (OpenID Connect Core 1.0, section
        // 3.1.3.7, point 6).
        guard credentials.settings.endpoints[.keys] != nil, claims.algorithm?.hasPrefix("HS") != true else {
            return tokens
        }
        try IDTokenSignature.check(idToken, keys: try send(EndpointRequest(reading: try url(.keys))))
        return tokens
    }
}
