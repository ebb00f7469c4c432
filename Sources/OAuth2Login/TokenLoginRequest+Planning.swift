import OAuth2
import SessionStore
import WebPrimitives

/// Plans a login by a client that the server knows. Values that the request leaves out come from the last login under
/// the name, or from the server.
extension TokenLoginRequest {
    func planForKnownClient(
        _ store: TokenStore, isNewClient: Bool = false, over transport: any EndpointTransport
    ) async throws -> TokenLoginPlan {
        let known = try await store.reading { store in try self.known(in: store) }
        let (own, earlier, grant, exchange) = (known.own, known.earlier, known.grant, known.exchange)
        let before = isSameServer && !isNewClient ? earlier?.credentials : nil
        let assertion = try assertion(grant, before)
        var metadata = try await metadata(grant, earlier, over: transport)
        if clientCertificate != nil || before?.clientCertificate != nil {
            let aliases = metadata.mutualTLSEndpoints.filter { endpoints[$0.key] == nil }
            metadata.endpoints.merge(aliases) { $1 }
        }
        // Without a client identifier, the assertion alone says which client asks (RFC 7521, section 3).
        let clientID = clientID ?? earlier?.profile.clientID ?? ""
        guard !clientID.isEmpty || assertion?.issuer != nil else {
            throw LoginError(
                .settingsInvalid,
                advice: "\(name): name the client by its identifier (\(app: "clientID", command: "--client-id"))")
        }
        let secret = clientSecret ?? before?.clientSecret
        let certificate = clientCertificate?.pem ?? before?.clientCertificate
        var settings = ProfileSettings(
            grant: grant, endpoints: metadata.endpoints,
            authenticationMethod: try method(
                hasSecret: secret != nil, hasCertificate: certificate != nil, before, metadata),
            keyID: keyID ?? before?.settings.keyID,
            scopes: (scope ?? earlier?.credentials.settings.scopes ?? defaultScope).map { Scopes(parsing: $0) },
            resources: resources.isEmpty ? earlier?.credentials.settings.resources ?? [] : resources,
            redirectURI: redirectURI ?? earlier?.credentials.settings.redirectURI,
            dangerouslyAllowsPlainHTTP: dangerouslyAllowsPlainHTTP
                || before?.settings.dangerouslyAllowsPlainHTTP == true)
        // The registration URL of one client does not manage another one's registration.
        let isSameClientID = clientID == own?.profile.clientID
        settings.registrationURL = isSameClientID ? before?.settings.registrationURL : nil
        settings.assertion = assertion
        settings.exchange = exchange
        settings.assertionAudience = assertionAudience ?? before?.settings.assertionAudience
        settings.idTokenAlgorithm = idTokenAlgorithm ?? before?.settings.idTokenAlgorithm
        settings.serverIDTokenAlgorithms = metadata.idTokenAlgorithms
        settings.serverSendsIssuer = metadata.sendsIssuer ? true : nil
        let pushes = pushes || metadata.requiresPushedRequests || before?.settings.pushesRequests == true
        settings.pushesRequests = pushes ? true : nil
        let parameters = parameters(over: before, settings)
        settings.parameters = parameters.filter { !TokenLoginRequest.onceOnly.contains($0.name) }
        let isBound = bindsTokens || before?.proofKey != nil
        // A login at the same server is by the same account, however the server was named.
        let isSameClient =
            isSameServer
            || !metadata.issuer.isEmpty && metadata.issuer == earlier?.profile.issuer
                && clientID == earlier?.profile.clientID
        let sameLogin = isSameClient ? own : nil
        let target = account ?? assertion?.account ?? known.account(exchangedWith: settings)
        let isNamed = target != nil || sameLogin?.namesAccount == true
        settings.namesAccount = isNamed
        let profile = ProfileID(
            issuer: metadata.issuer, clientID: clientID, account: target ?? sameLogin?.profile.account ?? "")
        try await store.reading { [settings] store in try check(profile, settings, in: store) }
        return TokenLoginPlan(
            name: name, metadata: metadata, profile: profile,
            hasAccount: isNamed, user: sameLogin?.user, replacesAccount: replacesAccount,
            credentials: ProfileCredentials(
                settings: settings, clientSecret: secret, proofKey: isBound ? SigningKey().secret : nil,
                grantKey: assertion == nil ? nil : assertionKey ?? before?.grantKey, clientCertificate: certificate,
                registrationToken: isSameClientID ? before?.registrationToken : nil),
            parameters: parameters, pushes: pushes)
    }

