import ArgumentParser
import CookieModel
import OAuth2
import SessionOperations
import SessionStore

struct TokenImportCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import the tokens of a login.",
        discussion: """
            Reads the JSON reply of a token endpoint, or one line with an access token, from standard input or a file, never \
            from the command line, which others can see. With --discover or --endpoint token_endpoint=URL, Crumb can \
            renew the tokens.
            """)

    @OptionGroup var database: DatabaseFileOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var client: ClientSecretOptions

    @Option(help: "The file to read; '-' is standard input.")
    var file = "-"

    @Option(help: "The client that the tokens were issued to.")
    var clientID = ""

    @Option(help: "The account that the tokens are for.")
    var account = ""

    @Option(help: "The URL of a resource that the token is for (RFC 8707), sent with each refresh. Repeatable.")
    var resource: [String] = []

    @Flag(help: "Look up the endpoints at the issuer.")
    var discover = false

    @Argument(help: "The name of the login.", completion: NameCompletion.logins)
    var name: String

    func validate() throws {
        guard file != "-" || client.clientSecretFile != "-" else {
            throw ValidationError("--client-secret-file: standard input is used for the tokens; use a file.")
        }
    }

    var needsNetwork: Bool { discover }

    func execute(_ console: Console) throws {
        let now = console.now
        let input = InputFile(file)
        let bytes = try input.contents(limit: EndpointResponse.maximumBodySize)
        let tokenSet: TokenSet
        do {
            tokenSet = try TokenImport.tokenSet(bytes, now: now)
        } catch {
            throw Problem(.tokenInputInvalid, "\(input.name): \(error.description)")
        }
        let preset = try server.preset()
        let profile = Profile(
            id: ProfileID(issuer: server.issuer ?? preset.issuer ?? "", clientID: clientID, account: account),
            name: name)
        let credentials = try credentials(preset)
        let store = try database.open(now: now, durability: .full).tokens
        try store.put(tokenSet, for: profile, credentials: credentials, now: now)
        let stored = StoredTokenReport(try store.get(name), now: now)
        if output.json { try console.writeJSON(stored) } else { console.note("stored \(stored.text)") }
    }

    /// How the tokens can be refreshed, where the options tell.
    private func credentials(_ preset: ProviderPreset) throws -> ProfileCredentials? {
        guard discover || !server.endpoint.isEmpty || server.provider != nil else { return nil }
        let (lookup, name) = (try server.lookup(preset), name)
        let metadata =
            if discover {
                try Blocking.run {
                    try await lookup.metadata(for: name, needing: [.token], over: try Network.required().endpoints)
                }
            } else {
                try lookup.stated(for: name)
            }
        let secret = try client.secret()
        var settings = ProfileSettings(
            grant: .imported, endpoints: metadata.endpoints,
            authenticationMethod: try client.method(hasSecret: secret != nil, at: metadata),
            keyID: client.keyID, resources: resource, dangerouslyAllowsPlainHTTP: server.dangerouslyAllowPlainHttp)
        settings.assertionAudience = client.keyAudience
        settings.idTokenAlgorithm = client.idTokenAlgorithm
        settings.serverIDTokenAlgorithms = metadata.idTokenAlgorithms
        return ProfileCredentials(settings: settings, clientSecret: secret)
    }
}
