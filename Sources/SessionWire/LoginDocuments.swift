/// How long an access token has to be valid, and the request it is for.
public struct AccessTokenDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case skew, method, url, nonce, resource
    }

    /// How many seconds the token has to be valid.
    public let skew: Number<TokenSkew>?
    /// The method of the request; GET by default.
    public let method: String?
    /// The URL of the request, for the proof of a token that is bound to a key.
    public let url: String?
    /// The nonce that the URL's server requires.
    public let nonce: String?
    /// The URL of the resource that the token is for; `nil` for the login's own.
    public let resource: String?

    /// Creates the document. Members that are `nil` are left out.
    public init(
        skew: Int? = nil, method: String? = nil, url: String? = nil, nonce: String? = nil, resource: String? = nil
    ) {
        self.skew = skew.map(Number.init(unchecked:))
        self.method = method
        self.url = url
        self.nonce = nonce
        self.resource = resource
    }
}

/// How long an ID token has to be valid.
public struct IDTokenDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case skew
    }

    /// How many seconds the token has to be valid.
    public let skew: Number<TokenSkew>?

    /// Creates the document. Members that are `nil` are left out.
    public init(skew: Int? = nil) {
        self.skew = skew.map(Number.init(unchecked:))
    }
}

/// A request to log out, with the choice of what happens if the server cannot revoke the tokens.
public struct LogoutDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case force
    }

    /// Whether the tokens are removed anyway.
    public let force: Bool?

    /// Creates the document. Members that are `nil` are left out.
    public init(force: Bool? = nil) {
        self.force = force
    }
}

/// The passphrase of a lock.
public struct AgentPassphraseDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case passphrase
    }

    /// The passphrase: 1 to 4096 octets.
    public let passphrase: String

    /// Creates the document. Members that are `nil` are left out.
    public init(passphrase: String) {
        self.passphrase = passphrase
    }
}

/// The URL at which the browser ended.
public struct RedirectDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case url
    }

    /// The URL.
    public let url: String

    /// Creates the document. Members that are `nil` are left out.
    public init(url: String) {
        self.url = url
    }
}

/// A login, as `crumb token login` takes it.
public struct LoginDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case name, flow, issuer, provider, providerTenant, providerHost, endpoints, clientID, clientSecret, clientKey,
            keyID, keyAudience, authMethod, idTokenAlgorithm, scope, resources, account, replaceAccount, redirectURI,
            push, parameters, dpop, dangerouslyAllowPlainHTTP, assertionKey, assertionKeyID, assertionIssuer,
            assertionSubject, assertionAudience, exchange, actor, audiences, clientCertificate, register,
            registrationToken, browserReturnsTo
    }

    /// The name.
    public let name: String
    /// `browser`, `device`, `client-credentials`, `jwt-bearer` or `token-exchange`.
    public var flow: String?
    /// The issuer of the authorization server.
    public var issuer: String?
    /// The name of a preset.
    public var provider: String?
    /// The value of `{tenant}` in the preset.
    public var providerTenant: String?
    /// The value of `{host}` in the preset.
    public var providerHost: String?
    /// The URLs of the server's endpoints by name.
    public var endpoints: [String: String]?
    /// The client's identifier.
    public var clientID: String?
    /// The client's secret.
    public var clientSecret: String?
    /// The client's private key in PEM, instead of a secret.
    public var clientKey: String?
    /// The identifier of the client's key.
    public var keyID: String?
    /// The audience of the client's assertions.
    public var keyAudience: String?
    /// How the client authenticates.
    public var authMethod: String?
    /// The algorithm of ID tokens that the client is registered for.
    public var idTokenAlgorithm: String?
    /// The scope to request.
    public var scope: String?
    /// The URLs of the resources that the token is for.
    public var resources: [String]?
    /// The name of the account.
    public var account: String?
    /// Whether the login of another account under the name may be replaced.
    public var replaceAccount: Bool?
    /// The redirect URI that is registered for the client.
    public var redirectURI: String?
    /// Whether the authorization request is pushed to the server first (RFC 9126).
    public var push: Bool?
    /// Further parameters of the authorization request.
    public var parameters: [String: String]?
    /// Whether the tokens are bound to a key (RFC 9449).
    public var dpop: Bool?
    /// Whether tokens may travel over plain HTTP.
    public var dangerouslyAllowPlainHTTP: Bool?
    /// The private key in PEM that signs assertions in place of a user's login.
    public var assertionKey: String?
    /// The identifier of the key that signs assertions.
    public var assertionKeyID: String?
    /// The issuer of the assertions.
    public var assertionIssuer: String?
    /// The subject of the assertions.
    public var assertionSubject: String?
    /// The audience of the assertions.
    public var assertionAudience: String?
    /// The name of the login whose token is exchanged.
    public var exchange: String?
    /// The name of the login that acts for it.
    public var actor: String?
    /// The audiences of the exchanged token.
    public var audiences: [String]?
    /// The client's certificate and its private key in PEM.
    public var clientCertificate: String?
    /// Whether a client is registered at the server first.
    public var register: Bool?
    /// The initial access token for the registration.
    public var registrationToken: String?
    /// Where the browser returns to in this login only.
    public var browserReturnsTo: String?

    /// Creates a login that has a name only. Set the properties that the server needs.
    public init(name: String) {
        self.name = name
    }
}
