import ArgumentParser
import OAuth2

/// Which authorization server: by its issuer, a preset, or its endpoints one by one.
struct ServerOptions: ParsableArguments {
    @Option(help: "The server's issuer identifier, a URL; its endpoints are looked up there.")
    var issuer: String?

    @Option(help: "A provider's preset, such as google or github; see docs/tokens.md.")
    var provider: String?

    @Option(help: ArgumentHelp("A JSON file with presets of your own.", valueName: "file"))
    var providersFile: String?

    @Option(help: "What stands for {tenant} in the preset.")
    var providerTenant: String?

    @Option(help: "What stands for {host} in the preset.")
    var providerHost: String?

    @Option(
        help: ArgumentHelp(
            "An endpoint that the server does not tell, such as token_endpoint=https://id.example/token.",
            valueName: "name=url"))
    var endpoint: [String] = []

    @Flag(
        help: ArgumentHelp(
            "Let secrets go unencrypted to other machines: for tests in closed networks only.",
            visibility: .default))
    var dangerouslyAllowPlainHttp = false

    /// The preset that was named.
    func preset() throws -> ProviderPreset {
        guard let provider else { return ProviderPreset() }
        var values: [String: String] = [:]
        values["tenant"] = providerTenant
        values["host"] = providerHost
        return try ProviderPreset.named(provider, file: providersFile, values: values)
    }

    /// What the server says of itself, and above that what was given here.
    ///
    /// - Parameter needed: the endpoints that will be used.
    func metadata(
        _ preset: ProviderPreset, needing needed: Set<ServerMetadata.Endpoint>
    ) throws -> ServerMetadata {
        var given: [ServerMetadata.Endpoint: String] = [:]
        for (name, url) in preset.endpoints ?? [:] {
            if let endpoint = ServerMetadata.Endpoint(rawValue: name) { given[endpoint] = url }
        }
        for pair in endpoint {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let endpoint = ServerMetadata.Endpoint(rawValue: String(parts[0])) else {
                let names = ServerMetadata.Endpoint.allCases.map(\.rawValue).joined(separator: ", ")
                throw Problem(.tokenSettingsInvalid, "--endpoint: write name=url, with one of \(names)")
            }
            given[endpoint] = String(parts[1])
        }
        guard let issuer = issuer ?? preset.issuer else {
            guard !given.isEmpty else {
                throw Problem(
                    .tokenSettingsInvalid, "which server? Give --issuer, --provider, or its endpoints by --endpoint")
            }
            return ServerMetadata(issuer: "", endpoints: given)
        }
        let missing = needed.subtracting(given.keys)
        guard !missing.isEmpty else { return ServerMetadata(issuer: issuer, endpoints: given) }
        let discovery = try MetadataDiscovery(
            issuer: issuer, dangerouslyAllowingPlainHTTP: dangerouslyAllowPlainHttp)
        var metadata = try Blocking.run {
            try await discovery.metadata(over: HelperTransport(), needing: missing)
        }
        metadata.endpoints.merge(given) { $1 }
        return metadata
    }
}
