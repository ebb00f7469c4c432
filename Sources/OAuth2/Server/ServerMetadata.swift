internal import WebPrimitives

/// What an authorization server says of itself (RFC 8414, section 2; OpenID Connect Discovery 1.0, section 3).
public struct ServerMetadata: Sendable, Equatable {
    /// An endpoint, by the name of the member that holds its URL.
    public enum Endpoint: String, Sendable, CaseIterable {
        /// Where users log in.
        case authorization = "authorization_endpoint"
        /// Where tokens are issued.
        case token = "token_endpoint"
        /// Where a login on another device begins.
        case deviceAuthorization = "device_authorization_endpoint"
        /// Where authorization requests are pushed to.
        case pushedAuthorization = "pushed_authorization_request_endpoint"
        /// Where tokens are ended.
        case revocation = "revocation_endpoint"
        /// Where tokens are asked about.
        case introspection = "introspection_endpoint"
        /// Where the user's claims are.
        case userInfo = "userinfo_endpoint"
        /// Where the server's keys are.
        case keys = "jwks_uri"
        /// Where clients are registered.
        case registration = "registration_endpoint"

        /// What it is for, in a sentence.
        var purpose: String {
            switch self {
            case .authorization: "logging in in a browser"
            case .token: "issuing tokens"
            case .deviceAuthorization: "logging in on another device"
            case .pushedAuthorization: "pushing authorization requests"
            case .revocation: "revoking tokens"
            case .introspection: "introspecting tokens"
            case .userInfo: "the user's claims"
            case .keys: "its keys"
            case .registration: "registering clients"
            }
        }
    }

    /// The server's identifier.
    public var issuer: String
    /// The URLs that the server tells, as it writes them.
    public var endpoints: [Endpoint: String]
    /// Where clients that show a certificate go instead (RFC 8705, section 5).
    public var mutualTLSEndpoints: [Endpoint: String] = [:]
    /// Whether the server names itself in every redirect (RFC 9207, section 3).
    public var sendsIssuer = false
    /// Whether the server takes authorization requests only where they were pushed (RFC 9126, section 5).
    public var requiresPushedRequests = false
    /// How clients may authenticate at the token endpoint; `nil` where the server does not tell.
    public var authenticationMethods: [String]?
    /// The algorithms by which the server signs ID tokens; `nil` if it does not say.
    public var idTokenAlgorithms: [String]?

    /// Metadata from its parts, for a server that has none.
    public init(issuer: String = "", endpoints: [Endpoint: String] = [:]) {
        self.issuer = issuer
        self.endpoints = endpoints
    }

    init(issuer: String, members: JSONObject) {
        self.init(issuer: issuer)
        let aliases = members["mtls_endpoint_aliases"]?.object
        for endpoint in Endpoint.allCases {
            endpoints[endpoint] = members.value(named: endpoint.rawValue)?.nonEmptyText
            mutualTLSEndpoints[endpoint] = aliases?.value(named: endpoint.rawValue)?.nonEmptyText
        }
        if case .boolean(let sends)? = members["authorization_response_iss_parameter_supported"] { sendsIssuer = sends }
        if case .boolean(let requires)? = members["require_pushed_authorization_requests"] {
            requiresPushedRequests = requires
        }
        authenticationMethods = members["token_endpoint_auth_methods_supported"]?.texts
        idTokenAlgorithms = members["id_token_signing_alg_values_supported"]?.texts
    }

    /// The URL of an endpoint.
    ///
    /// - Parameter dangerouslyAllowingPlainHTTP: See ``EndpointURL/init(_:dangerouslyAllowingPlainHTTP:)``.
    /// - Throws: ``OAuth2Error/Code/endpointMissing``, or that the URL is none that secrets may go to.
    public func url(
        of endpoint: Endpoint, dangerouslyAllowingPlainHTTP: Bool = false
    ) throws(OAuth2Error) -> EndpointURL {
        guard let text = endpoints[endpoint] else {
            throw OAuth2Error(
                .endpointMissing,
                "The server tells no endpoint for \(endpoint.purpose); name it with --endpoint \(endpoint.rawValue)=URL."
            )
        }
        return try EndpointURL(text, dangerouslyAllowingPlainHTTP: dangerouslyAllowingPlainHTTP)
    }

    /// These metadata, and of `other` what they lack.
    func completed(by other: ServerMetadata) -> ServerMetadata {
        var metadata = self
        metadata.endpoints.merge(other.endpoints) { own, _ in own }
        metadata.mutualTLSEndpoints.merge(other.mutualTLSEndpoints) { own, _ in own }
        metadata.sendsIssuer = sendsIssuer || other.sendsIssuer
        metadata.requiresPushedRequests = requiresPushedRequests || other.requiresPushedRequests
        metadata.authenticationMethods = authenticationMethods ?? other.authenticationMethods
        metadata.idTokenAlgorithms = idTokenAlgorithms ?? other.idTokenAlgorithms
        return metadata
    }
}
