/// How long an access token has to be valid, and the request it is for.
public struct AccessTokenDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case skew, method, url, nonce, resource
    }

    /// How many seconds the token has to be valid for, or it is renewed first; 60 by default.
    package let skew: Number<TokenSkew>?
    /// The method of the request that the token is for; GET by default.
    package let method: String?
    /// The URL of that request. With it, a token that is bound to a key (DPoP) comes with a proof.
    package let url: String?
    /// The nonce that the URL's server requires in the proof.
    package let nonce: String?
    /// The URL of the resource that the token is for (RFC 8707); `nil` for the login's own token.
    package let resource: String?

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
package struct IDTokenDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case skew
    }

    /// How many seconds the token has to be valid for, or it is renewed first; 60 by default.
    package let skew: Number<TokenSkew>?

    /// Creates the document. Members that are `nil` are left out.
    package init(skew: Int? = nil) {
        self.skew = skew.map(Number.init(unchecked:))
    }
}

/// A request to log out, with the choice of what happens if the server cannot revoke the tokens.
public struct LogoutDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case force
    }

    /// Whether the login is removed even if the server cannot revoke its tokens.
    package let force: Bool?

    /// Creates the document. Members that are `nil` are left out.
    public init(force: Bool? = nil) {
        self.force = force
    }
}

/// The passphrase of a lock.
package struct AgentPassphraseDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case passphrase
    }

    /// The passphrase: 1 to 4096 octets.
    package let passphrase: String

    /// Creates the document. Members that are `nil` are left out.
    package init(passphrase: String) {
        self.passphrase = passphrase
    }
}

/// The URL at which the browser ended.
package struct RedirectDocument: Codable, Sendable, RequestDocument {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case url
    }

    /// The URL that the browser was redirected to.
    package let url: String

    /// Creates the document. Members that are `nil` are left out.
    package init(url: String) {
        self.url = url
    }
}

/// A login, as `crumb token login` takes it. Members that are `nil` have the values of the last login under the name.
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
    /// The issuer of the authorization server, whose metadata names the endpoints.
    public var issuer: String?
    /// The preset of a provider, such as `google` or `github`. Other members take precedence.
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
    /// The client's private key (P-256) in PEM, instead of a secret.
    package var clientKey: String?
    /// The identifier of the client's key.
    package var keyID: String?
    /// The audience of the client's assertions.
    package var keyAudience: String?
    /// How the client authenticates.
    package var authMethod: String?
    /// The algorithm of ID tokens that the client is registered for; by default one of the server's metadata.
    package var idTokenAlgorithm: String?
    /// The scope to request.
    public var scope: String?
    /// The URLs of the resources that the token is for.
    public var resources: [String]?
    /// The name of the account.
    public var account: String?
    /// Whether the login of another account under the name may be replaced.
    package var replaceAccount: Bool?
    /// The redirect URI that is registered for the client; by default the callback of the service.
    public var redirectURI: String?
    /// Whether the authorization request is pushed to the server first (RFC 9126).
    package var push: Bool?
    /// Further parameters of the authorization request.
    public var parameters: [String: String]?
    /// Whether the tokens are bound to a key (RFC 9449).
    public var dpop: Bool?
    /// Whether secrets may be sent unencrypted to other machines.
    package var dangerouslyAllowPlainHTTP: Bool?
    /// The private key in PEM that signs assertions in place of a user's login (RFC 7523).
    package var assertionKey: String?
    /// The identifier of the key that signs assertions.
    package var assertionKeyID: String?
    /// The issuer of the assertions; the client by default.
    package var assertionIssuer: String?
    /// The account that the assertions are about; by default their issuer.
    package var assertionSubject: String?
    /// The audience of the assertions; by default as `keyAudience`.
    package var assertionAudience: String?
    /// The name of the login whose access token is exchanged (RFC 8693).
    package var exchange: String?
    /// The name of the login of the party that acts for its user.
    package var actor: String?
    /// The services that the exchanged token is for.
    package var audiences: [String]?
    /// The client's certificate followed by its private key, in PEM (RFC 8705).
    package var clientCertificate: String?
    /// Whether a client is registered at the server first, and its identifier and credentials are stored (RFC 7591).
    package var register: Bool?
    /// The initial access token, if the server requires one for the registration.
    package var registrationToken: String?
    /// Where the browser returns to in this login only, such as the redirect URI with a free port.
    public var browserReturnsTo: String?

    /// Creates a login that has a name only. Set the properties that the server needs.
    public init(name: String) {
        self.name = name
    }
}
