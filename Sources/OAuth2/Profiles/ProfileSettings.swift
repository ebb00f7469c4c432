/// How a profile's tokens were got and can be renewed. Holds no secret.
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

    /// Whom a client's signature is made out to (RFC 7523, section 3, point 3): servers differ in which they take.
    public enum AssertionAudience: String, Sendable, Codable, CaseIterable {
        /// The server's issuer identifier, which no other server can be made to take.
        case issuer
        /// The URL of the token endpoint.
        case tokenEndpoint = "token_endpoint"
    }

    /// What the assertions of ``Grant/jwtBearer`` say (RFC 7523, section 3).
    public struct Assertion: Sendable, Hashable, Codable {
        /// Who signs; `nil` for the client.
        public var issuer: String?
        /// Whom the tokens are for; `nil` for the issuer.
        public var subject: String?
        /// Whom the assertion is made out to; `nil` for whom the client's own assertions are.
        public var audience: String?
        /// The issuer's name for its key.
        public var keyID: String?

        /// An assertion that says as little as possible.
        public init(
            issuer: String? = nil, subject: String? = nil, audience: String? = nil, keyID: String? = nil
        ) {
            self.issuer = issuer
            self.subject = subject
            self.audience = audience
            self.keyID = keyID
        }
    }

    /// What ``Grant/tokenExchange`` exchanges (RFC 8693, section 2.1).
    public struct Exchange: Sendable, Hashable, Codable {
        /// The name of the login whose access token is exchanged.
        public var subject: String
        /// The name of the login of who acts for its user; `nil` if they act themselves.
        public var actor: String?
        /// The names of the services that the new token is for.
        public var audiences: [String]

        /// The exchange of a login's access token.
        public init(subject: String, actor: String? = nil, audiences: [String] = []) {
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
    /// The client's name for its key, where it authenticates with one.
    public var keyID: String?
    /// Whom the client's signatures are made out to; `nil` as ``AssertionAudience/issuer``.
    public var assertionAudience: AssertionAudience?
    /// The scopes that were asked for.
    public var scopes: String?
    /// The resources that were asked for (RFC 8707).
    public var resources: [String]
    /// Where the browser came back to, without the port of a loopback URL.
    public var redirectURI: String?
    /// Whether plain HTTP to other machines was allowed: see ``EndpointURL/init(_:dangerouslyAllowingPlainHTTP:)``.
    public var dangerouslyAllowsPlainHTTP: Bool
    /// Whether a service renews the tokens before they end, without being asked for them; `nil` as `false`.
    public var refreshesAhead: Bool?
    /// Whether the server names itself in every redirect (RFC 9207), so that one without a name is none of its own.
    public var serverSendsIssuer: Bool?
    /// Whether the user has named the account, so that an ID token does not rename it; `nil` if that is not known.
    public var namesAccount: Bool?
    /// The algorithm that the client is registered for (`id_token_signed_response_alg`); `nil` if that is not known.
    public var idTokenAlgorithm: String?
    /// The algorithms by which the server says it signs ID tokens; `nil` if it does not say.
    public var serverIDTokenAlgorithms: [String]?
    /// Whether requests for authorization are pushed to the server beforehand (RFC 9126).
    public var pushesRequests: Bool?
    /// What assertions say in the place of a user's login; `nil` for a grant without them.
    public var assertion: Assertion?
    /// What is exchanged; `nil` for a grant that exchanges nothing.
    public var exchange: Exchange?
    /// Where the client's registration is managed (RFC 7592); `nil` for a client that Crumb has not registered.
    public var registrationURL: String?
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
    public func url(of endpoint: ServerMetadata.Endpoint) throws(OAuth2Error) -> EndpointURL {
        try ServerMetadata(endpoints: endpoints)
            .url(of: endpoint, dangerouslyAllowingPlainHTTP: dangerouslyAllowsPlainHTTP)
    }
}
