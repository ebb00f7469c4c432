import CookieModel
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import OAuth2
import OAuth2Login
import SessionOperations
import SessionStore
import SessionWire

extension LoginDocument {
    /// How the user logs in.
    private enum Flow: String, CaseIterable {
        case browser, device
        case clientCredentials = "client-credentials"
        case jwtBearer = "jwt-bearer"
        case tokenExchange = "token-exchange"

        var grant: ProfileSettings.Grant {
            switch self {
            case .browser: .authorizationCode
            case .device: .deviceCode
            case .clientCredentials: .clientCredentials
            case .jwtBearer: .jwtBearer
            case .tokenExchange: .tokenExchange
            }
        }
    }

    private func preset() throws -> ProviderPreset {
        guard let provider else {
            guard providerTenant == nil, providerHost == nil else {
                throw ServiceFailure.bodyInvalid("provider: providerTenant and providerHost belong to a provider")
            }
            return ProviderPreset()
        }
        return try ProviderPreset.named(provider, tenant: providerTenant, host: providerHost)
    }

    fileprivate func request() throws -> TokenLoginRequest {
        let flow = try Flow.named(self.flow, member: "flow")
        let keyAudience = try ProfileSettings.AssertionAudience.named(self.keyAudience, member: "keyAudience")
        let authMethod = try ProfileSettings.AuthenticationMethod.named(self.authMethod, member: "authMethod")
        guard clientSecret == nil || clientKey == nil else {
            throw ServiceFailure.bodyInvalid("clientKey: use either a secret or a key")
        }
        guard idTokenAlgorithm.map(IDTokenAlgorithm.names.contains) ?? true else {
            let names = IDTokenAlgorithm.names.joined(separator: ", ")
            throw ServiceFailure.bodyInvalid("idTokenAlgorithm: use one of \(names)")
        }
        // Before anyone logs in: a name or account that cannot be stored would end the login when its tokens have come.
        try SessionStoreError.check(name, of: "token")
        for (member, text) in [("issuer", issuer), ("clientID", clientID), ("account", account), ("scope", scope)]
        where text?.utf8.contains(0) == true {
            throw ServiceFailure.bodyInvalid("\(member): remove U+0000")
        }
        let preset = try preset()
        var request = TokenLoginRequest(name: name)
        request.issuer = issuer ?? preset.issuer
        for (name, url) in (preset.endpoints ?? [:]).merging(endpoints ?? [:], uniquingKeysWith: { $1 }) {
            guard let endpoint = ServerMetadata.Endpoint(rawValue: name) else {
                throw ServiceFailure.bodyInvalid("endpoints: \(ServerMetadata.Endpoint.hint)")
            }
            request.endpoints[endpoint] = url
        }
        request.clientID = clientID
        request.clientSecret =
            try clientKey.map { try SigningKey(pem: Secret($0)).secret } ?? clientSecret.map { Secret($0) }
        request.authenticationMethod = authMethod ?? (clientKey == nil ? nil : .privateKeyJWT)
        guard register == true || registrationToken == nil else {
            throw ServiceFailure.bodyInvalid("register: registrationToken belongs to a registration")
        }
        if register == true {
            request.registration = TokenLoginRequest.Registration(token: registrationToken.map { Secret($0) })
        }
        request.clientCertificate = try clientCertificate.map { try ClientCertificate(pem: Secret($0)) }
        request.keyID = keyID
        request.assertionAudience = keyAudience
        request.idTokenAlgorithm = idTokenAlgorithm
        guard exchange != nil || actor == nil && audiences == nil else {
            throw ServiceFailure.bodyInvalid("exchange: actor and audiences belong to an exchange")
        }
        request.grant = flow?.grant ?? (exchange == nil ? nil : .tokenExchange)
        request.exchange = exchange.map {
            ProfileSettings.Exchange(subject: $0, actor: actor, audiences: audiences ?? [])
        }
        request.assertionKey = try assertionKey.map { try SigningKey(pem: Secret($0)).secret }
        request.assertion = ProfileSettings.Assertion(
            issuer: assertionIssuer, subject: assertionSubject, audience: assertionAudience, keyID: assertionKeyID)
        request.scope = scope
        request.defaultScope = preset.scope
        request.resources = resources ?? []
        request.account = account
        request.replacesAccount = replaceAccount ?? false
        request.asksForConsent = !ProviderPreset.hasRules(for: provider, issuer: request.issuer)
        request.redirectURI = redirectURI
        request.pushes = push ?? false
        let parameters = (preset.parameters ?? [:]).merging(parameters ?? [:]) { $1 }
        request.parameters = parameters.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        request.bindsTokens = dpop ?? false
        request.dangerouslyAllowsPlainHTTP = dangerouslyAllowPlainHTTP ?? false
        return request
    }
}

