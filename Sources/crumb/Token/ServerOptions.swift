import ArgumentParser
import OAuth2
import SessionOperations

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
                throw Problem(.tokenSettingsInvalid, "--endpoint: write name=url, with one of \(names)")
            }
            endpoints[endpoint] = String(parts[1])
        }
        return ServerLookup(
            issuer: issuer ?? preset.issuer, endpoints: endpoints,
            dangerouslyAllowsPlainHTTP: dangerouslyAllowPlainHttp)
    }
}
