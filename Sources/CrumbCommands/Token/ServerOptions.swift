import ArgumentParser
import OAuth2
import OAuth2Login
import SessionOperations

/// Which authorization server: by its issuer, a preset, or its endpoints one by one.
struct ServerOptions: ParsableArguments {
    @Option(help: "The issuer identifier of the server, a URL. Crumb looks up the endpoints there.")
    var issuer: String?

    @Option(help: "The preset of a provider, such as google or github; docs/tokens.md lists them.")
    var provider: String?

    @Option(help: .file("The JSON file with your own presets."))
    var providersFile: String?

    @Option(help: "The value for {tenant} in the preset.")
    var providerTenant: String?

    @Option(help: "The value for {host} in the preset.")
    var providerHost: String?

    @Option(help: .value("name=url", "An endpoint, such as token_endpoint=https://id.example/token. Repeatable."))
    var endpoint: [String] = []

    @Flag(
        help: ArgumentHelp(
            "Send secrets unencrypted to other machines. Only for tests in closed networks.", visibility: .default))
    var dangerouslyAllowPlainHttp = false

    /// The preset that was named.
    func preset() throws -> ProviderPreset {
        guard let provider else { return ProviderPreset() }
        let file = try providersFile.map { path in
            ProviderPreset.File(name: path, bytes: try InputFile(path).contents(limit: 1 << 20))
        }
        return try ProviderPreset.named(provider, file: file, tenant: providerTenant, host: providerHost)
    }

    /// The server that the options and a preset say; the options count first.
    func lookup(_ preset: ProviderPreset) throws -> ServerLookup {
        var endpoints: [ServerMetadata.Endpoint: String] = [:]
        for (name, url) in preset.endpoints ?? [:] {
            if let endpoint = ServerMetadata.Endpoint(rawValue: name) { endpoints[endpoint] = url }
        }
        for pair in endpoint {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let endpoint = ServerMetadata.Endpoint(rawValue: String(parts[0])) else {
                let names = ServerMetadata.Endpoint.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure(.tokenSettingsInvalid, "--endpoint: write name=url, with one of \(names)")
            }
            endpoints[endpoint] = String(parts[1])
        }
        return ServerLookup(
            issuer: issuer ?? preset.issuer, endpoints: endpoints,
            dangerouslyAllowsPlainHTTP: dangerouslyAllowPlainHttp)
    }
}

/// How the tokens are got: by a user, or without one.
struct GrantOptions: ParsableArguments {
    @Flag(help: "Log in on another device with a code.")
    var device = false

    @Flag(help: "Get tokens for the client itself, without a user.")
    var clientCredentials = false

    @Flag(help: "Get tokens for a signed assertion, without a user (RFC 7523). Requires --assertion-key-file.")
    var jwtBearer = false

    @Option(
        help: .value(
            "name",
            "Exchange the access token of this login for another one (RFC 8693), for --audience, --resource or --scope."
        ))
    var exchange: String?

    @Option(help: .file("The PEM file with the private key that signs the assertion (P-256, Ed25519 or RSA)."))
    var assertionKeyFile: String?

    @Option(help: "The identifier of that key.")
    var assertionKeyID: String?

    @Option(help: "Who signs the assertion. Default: the client.")
    var assertionIssuer: String?

    @Option(help: "The account that the assertion is about. Default: its issuer.")
    var assertionSubject: String?

    @Option(help: "The audience of the assertion. Default: as --key-audience.")
    var assertionAudience: String?

    @Option(help: .value("name", "The login of the party that acts for the user of --exchange."))
    var actor: String?

    @Option(help: "The name of a service that the exchanged token is for. Repeatable.")
    var audience: [String] = []

    func validate() throws {
        guard [device, clientCredentials, jwtBearer, exchange != nil].filter({ $0 }).count <= 1 else {
            throw ValidationError("Use one of --device, --client-credentials, --jwt-bearer and --exchange.")
        }
        guard exchange != nil || actor == nil && audience.isEmpty else {
            throw ValidationError("--actor and --audience belong to --exchange.")
        }
    }

    /// Applies the options of the grant.
    ///
    /// - Parameter client: Reads the key's file.
    func apply(to request: inout TokenLoginRequest, _ client: ClientSecretOptions) throws {
        if device { request.grant = .deviceCode }
        if clientCredentials { request.grant = .clientCredentials }
        if jwtBearer { request.grant = .jwtBearer }
        if let exchange {
            request.grant = .tokenExchange
            request.exchange = ProfileSettings.Exchange(subject: exchange, actor: actor, audiences: audience)
        }
        request.assertionKey = try assertionKeyFile.map { try client.signingKey(in: $0).secret }
        request.assertion = ProfileSettings.Assertion(
            issuer: assertionIssuer, subject: assertionSubject, audience: assertionAudience, keyID: assertionKeyID)
    }
}
