package import WebPrimitives

/// One OAuth2 authorization, with a name for users.
///
/// Two accounts at one issuer are two profiles. Renaming a profile does not change its identity.
public struct Profile: Sendable, Hashable, Identifiable {
    /// Issuer, client and account.
    public let id: ProfileID
    /// The name, such as `work`.
    public var name: String

    /// A profile called `name`.
    public init(id: ProfileID, name: String) {
        self.id = id
        self.name = name
    }
}

/// The identity of an OAuth2 authorization: its issuer, client and account.
///
/// The three are compared as they are, without normalization (RFC 8414, section 3.3 asks for that of issuers). An
/// empty string means that the part is not known, as with tokens that another tool obtained, and is a value like any
/// other: two authorizations with no known account are the same one.
public struct ProfileID: Sendable, Hashable {
    /// The authorization server's issuer identifier (RFC 8414, section 2), or an empty string.
    public var issuer: String
    /// The client identifier (RFC 6749, section 2.2), or an empty string.
    public var clientID: String
    /// The account at the issuer, such as an ID token's `sub`, or an empty string.
    public var account: String

    /// An identity of the parts that are known.
    public init(issuer: String = "", clientID: String = "", account: String = "") {
        self.issuer = issuer
        self.clientID = clientID
        self.account = account
    }
}

/// The settings of a profile and the secrets that go with them.
public struct ProfileCredentials: Sendable, Equatable {
    /// How tokens are renewed.
    public var settings: ProfileSettings
    /// The client's secret, or its private key if it authenticates with one.
    public var clientSecret: Secret?
    /// The key that tokens are bound to (DPoP); `nil` if they are not bound.
    package var proofKey: Secret?
    /// The private key of the assertions that the tokens are issued for (RFC 7523, section 2.1).
    package var grantKey: Secret?
    /// The client's certificate and its private key, as one PEM text.
    public var clientCertificate: Secret?
    /// The access token by which the client's registration is managed (RFC 7592).
    package var registrationToken: Secret?

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

