import OAuth2
import OAuth2Login
import Platform
import SessionClient
import SessionOperations

/// A login whose browser is on this machine, and whose tokens a running service gets and keeps: none of them comes here.
struct RemoteLogin {
    private let service: ServiceConnection
    private let console: Console
    /// How long to wait between two looks at a login on another device.
    private static let pause = UInt32(2)

    init(_ service: ServiceConnection, console: Console) {
        self.service = service
        self.console = console
    }

    /// Logs in, and waits for the end.
    ///
    /// - Parameter document: The options.
    /// - Returns: The login as the service keeps it.
    func run(_ document: LoginDocument, _ presentation: TerminalLogin.Presentation) throws -> StoredTokenReport {
        var document = document
        // Only the service knows whether this login uses a browser: the name may have been used before.
        let redirect = try LoopbackRedirect(terminal: document.redirectURI)
        document.browserReturnsTo = redirect.redirectURI
        if document.register == true { document.redirectURI = document.redirectURI ?? LoopbackRedirect.defaultURI }
        let login: LoginReport = try service.answer(to: .beginLogin(document))
        let end = ContinuousClock.now + .seconds(presentation.timeout ?? (login.authorizationURL == nil ? 3600 : 300))
        if let url = login.authorizationURL {
            try visit(url, redirect, of: login, presentation, until: end)
        } else if let device = login.device {
            try TerminalLogin.show(device, presentation, on: console)
            try awaitEnd(of: login, until: end)
        } else {
            try check(login)
        }
        let status: TokenStatusReport = try service.answer(to: .token(document.name))
        return status.token
    }

    /// Sends the user to the server in a browser, and the service where the browser comes back to.
    private func visit(
        _ url: String, _ redirect: LoopbackRedirect, of login: LoginReport, _ presentation: TerminalLogin.Presentation,
        until end: ContinuousClock.Instant
    ) throws {
        redirect.offer(url)
        let readsInput = try TerminalLogin.offer(url, redirect, presentation, on: console)
        var result: Result<LoginReport, any Error>?
        let arrival = redirect.arrival(until: end, readsInput: readsInput) { target in
            do {
                result = .success(
                    try service.answer(
                        to: .endLogin(login.id, redirectedTo: target)))
                return true
            } catch let error as SessionClientError where error.has(.loginFailed) {
                // The service waits on: this was no answer to the login.
                return false
            } catch {
                result = .failure(error)
                return true
            }
        }
        guard let arrival, let result else {
            forget(login)
            throw CommandFailure(.loginFailed, "the login timed out; log in again")
        }
        try arrival.finish { try check(try result.get()) }
    }

    /// Looks at a login until it has ended.
    private func awaitEnd(of login: LoginReport, until end: ContinuousClock.Instant) throws {
        do {
            while ContinuousClock.now < end {
                let latest: LoginReport = try service.answer(to: .login(login.id))
                guard latest.state == "pending" else { return try check(latest) }
                sleep(RemoteLogin.pause)
            }
            forget(login)
        } catch let error as SessionClientError where error.problem?.code == "login-not-found" {
            // The service forgets a login with its code.
        }
        throw CommandFailure(.loginFailed, "the code was not confirmed in time; log in again")
    }

    /// Has the service stop waiting. If that fails, the service forgets the login by itself.
    private func forget(_ login: LoginReport) {
        try? service.send(.cancelLogin(login.id))
    }

    private func check(_ login: LoginReport) throws {
        guard login.state != "done" else { return }
        guard let problem = login.problem else {
            throw CommandFailure(.loginFailed, "the login did not complete; log in again")
        }
        throw SessionClientError(problem, from: service.address)
    }
}

extension LoginReport {
    /// The step that the user has to take on another device; `nil` for another kind of login.
    fileprivate var device: DeviceLoginReport? {
        guard let verificationURI, let userCode else { return nil }
        return DeviceLoginReport(
            verificationURI: verificationURI, verificationURIComplete: verificationURIComplete, userCode: userCode,
            expires: expires)
    }
}

extension LoginDocument {
    /// The document of a request.
    ///
    /// - Parameters:
    ///   - clientKey: The client's private key in PEM, which takes the place of the request's secret.
    ///   - assertionKey: The private key in PEM that signs assertions.
    init(_ request: TokenLoginRequest, clientKey: Secret?, assertionKey: Secret?) {
        self.init(name: request.name)
        flow =
            switch request.grant {
            case .deviceCode: "device"
            case .clientCredentials: "client-credentials"
            case .jwtBearer: "jwt-bearer"
            case .tokenExchange: "token-exchange"
            case .authorizationCode, .imported, nil: nil
            }
        issuer = request.issuer
        endpoints =
            request.endpoints.isEmpty
            ? nil : Dictionary(uniqueKeysWithValues: request.endpoints.map { ($0.key.rawValue, $0.value) })
        clientID = request.clientID
        clientSecret = clientKey == nil ? request.clientSecret?.exposedText : nil
        self.clientKey = clientKey?.exposedText
        keyID = request.keyID
        keyAudience = request.assertionAudience?.rawValue
        authMethod = request.authenticationMethod?.rawValue
        idTokenAlgorithm = request.idTokenAlgorithm
        scope = request.scope ?? request.defaultScope
        resources = request.resources.isEmpty ? nil : request.resources
        account = request.account
        replaceAccount = request.replacesAccount ? true : nil
        redirectURI = request.redirectURI
        push = request.pushes ? true : nil
        parameters =
            request.parameters.isEmpty
            ? nil : Dictionary(request.parameters.map { ($0.name, $0.value) }) { $1 }
        dpop = request.bindsTokens ? true : nil
        dangerouslyAllowPlainHTTP = request.dangerouslyAllowsPlainHTTP ? true : nil
        self.assertionKey = assertionKey?.exposedText
        assertionKeyID = request.assertion.keyID
        assertionIssuer = request.assertion.issuer
        assertionSubject = request.assertion.subject
        assertionAudience = request.assertion.audience
        exchange = request.exchange?.subject
        actor = request.exchange?.actor
        audiences = request.exchange.map(\.audiences)
        clientCertificate = request.clientCertificate?.pem.exposedText
        register = request.registration == nil ? nil : true
        registrationToken = request.registration?.token?.exposedText
    }
}
