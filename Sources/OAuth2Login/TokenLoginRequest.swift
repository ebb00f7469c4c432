package import OAuth2
package import SessionStore
import WebPrimitives

/// The parameters of a login. Those left out have the values of the last login under the name.
///
/// An app logs in with ``TokenLogin``, which names a server and a client, has a user, and registers no client. So an error
/// about any other parameter reaches only the command and the service, and names the command's option alone.
package struct TokenLoginRequest: Sendable {
    /// The name to keep the tokens under.
    package var name: String
    /// The server's issuer identifier, from which its endpoints are looked up.
    package var issuer: String?
    /// Endpoints that the server does not tell.
    package var endpoints: [ServerMetadata.Endpoint: String] = [:]
    package var clientID: String?
    /// How the client is registered at the server first (RFC 7591); `nil` for a client that is known to it.
    package var registration: Registration?
    package var clientSecret: Secret?
    package var authenticationMethod: ProfileSettings.AuthenticationMethod?
    /// The client's certificate and its key.
    package var clientCertificate: ClientCertificate?
    package var keyID: String?
    package var assertionAudience: ProfileSettings.AssertionAudience?
    /// The algorithm of ID tokens that the client is registered for.
    package var idTokenAlgorithm: String?
    package var grant: ProfileSettings.Grant?
    /// The private key that signs assertions in the place of a user's login, and the claims of these.
    package var assertionKey: Secret?
    package var assertion = ProfileSettings.Assertion()
    /// The token exchange by which the tokens are obtained.
    package var exchange: ProfileSettings.Exchange?
    package var scope: String?
    /// The scopes if neither this request nor the last login has any: those of a provider's preset.
    package var defaultScope: String?
    package var resources: [String] = []
    /// The account that the tokens are for; `nil` for the one of the last login if it was named, else for the one in
    /// the ID token.
    package var account: String?
    /// Whether the login of another account under the name may be replaced.
    package var replacesAccount = false
    /// Whether the server may want a user's consent before it gives tokens that outlive the session, as OpenID Connect
    /// Core 1.0, section 11 has it. Providers that are known beforehand have rules of their own.
    package var asksForConsent = true
    /// Where the browser comes back to.
    package var redirectURI: String?
    /// Whether the request is pushed to the server beforehand.
    package var pushes = false
    /// Further parameters of the page to log in on.
    package var parameters: [(name: String, value: String)] = []
    /// Whether tokens are bound to a new key.
    package var bindsTokens = false
    /// Whether secrets may go unencrypted to other machines.
    package var dangerouslyAllowsPlainHTTP = false

    /// The parameters of a client registration.
    package struct Registration: Sendable {
        /// The initial access token, for servers that want one.
        package var token: Secret?
        /// Where browsers come back to if the login does not say.
        package var defaultRedirectURI: String?

        package init(token: Secret? = nil, defaultRedirectURI: String? = nil) {
            self.token = token
            self.defaultRedirectURI = defaultRedirectURI
        }
    }

    package init(name: String) {
        self.name = name
    }

    /// Finds out how the login goes: from the request, the last login under the name, and the server.
    ///
    /// - Throws: `LoginError`, `SessionStoreError`, or `OAuth2Error`.
    package func plan(_ store: TokenStore, over transport: any EndpointTransport) async throws -> TokenLoginPlan {
        guard let registration else { return try await planForKnownClient(store, over: transport) }
        guard clientID == nil, clientSecret == nil, clientCertificate == nil else {
            throw LoginError(
                .settingsInvalid,
                "\(name): a client that the server registers gets its identifier and secret from the server; "
                    + "leave out your own")
        }
        let client = try await registered(registration, store, over: transport)
        var request = self
        request.registration = nil
        request.clientID = client.clientID
        request.clientSecret = client.secret
        request.authenticationMethod = client.authenticationMethod
        request.idTokenAlgorithm = idTokenAlgorithm ?? client.idTokenAlgorithm
        if grant == nil || grant == .authorizationCode {
            request.redirectURI = redirectURI ?? registration.defaultRedirectURI
        }
        var plan = try await request.planForKnownClient(store, isNewClient: true, over: transport)
        plan.credentials.registrationToken = client.accessToken
        plan.credentials.settings.registrationURL = client.managementURL
        return plan
    }

    /// Registers a client for this login.
    private func registered(
        _ registration: Registration, _ store: TokenStore, over transport: any EndpointTransport
    ) async throws -> RegisteredClient {
        let earlier = try await store.reading { store in try self.earlier(named: name, in: store) }
        let grant = grant(after: earlier)
        let lookup = ServerLookup(
            issuer: issuer ?? earlier?.profile.issuer,
            endpoints: isSameServer ? earlier?.credentials.settings.endpoints ?? [:] : endpoints,
            dangerouslyAllowsPlainHTTP: dangerouslyAllowsPlainHTTP)
        let metadata = try await lookup.metadata(
            for: name, needing: needed(grant).union([.registration]), over: transport)
        let method = authenticationMethod ?? metadata.registeredMethod(of: grant)
        guard method == .none || method.takesSecret else {
            throw LoginError(
                .settingsInvalid,
                "\(name): Crumb registers clients with a secret or without one; register one with a key or a "
                    + "certificate at the server, and log in with --client-id")
        }
        let settings = ProfileSettings(
            grant: grant, endpoints: metadata.endpoints, authenticationMethod: method,
            scopes: (scope ?? earlier?.credentials.settings.scopes ?? defaultScope).map { Scopes(parsing: $0) })
        let request = ClientRegistration(
            endpoint: try metadata.url(
                of: .registration, dangerouslyAllowingPlainHTTP: dangerouslyAllowsPlainHTTP),
            redirectURI: redirectURI ?? registration.defaultRedirectURI, settings: settings)
        let response = try await transport.send(request.request(with: registration.token))
        return try request.client(in: response, with: registration.token)
    }
}

extension ServerMetadata {
    /// How a client uses its secret at the server: the first of these methods that the server takes (RFC 8414, section
    /// 2: without a list, it is `client_secret_basic`).
    package var secretMethod: ProfileSettings.AuthenticationMethod {
        let methods: [ProfileSettings.AuthenticationMethod] = [.clientSecretBasic, .clientSecretPost, .clientSecretJWT]
        return methods.first { authenticationMethods?.contains($0.rawValue) ?? true } ?? .clientSecretBasic
    }

    /// How a client that registers itself asks to authenticate: a program on a user's machine keeps no secret from its
    /// user (RFC 8252, section 8.5), but a client that acts by itself needs one.
    fileprivate func registeredMethod(of grant: ProfileSettings.Grant) -> ProfileSettings.AuthenticationMethod {
        let isPublic = grant == .authorizationCode || grant == .deviceCode
        return isPublic && authenticationMethods?.contains("none") ?? true ? .none : secretMethod
    }

    /// How a client uses its certificate at the server: a server that takes none for that may still bind tokens to it.
    package var certificateMethod: ProfileSettings.AuthenticationMethod {
        let methods: [ProfileSettings.AuthenticationMethod] = [.tlsClientAuth, .selfSignedTLSClientAuth]
        return methods.first { authenticationMethods?.contains($0.rawValue) ?? true } ?? .none
    }
}
