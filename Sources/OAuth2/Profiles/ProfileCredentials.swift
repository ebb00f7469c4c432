/// The settings of a profile and the secrets that go with them.
public struct ProfileCredentials: Sendable, Equatable {
    /// How tokens are renewed.
    public var settings: ProfileSettings
    /// The client's secret, or its private key where it authenticates with one.
    public var clientSecret: Secret?
    /// The key that tokens are bound to (DPoP), where they are bound.
    public var proofKey: Secret?
    /// The private key of the assertions that the tokens are issued for (RFC 7523, section 2.1).
    public var grantKey: Secret?
    /// The client's certificate and its key: ``ClientCertificate/pem``.
    public var clientCertificate: Secret?
    /// The access token by which the client's registration is managed (RFC 7592).
    public var registrationToken: Secret?

    /// Credentials from their parts.
    public init(
        settings: ProfileSettings, clientSecret: Secret? = nil, proofKey: Secret? = nil, grantKey: Secret? = nil,
        clientCertificate: Secret? = nil, registrationToken: Secret? = nil
    ) {
        self.settings = settings
        self.clientSecret = clientSecret
        self.proofKey = proofKey
        self.grantKey = grantKey
        self.clientCertificate = clientCertificate
        self.registrationToken = registrationToken
    }

    /// The authentication of one request.
    ///
    /// - Parameters:
    ///   - profile: Whose it is.
    ///   - now: When it is made, in microseconds since the Unix epoch.
    ///   - generator: A cryptographically secure source.
    public func authentication(
        of profile: ProfileID, now: Int64, using generator: inout some RandomNumberGenerator
    ) throws(OAuth2Error) -> ClientAuthentication {
        let secret = clientSecret ?? Secret([])
        switch settings.authenticationMethod {
        case .none: return .publicClient(clientID: profile.clientID)
        case .clientSecretBasic: return .clientSecretBasic(clientID: profile.clientID, secret: secret)
        case .clientSecretPost: return .clientSecretPost(clientID: profile.clientID, secret: secret)
        case .privateKeyJWT:
            let assertion = ClientAssertion(
                clientID: profile.clientID, audience: assertionAudience(of: profile), key: try SigningKey(secret),
                keyID: settings.keyID ?? "")
            return try assertion.authentication(now: now, using: &generator)
        case .tlsClientAuth: return .tlsClientAuth(clientID: profile.clientID)
        case .selfSignedTLSClientAuth: return .selfSignedTLSClientAuth(clientID: profile.clientID)
        case .clientSecretJWT:
            let assertion = ClientAssertion(
                clientID: profile.clientID, audience: assertionAudience(of: profile), secret: secret)
            return try assertion.authentication(now: now, using: &generator)
        }
    }

    /// Whom assertions are made out to: the issuer, or the token endpoint if that is wanted or all that is known.
    func assertionAudience(of profile: ProfileID) -> String {
        let namesEndpoint = settings.assertionAudience == .tokenEndpoint || profile.issuer.isEmpty
        return namesEndpoint ? settings.endpoints[.token] ?? "" : profile.issuer
    }

    /// `transport`, which shows the client's certificate, and proves possession of the key that tokens are bound to, if
    /// there are any.
    public func binding(
        _ transport: any EndpointTransport, now: @escaping @Sendable () -> Int64
    ) throws(OAuth2Error) -> any EndpointTransport {
        let base: any EndpointTransport =
            if let clientCertificate {
                CertificateTransport(base: transport, certificate: clientCertificate)
            } else {
                transport
            }
        guard let proofKey else { return base }
        return DPoPTransport(base, key: try SigningKey(proofKey), now: now)
    }
}
