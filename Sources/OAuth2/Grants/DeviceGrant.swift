/// A login on another device: the device authorization grant (RFC 8628).
public struct DeviceGrant: Sendable, Equatable {
    /// Where a login begins (section 3.1).
    public var deviceAuthorizationEndpoint: EndpointURL
    /// The server's token endpoint.
    public var tokenEndpoint: EndpointURL
    /// The client and its authentication.
    public var authentication: ClientAuthentication
    /// The scopes to ask for.
    public var scopes: Scopes
    /// The resources that the token is for (RFC 8707).
    public var resources: [String]

    /// A grant for one client at one server.
    public init(
        deviceAuthorizationEndpoint: EndpointURL, tokenEndpoint: EndpointURL, authentication: ClientAuthentication,
        scopes: Scopes = [], resources: [String] = []
    ) {
        self.deviceAuthorizationEndpoint = deviceAuthorizationEndpoint
        self.tokenEndpoint = tokenEndpoint
        self.authentication = authentication
        self.scopes = scopes
        self.resources = resources
    }

    /// The request that begins a login (section 3.1).
    public func authorizationRequest() -> EndpointRequest {
        var body = FormBody()
        // Section 3.1 wants the identifier where the client does not authenticate; servers want it always.
        authentication.addIdentifier(to: &body)
        body.append(scopes)
        body.append(resources: resources)
        return EndpointRequest(endpoint: deviceAuthorizationEndpoint, authentication: authentication, body: body)
    }

    /// What the user is to be told (section 3.2).
    public func authorization(
        in response: EndpointResponse, now: Int64
    ) throws(OAuth2Error) -> DeviceAuthorization {
        let members = try response.members(redacting: authentication.secrets)
        return try DeviceAuthorization(members, status: response.statusCode, now: now)
    }

    /// The request that asks whether the user has confirmed (section 3.4).
    public func request(polling authorization: DeviceAuthorization) -> EndpointRequest {
        var body = FormBody()
        body.append("grant_type", "urn:ietf:params:oauth:grant-type:device_code")
        body.append("device_code", authorization.deviceCode)
        authentication.addIdentifier(to: &body)
        // RFC 8707, section 2.2: what the token is for is said to the token endpoint, too.
        body.append(resources: resources)
        return EndpointRequest(endpoint: tokenEndpoint, authentication: authentication, body: body)
    }

    /// What became of the login (section 3.5).
    ///
    /// - Throws: ``OAuth2Error/Code/accessDenied``, ``OAuth2Error/Code/deviceCodeExpired``, and for what cannot be used
    ///   what the token endpoint's other replies throw. A temporary failure (``OAuth2Error/isTemporary``) is no reason
    ///   to give up.
    public func outcome(
        in response: EndpointResponse, polling authorization: DeviceAuthorization, now: Int64
    ) throws(OAuth2Error) -> DeviceOutcome {
        do {
            var tokens = try TokenResponse.tokenSet(
                response, now: now,
                redacting: [authorization.deviceCode] + authentication.secrets)
            if !scopes.isEmpty { tokens.scopes = tokens.scopes ?? scopes }
            return .issued(tokens)
        } catch {
            switch error.serverCode {
            case "authorization_pending": return .pending
            case "slow_down": return .slowDown
            default: throw error
            }
        }
    }
}

/// What became of a login on another device, so far.
public enum DeviceOutcome: Sendable, Equatable {
    /// The user has confirmed.
    case issued(TokenSet)
    /// The user has not yet confirmed.
    case pending
    /// The same, and the server wants to be asked less often from now on.
    case slowDown
}