extension LoginReport {
    fileprivate init(_ login: LoginRegistry.Login) {
        let (state, problem): (String, ProblemReport?) =
            switch login.state {
            case .pending, .ending: ("pending", nil)
            case .done: ("done", nil)
            case .failed(let problem): ("failed", problem)
            }
        self.init(
            id: login.id, name: login.name, state: state, expires: login.expiry.rfc3339, problem: problem)
    }
}

extension SessionAPI {
    var loginRoutes: [ServiceRoute] {
        [
            ServiceRoute(.beginLogin, use: beginLogin),
            ServiceRoute(.getLogin) { _, context in
                .json(LoginReport(try await login(try context.pathParameter("id"))))
            },
            ServiceRoute(.endLogin) { _, context in
                let id = try context.pathParameter("id")
                try await blocking { try logins.forget(id, now: now()) }
                return Response(status: .noContent)
            },
            ServiceRoute(.redirectLogin, use: takeRedirect),
            // The user's browser has no token. Its request is identified by the state, which cannot be guessed.
            ServiceRoute(.loginCallback, use: callback),
        ]
    }

    private func beginLogin(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let document = try await request.document(LoginDocument.self, in: context)
        var asked = try document.request()
        asked.registration?.defaultRedirectURI = tokens.callback.url
        let flow = try await tokens.access.flow(asked)
        var report: LoginReport
        switch flow.plan.credentials.settings.grant {
        case .clientCredentials, .jwtBearer, .tokenExchange:
            let issued = try await flow.tokensWithoutUser { try await tokens.access.refresher.token($0).tokens }
            _ = try await flow.keep(issued, in: tokens.access.store, if: { try agentLock.check() })
            report = LoginReport(try await begin(asked.name, .none))
        case .deviceCode:
            let device = try await flow.deviceAuthorization()
            let login = try await begin(asked.name, .confirm, until: device.expiry)
            Task {
                await finish(login.id, .polling, flow) {
                    try await flow.tokens(confirmed: device, clock: tokens.clock, while: { await isWanted(login.id) })
                }
            }
            report = LoginReport(login)
            report.verificationURI = device.verificationURI
            report.verificationURIComplete = device.verificationURIComplete
            report.userCode = device.userCode
        case .authorizationCode, .imported:
            let registered = flow.plan.credentials.settings.redirectURI ?? tokens.callback.url
            guard let redirectURI = document.browserReturnsTo ?? registered else {
                throw ServiceFailure.bodyInvalid(
                    "redirectURI: browsers cannot reach this service, since it has no TCP address and no "
                        + "'public.url'; set a redirectURI, and send the URL that the browser was redirected to")
            }
            var generator = SystemRandomNumberGenerator()
            let attempt = AuthorizationAttempt(using: &generator)
            let url = try await flow.exposedAuthorizationURL(for: attempt, comingBackTo: redirectURI)
            let visit = BrowserVisit(plan: flow.plan, attempt: attempt, redirectURI: redirectURI)
            report = LoginReport(try await begin(asked.name, .visit(visit)))
            report.authorizationURL = url
        }
        var response = Response.json(report, status: .created)
        response.headers[.location] = "/v1/logins/\(report.id)"
        return response
    }

    private func begin(
        _ name: String, _ task: LoginRegistry.UserTask, until expiry: Timestamp? = nil
    ) async throws -> LoginRegistry.Login {
        try await blocking { try logins.begin(name, task, until: expiry, now: now()) }
    }

    private func login(_ id: String) async throws -> LoginRegistry.Login {
        try await blocking { try logins.login(id, now: now()) }
    }

    /// Ends a login with the URL that the browser ended at.
    private func takeRedirect(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        let url = try await request.document(RedirectDocument.self, in: context).url
        let id = try context.pathParameter("id")
        guard let login = try await end(try await login(id), with: url) else {
            throw ServiceFailure(.loginFailed, "this URL does not belong to the login")
        }
        return .json(LoginReport(login))
    }

