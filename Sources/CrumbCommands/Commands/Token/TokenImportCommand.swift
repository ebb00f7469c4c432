import ArgumentParser
import OAuth2
import OAuth2Login
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

            If the login exists, what you leave out stays as it is: issuer, client, account, and the refresh token if the \
            input has none. Tokens that expire before the stored ones are refused (exit status 42) without --force.
            """)

    @OptionGroup var database: DatabaseFileOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var client: ClientSecretOptions

    @Option(help: "The file to read; '-' is standard input.")
    var file = "-"

    @Option(help: "The client that the tokens were issued to.")
    var clientID: String?

    @Option(help: "The account that the tokens are for.")
    var account: String?

    @Option(help: "The URL of a resource that the token is for (RFC 8707), sent with each refresh. Repeatable.")
    var resource: [String] = []

    @Flag(help: "Look up the endpoints at the issuer.")
    var discover = false

    @Flag(help: "Replace a stored access token that expires later.")
    var force = false

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
        var tokenSet: TokenSet
        do {
            tokenSet = try TokenImport.tokenSet(bytes, now: now)
        } catch {
            throw CommandFailure(.tokenInputInvalid, "\(input.name): \(error.commandDescription)")
        }
        let preset = try server.preset()
        let credentials = try credentials(preset)
        let store = try database.open(now: now, durability: .full).tokens
        let known = try store.readable(name)
        let profile = Profile(
            id: ProfileID(
                issuer: server.issuer ?? preset.issuer ?? known?.profile.id.issuer ?? "",
                clientID: clientID ?? known?.profile.id.clientID ?? "",
                account: account ?? known?.profile.id.account ?? ""),
            name: name)
        if let known, known.profile.id == profile.id {
            // The tokens of a login that the server no longer accepts protect nothing.
            if known.refusal == nil {
                if !force { try check(tokenSet, mayReplace: known.tokens) }
                tokenSet = tokenSet.completed(by: known.tokens)
            }
        }
        guard
            try store.put(
                tokenSet, for: profile, credentials: credentials, expectedGeneration: known?.generation, now: now)
        else {
            throw CommandFailure(.tokenRefreshBusy, "\(name): another process has just changed the login; try again")
        }
        let stored = StoredTokenReport(try store.get(name), now: now)
        try console.report(stored, note: "stored \(stored.text)")
    }

    /// Rejects tokens of the past, such as those of an old backup: their refresh token may have been used already, and
    /// servers end a login whose refresh token is used twice.
    private func check(_ tokens: TokenSet, mayReplace stored: TokenSet) throws {
        guard let end = stored.accessTokenExpiry, let newEnd = tokens.accessTokenExpiry, newEnd < end else { return }
        throw CommandFailure(
            .tokenInputInvalid,
            "\(name): the stored access token is newer: it expires \(end.rfc3339), the one to import \(newEnd.rfc3339); "
                + "to replace it, use --force")
    }

    /// How the tokens can be refreshed, if the options tell.
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