    /// Parameters that a site asks of one login (RFC 9470, section 4), not of those after it.
    private static let onceOnly: Set = ["acr_values", "max_age"]

    /// The parameters of the last login, with those of this one in their place.
    private func parameters(
        over before: ProfileCredentials?, _ settings: ProfileSettings
    ) -> [(name: String, value: String)] {
        let said = Set(parameters.map(\.name))
        var all = (before?.settings.parameters ?? []).filter { !said.contains($0.name) } + parameters
        let scopes = settings.scopes.map { Scopes(parsing: $0) } ?? []
        if before == nil, asksForConsent, settings.grant == .authorizationCode, !said.contains("prompt"),
            scopes.contains("openid"), scopes.contains("offline_access")
        {
            all.append((name: "prompt", value: "consent"))
        }
        return all.filter { $0.name != "prompt" || !$0.value.isEmpty }
    }

    /// The claims of assertions, if there are any. Those left out now come from the last login.
    private func assertion(
        _ grant: ProfileSettings.Grant, _ before: ProfileCredentials?
    ) throws -> ProfileSettings.Assertion? {
        guard grant == .jwtBearer else { return nil }
        guard assertionKey != nil || before?.grantKey != nil else {
            throw LoginError(
                .settingsInvalid, "\(name): name the key that signs the assertion with --assertion-key-file")
        }
        let earlier = before?.settings.assertion
        return ProfileSettings.Assertion(
            issuer: assertion.issuer ?? earlier?.issuer, subject: assertion.subject ?? earlier?.subject,
            audience: assertion.audience ?? earlier?.audience, keyID: assertion.keyID ?? earlier?.keyID)
    }

    private func metadata(
        _ grant: ProfileSettings.Grant, _ earlier: Earlier?, over transport: any EndpointTransport
    ) async throws -> ServerMetadata {
        if isSameServer, let earlier {
            var metadata = ServerMetadata(
                issuer: earlier.profile.issuer, endpoints: earlier.credentials.settings.endpoints)
            metadata.sendsIssuer = earlier.credentials.settings.serverSendsIssuer == true
            metadata.idTokenAlgorithms = earlier.credentials.settings.serverIDTokenAlgorithms
            return metadata
        }
        let lookup = ServerLookup(
            issuer: issuer, endpoints: endpoints, dangerouslyAllowsPlainHTTP: dangerouslyAllowsPlainHTTP)
        return try await lookup.metadata(for: name, needing: needed(grant), over: transport)
    }

    func needed(_ grant: ProfileSettings.Grant) -> Set<ServerMetadata.Endpoint> {
        let isOpenID = (scope ?? defaultScope).map { Scopes(parsing: $0).contains("openid") } ?? false
        let keys: Set<ServerMetadata.Endpoint> = isOpenID ? [.keys] : []
        switch grant {
        case .clientCredentials, .jwtBearer, .tokenExchange: return [.token]
        case .deviceCode: return keys.union([.token, .deviceAuthorization])
        case .authorizationCode, .imported:
            return keys.union(pushes ? [.token, .authorization, .pushedAuthorization] : [.token, .authorization])
        }
    }

    /// The method that was named, else the one of the last login, else one that fits the secret and the server.
    private func method(
        hasSecret: Bool, hasCertificate: Bool, _ before: ProfileCredentials?, _ metadata: ServerMetadata
    ) throws -> ProfileSettings.AuthenticationMethod {
        if let authenticationMethod {
            let isUsable = authenticationMethod.takesCertificate ? hasCertificate : hasSecret
            guard authenticationMethod == .none || isUsable else {
                let needed = authenticationMethod.takesCertificate ? "certificate" : "secret or key"
                throw LoginError(
                    .settingsInvalid, "\(name): this authentication method requires the client's \(needed)")
            }
            return authenticationMethod
        }
        // A new secret goes the way that the old one went.
        if let method = before?.settings.authenticationMethod,
            clientSecret == nil || method.takesSecret, clientCertificate == nil || method != .none
        {
            return method
        }
        return hasSecret ? metadata.secretMethod : hasCertificate ? metadata.certificateMethod : .none
    }
}

extension ProfileSettings.Assertion {
    /// The user whose tokens an assertion gets; `nil` if it is for the client itself.
    fileprivate var account: String? { subject ?? issuer }
}