    /// Takes the browser that comes back from a login, and shows the user how it ended.
    ///
    /// A locked service leaves the code unused: the same page ends the login once the service is unlocked.
    private func callback(_ request: Request, _ context: ServiceRequestContext) async throws -> Response {
        // A HEAD request must not end a login.
        guard request.method == .get else { return SessionAPI.page(.notThisLogin, .badRequest) }
        do {
            let url = request.uri.description
            let found = try await blocking { try logins.login(redirectedTo: url, now: now()) }
            guard let found, let login = try await end(found, with: url) else {
                return SessionAPI.page(.notThisLogin, .badRequest)
            }
            guard case .failed(let problem) = login.state else { return SessionAPI.page(.done, .ok) }
            return SessionAPI.page(.failed(problem.detail), .badRequest)
        } catch let problem as ServiceFailure where problem.code == ServiceFailure.agentLocked.code {
            return SessionAPI.page(
                LoginPage("The service is locked", "Unlock it with 'crumb token agent unlock', then reload this page."),
                problem.status)
        } catch let problem as ServiceFailure where problem.code == FailureKind.loginNotFound.code {
            return SessionAPI.page(.failed("It was cancelled, or has expired"), .badRequest)
        }
    }

    private static func page(_ page: LoginPage, _ status: HTTPResponse.Status) -> Response {
        var fields = HTTPFields()
        for field in LoginPage.fields { HTTPField.Name(field.name).map { fields[$0] = field.value } }
        return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(string: page.html)))
    }

    /// Ends a login with a URL that the browser came back to, and waits for the end.
    ///
    /// - Returns: The login as it ended; `nil` if the URL does not belong to it.
    /// - Throws: `ServiceFailure` if the service is locked. The login still waits for its browser.
    private func end(_ login: LoginRegistry.Login, with url: String) async throws -> LoginRegistry.Login? {
        let flow = login.visit.map { tokens.access.flow($0.plan) }
        if let visit = login.visit, let flow, !flow.isEnded(by: url, of: visit.attempt, comingBackTo: visit.redirectURI)
        {
            return nil
        }
        try agentLock.check()
        switch try await blocking({ try logins.take(login.id, with: url, now: now()) }) {
        case .refused: return nil
        case .ending: break
        case .taken(let attempt):
            guard let visit = login.visit, let flow else { return nil }
            // It goes on if the browser leaves: the server has ended the code.
            await Task {
                await finish(login.id, attempt, flow) {
                    try await flow.tokens(redirectedTo: url, of: visit.attempt, comingBackTo: visit.redirectURI)
                }
            }.value
        }
        return try await ended(login.id)
    }

    /// How often a service looks whether another one has ended a login.
    private static let interval = Duration.milliseconds(200)

    /// Waits until a login that is being ended has ended, or its attempt has taken too long.
    private func ended(_ id: String) async throws -> LoginRegistry.Login {
        while true {
            let login = try await login(id)
            guard case .ending = login.state else { return login }
            try await tokens.clock.sleep(for: Self.interval)
        }
    }

    /// Whether to go on asking the server for the tokens of a login. A database that cannot be read for a while cancels
    /// none.
    private func isWanted(_ id: String) async -> Bool {
        do {
            guard case .pending = try await login(id).state else { return false }
            return true
        } catch {
            return ServiceFailure(error).code != FailureKind.loginNotFound.code
        }
    }

    /// Gets the tokens of a login, stores them, and records how the login ended. Tokens that come after the login was
    /// cancelled, or while the service is locked, are revoked.
    private func finish(
        _ id: String, _ attempt: LoginRegistry.Attempt, _ flow: LoginFlow, _ body: () async throws -> TokenSet
    ) async {
        var problem: ServiceFailure?
        // Not on behalf of the request that began this: it may have been answered long ago.
        do {
            _ = try await flow.keep(try await body(), in: tokens.access.store) {
                try await writers.runIfActive { try logins.confirm(id, attempt, now: now()) }
                try agentLock.check()
            }
        } catch {
            problem = ServiceFailure(error)
        }
        try? await writers.runIfActive { [problem] in try logins.end(id, attempt, problem, now: now()) }
    }
}