    /// Returns the authentication of one request.
    ///
    /// - Parameters:
    ///   - profile: The profile.
    ///   - now: When it is made.
    ///   - generator: A cryptographically secure source.
    package func authentication(
        of profile: ProfileID, now: Timestamp, using generator: inout some RandomNumberGenerator
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

    /// The audience of assertions: the issuer, or the token endpoint if that is configured, or if the issuer is not
    /// known.
    func assertionAudience(of profile: ProfileID) -> String {
        let namesEndpoint = settings.assertionAudience == .tokenEndpoint || profile.issuer.isEmpty
        return namesEndpoint ? settings.endpoints[.token] ?? "" : profile.issuer
    }

    /// `transport`, which shows the client's certificate, and proves possession of the key that tokens are bound to, if
    /// there are any.
    package func binding(
        _ transport: any EndpointTransport, now: @escaping @Sendable () -> Timestamp
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

/// How a profile's tokens were obtained and can be renewed. Contains no secret.
public struct ProfileSettings: Sendable, Hashable, Codable {
    /// Where the tokens come from.
    public enum Grant: String, Sendable, Codable, CaseIterable {
        /// A login in a browser.
        case authorizationCode = "authorization_code"
        /// A login on another device.
        case deviceCode = "device_code"
        /// The client itself.
        case clientCredentials = "client_credentials"
        /// An assertion that a key has signed (RFC 7523).
        case jwtBearer = "jwt_bearer"
        /// The tokens of another login (RFC 8693).
        case tokenExchange = "token_exchange"
        /// Another tool.
        case imported
    }

    /// How the client authenticates (RFC 7591, section 2, `token_endpoint_auth_method`).
    public enum AuthenticationMethod: String, Sendable, Codable, CaseIterable {
        /// It does not.
        case none
        /// With a secret in a header field.
        case clientSecretBasic = "client_secret_basic"
        /// With a secret in the body.
        case clientSecretPost = "client_secret_post"
        /// With a signature.
        case privateKeyJWT = "private_key_jwt"
        /// With a code made by the secret, which itself is not sent.
        case clientSecretJWT = "client_secret_jwt"
        /// With a certificate that an authority has issued (RFC 8705).
        case tlsClientAuth = "tls_client_auth"
        /// With a certificate that the client has issued itself.
        case selfSignedTLSClientAuth = "self_signed_tls_client_auth"

        /// Whether it takes a secret that the server has, too.
        package var takesSecret: Bool {
            switch self {
            case .clientSecretBasic, .clientSecretPost, .clientSecretJWT: true
            case .none, .privateKeyJWT, .tlsClientAuth, .selfSignedTLSClientAuth: false
            }
        }

        /// Whether it takes a certificate.
        package var takesCertificate: Bool { self == .tlsClientAuth || self == .selfSignedTLSClientAuth }
    }

    /// The audience of a client's signature (RFC 7523, section 3, point 3). Servers differ in what they accept.
    package enum AssertionAudience: String, Sendable, Codable, CaseIterable {
        /// The server's issuer identifier, which no other server accepts.
        case issuer
        /// The URL of the token endpoint.
        case tokenEndpoint = "token_endpoint"
    }

    /// The contents of the assertions of ``Grant/jwtBearer`` (RFC 7523, section 3).
    package struct Assertion: Sendable, Hashable, Codable {
        /// The issuer of the assertion; `nil` for the client.
        package var issuer: String?
        /// The account that the tokens are for; `nil` for the issuer.
        package var subject: String?
        /// The audience of the assertion; `nil` for that of the client's own assertions.
        package var audience: String?
        /// The identifier of the issuer's key.
        package var keyID: String?

        /// Creates an assertion. Without arguments, it has only the required claims.
        package init(
            issuer: String? = nil, subject: String? = nil, audience: String? = nil, keyID: String? = nil
        ) {
            self.issuer = issuer
            self.subject = subject
            self.audience = audience
            self.keyID = keyID
        }
    }

    /// The tokens that ``Grant/tokenExchange`` exchanges, and the target (RFC 8693, section 2.1).
    package struct Exchange: Sendable, Hashable, Codable {
        /// The name of the login whose access token is exchanged.
        package var subject: String
        /// The login of the party that acts for its user; `nil` if the user acts.
        package var actor: String?
        /// The names of the services that the new token is for.
        package var audiences: [String]

        /// The exchange of a login's access token.
        package init(subject: String, actor: String? = nil, audiences: [String] = []) {
            self.subject = subject
            self.actor = actor
            self.audiences = audiences
        }

        /// The logins that it takes.
        package var logins: [String] { [subject] + (actor.map { [$0] } ?? []) }
    }

    /// Where the tokens come from.
    public var grant: Grant
    /// How the client authenticates.
    public var authenticationMethod: AuthenticationMethod
    /// The client's name for its key, if it authenticates with one.
    package var keyID: String?
    /// The audience of the client's signatures; `nil` means ``AssertionAudience/issuer``.
    package var assertionAudience: AssertionAudience?
    /// The requested scopes.
    public var scopes: String?
    /// The requested resources (RFC 8707).
    public var resources: [String]
    /// The URL that the browser returned to, without the port of a loopback URL.
    public var redirectURI: String?
    /// Whether plain HTTP to other machines was allowed: see ``EndpointURL/init(_:dangerouslyAllowingPlainHTTP:)``.
    public var dangerouslyAllowsPlainHTTP: Bool
    /// Whether a service renews the tokens before they expire, without a request for them; `nil` means `false`.
    package var refreshesAhead: Bool?
    /// Whether the server names itself in every redirect (RFC 9207), so that a redirect without a name is not from this
    /// server.
    package var serverSendsIssuer: Bool?
    /// Whether the user has named the account, so that an ID token does not rename it; `nil` if that is not known.
    package var namesAccount: Bool?
    /// The algorithm that the client is registered for (`id_token_signed_response_alg`); `nil` if that is not known.
    package var idTokenAlgorithm: String?
    /// The algorithms by which the server says it signs ID tokens; `nil` if it does not say.
    package var serverIDTokenAlgorithms: [String]?
    /// Whether requests for authorization are pushed to the server beforehand (RFC 9126).
    package var pushesRequests: Bool?
    /// The claims of assertions, which replace a user's login; `nil` for a grant without them.
    package var assertion: Assertion?
    /// The exchange; `nil` for a grant that exchanges nothing.
    package var exchange: Exchange?
    /// Where the client's registration is managed (RFC 7592); `nil` for a client that Crumb has not registered.
    package var registrationURL: String?
    /// Further parameters of the page to log in on, names and values in turn.
    private var furtherParameters: [String]?
    private var endpointURLs: [String: String]

    /// Settings from their parts.
    public init(
        grant: Grant, endpoints: [ServerMetadata.Endpoint: String], authenticationMethod: AuthenticationMethod = .none,
        keyID: String? = nil, scopes: Scopes? = nil, resources: [String] = [], redirectURI: String? = nil,
        dangerouslyAllowsPlainHTTP: Bool = false
    ) {
        self.grant = grant
        self.authenticationMethod = authenticationMethod
        self.keyID = keyID
        self.scopes = scopes?.description
        self.resources = resources
        self.redirectURI = redirectURI
        self.dangerouslyAllowsPlainHTTP = dangerouslyAllowsPlainHTTP
        endpointURLs = [:]
        self.endpoints = endpoints
    }

    /// Further parameters of the page to log in on.
    public var parameters: [(name: String, value: String)] {
        get {
            let parts = furtherParameters ?? []
            return stride(from: 0, to: parts.count - 1, by: 2).map { (parts[$0], parts[$0 + 1]) }
        }
        set { furtherParameters = newValue.isEmpty ? nil : newValue.flatMap { [$0.name, $0.value] } }
    }

    /// The server's endpoints.
    public var endpoints: [ServerMetadata.Endpoint: String] {
        get {
            ServerMetadata.Endpoint.allCases.reduce(into: [:]) { $0[$1] = endpointURLs[$1.rawValue] }
        }
        set {
            endpointURLs = newValue.reduce(into: [:]) { $0[$1.key.rawValue] = $1.value }
        }
    }

    /// The URL of an endpoint.
    package func url(of endpoint: ServerMetadata.Endpoint) throws(OAuth2Error) -> EndpointURL {
        try ServerMetadata(endpoints: endpoints)
            .url(of: endpoint, dangerouslyAllowingPlainHTTP: dangerouslyAllowsPlainHTTP)
    }

    /// The origin of the token endpoint, which tells servers without an issuer apart; `nil` without such an endpoint.
    package var tokenOrigin: String? {
        (try? url(of: .token)).map { "\($0.scheme)://\($0.authority)".lowercased() }
    }
}
