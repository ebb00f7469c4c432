/// How a gateway runs, which gives requests the session of a jar.
package struct GatewayDocument: Codable, Sendable, Hashable {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case jar, users, client, cookies, intercept, bypass, legacyTLS, port, upstreams, cache, packages
    }

    /// The name of the jar of all clients. A gateway has either a jar or users.
    package let jar: String?
    /// The users, who sign in with the credentials for a proxy, and whose requests get the session of a jar of their own.
    package let users: [GatewayUserDocument]?
    /// What sends the requests: one profile of a browser or one web view, which decides which cookies a request carries
    /// (`browser`, the default), or programs, for which the jar decides (`tool`).
    package let client: String?
    /// Which cookies of a response the client gets: all but HttpOnly ones (`mirror`), none (`strip`) or all (`pass`).
    package let cookies: String?
    /// The hosts whose https requests are decrypted; `*.HOST` for the subdomains of one. The database needs an
    /// authority for them: `crumb gateway ca create`.
    package let intercept: [String]?
    /// The hosts whose https requests pass unread all the same.
    package let bypass: [String]?
    /// The hosts with which TLS 1.0 and 1.1, which are no longer secure, are spoken, too.
    package let legacyTLS: [String]?
    /// The port of 127.0.0.1; a free one if it is `nil` or 0.
    package let port: Number<PortRange>?
    /// The sites that are served at local addresses, in place of a proxy: origins of one site.
    package let upstreams: [GatewayUpstreamDocument]?
    /// The cache that answers requests; without it, there is none.
    package let cache: GatewayCacheDocument?
    /// Whether offline packages of the jar answer requests, as they do by default. They are on the machine of the service.
    package let packages: Bool?

    /// Creates the document. Members that are `nil` are left out.
    package init(
        jar: String? = nil, users: [GatewayUserDocument]? = nil, client: String? = nil, cookies: String? = nil,
        intercept: [String]? = nil,
        bypass: [String]? = nil, legacyTLS: [String]? = nil, port: Int? = nil,
        upstreams: [GatewayUpstreamDocument]? = nil, cache: GatewayCacheDocument? = nil, packages: Bool? = nil
    ) {
        self.jar = jar
        self.users = users
        self.client = client
        self.cookies = cookies
        self.intercept = intercept
        self.bypass = bypass
        self.legacyTLS = legacyTLS
        self.port = port.map(Number.init(unchecked:))
        self.upstreams = upstreams
        self.cache = cache
        self.packages = packages
    }
}

extension GatewayDocument: RequestDocument {}

/// A user of a gateway.
package struct GatewayUserDocument: Codable, Sendable, Hashable {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case name, jar, secretHash
    }

    /// The name: 1 to 64 ASCII letters, digits, `.`, `_` and `-`.
    package let name: String
    /// The name of the jar.
    package let jar: String
    /// The SHA-256 of a secret that `crumb gateway user add` has created: 64 hexadecimal digits.
    package let secretHash: String

    /// Creates the document.
    package init(name: String, jar: String, secretHash: String) {
        self.name = name
        self.jar = jar
        self.secretHash = secretHash
    }

    /// Decodes a user, who has no other members.
    package init(from decoder: any Decoder) throws {
        try decoder.requireMembers(of: GatewayUserDocument.self)
        let members = try decoder.container(keyedBy: CodingKeys.self)
        name = try members.decode(String.self, forKey: .name)
        jar = try members.decode(String.self, forKey: .jar)
        secretHash = try members.decode(String.self, forKey: .secretHash)
    }
}

extension GatewayUserDocument: RequestDocument {}

/// A site that a gateway offers at an address of this machine.
package struct GatewayUpstreamDocument: Codable, Sendable, Hashable {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case url, port
    }

    /// The origin of the site.
    package let url: String
    /// The port of 127.0.0.1; a free one if it is `nil` or 0.
    package let port: Number<PortRange>?

    /// Creates the document. Members that are `nil` are left out.
    package init(url: String, port: Int? = nil) {
        self.url = url
        self.port = port.map(Number.init(unchecked:))
    }

    /// Decodes a site, which has no other members.
    package init(from decoder: any Decoder) throws {
        try decoder.requireMembers(of: GatewayUpstreamDocument.self)
        let members = try decoder.container(keyedBy: CodingKeys.self)
        url = try members.decode(String.self, forKey: .url)
        port = try members.decodeIfPresent(Number<PortRange>.self, forKey: .port)
    }
}

extension GatewayUpstreamDocument: RequestDocument {}

/// How a gateway stores responses, and answers requests from them.
package struct GatewayCacheDocument: Codable, Sendable, Hashable {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case size, rules, offline
    }

    /// How many octets of responses are stored for the jar.
    package let size: Number<CacheSizeRange>
    /// The lines of a table of rules, as in a file of `--rules`; `docs/cache.md` describes them.
    package let rules: [String]?
    /// Whether no server is connected to. A request that nothing stored answers gets status 504.
    package let offline: Bool?

    /// Creates the document. Members that are `nil` are left out.
    package init(size: Int, rules: [String]? = nil, offline: Bool? = nil) {
        self.size = Number(unchecked: size)
        self.rules = rules
        self.offline = offline
    }

    /// Decodes a cache, which has no other members.
    package init(from decoder: any Decoder) throws {
        try decoder.requireMembers(of: GatewayCacheDocument.self)
        let members = try decoder.container(keyedBy: CodingKeys.self)
        size = try members.decode(Number<CacheSizeRange>.self, forKey: .size)
        rules = try members.decodeIfPresent([String].self, forKey: .rules)
        offline = try members.decodeIfPresent(Bool.self, forKey: .offline)
    }
}

extension GatewayCacheDocument: RequestDocument {}
