internal import WebPrimitives

/// Registers a client at a server (RFC 7591).
package struct ClientRegistration: Sendable, Equatable {
    /// The server's registration endpoint.
    package var endpoint: EndpointURL
    /// The name that the server shows to users.
    package var name: String
    /// The URL that browsers return to; `nil` for a client without logins in a browser.
    package var redirectURI: String?
    /// The grant, authentication and scopes of the client.
    package var settings: ProfileSettings

    /// Creates the registration of one client.
    package init(endpoint: EndpointURL, name: String = "Crumb", redirectURI: String? = nil, settings: ProfileSettings) {
        self.endpoint = endpoint
        self.name = name
        self.redirectURI = redirectURI
        self.settings = settings
    }

    /// The request (section 3.1).
    ///
    /// - Parameter token: The initial access token; `nil` for a server that registers anyone's clients.
    package func request(with token: Secret?) -> EndpointRequest {
        var metadata = JSONObjectWriter()
        metadata.append("client_name", name)
        // OpenID Connect Registration 1.0, section 2: a native application's redirects go to a loopback address.
        metadata.append("application_type", "native")
        metadata.append("token_endpoint_auth_method", settings.authenticationMethod.rawValue)
        metadata.append("grant_types", texts: grantTypes)
        metadata.append("response_types", texts: settings.grant == .authorizationCode ? ["code"] : [])
        if settings.grant == .authorizationCode, let redirectURI {
            metadata.append("redirect_uris", texts: [redirectURI])
        }
        if let scopes = settings.scopes { metadata.append("scope", scopes) }
        return EndpointRequest(endpoint: endpoint, sending: metadata, token: token)
    }

    private var grantTypes: [String] {
        switch settings.grant {
        case .authorizationCode, .imported: ["authorization_code", "refresh_token"]
        case .deviceCode: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"]
        case .clientCredentials: ["client_credentials"]
        case .jwtBearer: ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
        case .tokenExchange: ["urn:ietf:params:oauth:grant-type:token-exchange"]
        }
    }

    /// The client in the server's reply (section 3.2.1).
    ///
    /// - Parameter token: The initial access token, which errors do not repeat.
    /// - Throws: The server's error, or ``OAuth2Error/Code/incompleteReply`` if the server has registered another way
    ///   to authenticate than one that Crumb can use without a person.
    package func client(in response: EndpointResponse, with token: Secret? = nil) throws(OAuth2Error)
        -> RegisteredClient
    {
        let members = try response.members(redacting: [token].compactMap(\.self))
        guard let clientID = members["client_id"]?.nonEmptyText else {
            throw .unusable(.incompleteReply, status: response.statusCode, "it has no client_id")
        }
        let secret = members["client_secret"]?.nonEmptyText.map { Secret($0) }
        // The server may replace the requested values (section 3.2.1).
        let name = members["token_endpoint_auth_method"]?.nonEmptyText ?? settings.authenticationMethod.rawValue
        guard let method = ProfileSettings.AuthenticationMethod(rawValue: name),
            method == .none || method.takesSecret && secret != nil
        else {
            throw .unusable(
                .incompleteReply, status: response.statusCode,
                "it registers the client with a method of authentication but without its credential")
        }
        return RegisteredClient(
            clientID: clientID, secret: secret, authenticationMethod: method,
            idTokenAlgorithm: members["id_token_signed_response_alg"]?.nonEmptyText,
            accessToken: members["registration_access_token"]?.nonEmptyText.map { Secret($0) },
            managementURL: members["registration_client_uri"]?.nonEmptyText)
    }
}

/// A client as the server has registered it (RFC 7591, section 3.2.1; RFC 7592, section 3).
package struct RegisteredClient: Sendable, Equatable {
    /// The client's identifier.
    package let clientID: String
    /// The client's secret; `nil` for a public client.
    package let secret: Secret?
    /// How the client authenticates.
    package let authenticationMethod: ProfileSettings.AuthenticationMethod
    /// The algorithm of its ID tokens; `nil` if the server does not say.
    package let idTokenAlgorithm: String?
    /// The access token that manages the registration.
    package let accessToken: Secret?
    /// The URL that manages the registration.
    package let managementURL: String?
}
