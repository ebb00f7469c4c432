/// The settings of a profile and the secrets that go with them.
public struct ProfileCredentials: Sendable, Equatable {
    /// How tokens are renewed.
    public var settings: ProfileSettings
    /// The client's secret, or its private key where it authenticates with one.
    public var clientSecret: Secret?
    /// The key that tokens are bound to (DPoP), where they are bound.
    public var proofKey: Secret?

    /// Credentials from their parts.
    public init(settings: ProfileSettings, clientSecret: Secret? = nil, proofKey: Secret? = nil) {
        self.settings = settings
        self.clientSecret = clientSecret
        self.proofKey = proofKey
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
            let namesEndpoint = settings.assertionAudience == .tokenEndpoint || profile.issuer.isEmpty
            let audience = namesEndpoint ? settings.endpoints[.token] ?? "" : profile.issuer
            let assertion = ClientAssertion(
                clientID: profile.clientID, audience: audience, key: try SigningKey(secret),
                keyID: settings.keyID ?? "")
            return try assertion.authentication(now: now, using: &generator)
        }
    }

    /// `transport`, which proves possession of the key where tokens are bound to one.
    public func binding(
        _ transport: any EndpointTransport, now: @escaping @Sendable () -> Int64
    ) throws(OAuth2Error) -> any EndpointTransport {
        guard let proofKey else { return transport }
        return DPoPTransport(transport, key: try SigningKey(proofKey), now: now)
    }
}
