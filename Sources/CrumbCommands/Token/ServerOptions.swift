import ArgumentParser
import OAuth2
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
            "Send secrets unencrypted to other machines. Only for tests in closed networks.",
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
                throw CommandFailure(.tokenSettingsInvalid, "--endpoint: write name=url, with one of \(names)")
            }
            endpoints[endpoint] = String(parts[1])
        }
        return ServerLookup(
            issuer: issuer ?? preset.issuer, endpoints: endpoints,
            dangerouslyAllowsPlainHTTP: dangerouslyAllowPlainHttp)
    }
}
