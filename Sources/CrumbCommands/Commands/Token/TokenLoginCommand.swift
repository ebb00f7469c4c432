import ArgumentParser
import OAuth2
import OAuth2Login
import SessionOperations
import SessionStore

struct TokenLoginCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Log in at an authorization server and store the tokens.",
        discussion: """
            Prints a URL and opens it in a browser, which returns to a loopback address. The variable BROWSER names other \
            browsers than the system's. With --no-browser, only prints the URL, and reads the one that the browser is redirected \
            to. With --device, shows a code to type on another device. With --client-credentials, --jwt-bearer or \
            --exchange, needs no user. A name that was used before needs no other options: the earlier ones still apply.

                crumb token login work --issuer https://id.example --client-id app --scope 'openid offline_access'

            Secrets are never arguments: use --client-secret-file or the variable CRUMB_CLIENT_SECRET.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var client: ClientSecretOptions
    @OptionGroup var grant: GrantOptions

    @Option(help: "The identifier of the client.")
    var clientID: String?

    @Option(help: "The scopes to request, with spaces between them.")
    var scope: String?

    @Option(help: "The URL of a resource that the token is for (RFC 8707). Repeatable.")
    var resource: [String] = []

    @Option(
        help: .value(
            "name=value", "Another parameter of the authorization request, such as prompt=consent. Repeatable."))
    var parameter: [String] = []

    @Option(
        help: "The account that the tokens are for. Default: the one of the last login, else the one in the ID token.")
    var account: String?

    @Flag(help: "Let this login take the name of another account's login without asking.")
    var replaceAccount = false

    @Option(
        help: .value(
            "url",
            "The URL that the browser returns to: http://127.0.0.1, http://[::1] or, if the server accepts "
                + "nothing else, "
                + "http://localhost, with a path. Port 0, or no port, uses any free port."))
    var redirectURI: String?

    @Option(
        parsing: .unconditional,
        help: "How many seconds to wait for the user. Default: 300; with --device as long as the code is valid.")
    var timeout: Int?

    @Flag(help: "Only print the URL; open no browser. With --device, do not copy the code either.")
    var noBrowser = false

    @Flag(help: "Omit the QR code that --device shows on a terminal.")
    var noQrCode = false

    @Flag(help: "Push the authorization request to the server first (RFC 9126).")
    var push = false

    @Flag(name: .customLong("dpop"), help: "Bind the tokens to a new key (RFC 9449).")
    var bindsTokens = false

    @Argument(help: "The name of the login.", completion: NameCompletion.logins)
    var name: String

    func validate() throws {
        guard timeout.map((1...86_400).contains) ?? true else {
            throw ValidationError("--timeout: use 1 to 86400 seconds.")
        }
    }

    var needsNetwork: Bool { true }

    func execute(_ console: Console) throws {
        let report = try database.service().map { try logIn(over: $0, console) } ?? logInHere(console)
        try console.report(report, note: "logged in: \(report.text)")
    }

    /// Logs in on the machine of the browser; a service gets and stores the tokens.
    private func logIn(over service: ServiceConnection, _ console: Console) throws -> StoredTokenReport {
        guard client.keyAlgorithm == nil else {
            throw CommandFailure(
                .tokenSettingsInvalid, "--key-algorithm: a service chooses the algorithm by the type of the key")
        }
        var document = LoginDocument(
            try request(), clientKey: try client.clientKeyFile.map { try client.pem(in: $0) },
            assertionKey: try grant.assertionKeyFile.map { try client.pem(in: $0) })
        // The service has presets of its own; those of a file are known here alone.
        if server.providersFile == nil {
            document.provider = server.provider
            document.providerTenant = server.providerTenant
            document.providerHost = server.providerHost
        }
        return try RemoteLogin(service, console: console).run(document, presentation)
    }

    private func logInHere(_ console: Console) throws -> StoredTokenReport {
        let request = try request()
        let existing = try database.openIfPresent(now: console.now, durability: .full)
        if existing == nil, request.exchange == nil {
            // No earlier login names the server: nothing is created if the options do not name one either.
            _ = try ServerLookup(issuer: request.issuer, endpoints: request.endpoints).stated(for: name)
        }
        let store = try (existing ?? database.open(now: console.now, durability: .full)).tokens
        let access = try TokenAccess(store, refreshTimeout: RefreshOptions.usual(), clock: console.clock)
        let flow = try Blocking.run { try await access.flow(request) }
        let stored = try TerminalLogin(flow, access, console).run(presentation)
        return StoredTokenReport(stored, now: console.now)
    }

    private var presentation: TerminalLogin.Presentation {
        TerminalLogin.Presentation(
            opensBrowser: !noBrowser, qrCode: noQrCode ? nil : output.usesColor ? .colored : .plain,
            printsJSON: output.json, timeout: timeout)
    }

    /// The request that the options describe.
    private func request() throws -> TokenLoginRequest {
        let preset = try server.preset()
        let lookup = try server.lookup(preset)
        var request = TokenLoginRequest(name: name)
        request.issuer = lookup.issuer
        request.endpoints = lookup.endpoints
        request.clientID = clientID
        request.clientSecret = try client.secret()
        request.registration = try client.registration()
        request.clientCertificate = try client.certificate()
        request.authenticationMethod = client.method
        request.keyID = client.keyID
        request.assertionAudience = client.keyAudience
        request.idTokenAlgorithm = client.idTokenAlgorithm
        try grant.apply(to: &request, client)
        request.scope = scope
        request.defaultScope = preset.scope
        request.resources = resource
        request.account = account
        request.replacesAccount = replaceAccount
        request.asksForConsent = !ProviderPreset.hasRules(for: server.provider, issuer: lookup.issuer)
        request.redirectURI = redirectURI
        request.pushes = push
        request.parameters = try furtherParameters(preset)
        request.bindsTokens = bindsTokens
        request.dangerouslyAllowsPlainHTTP = server.dangerouslyAllowPlainHttp
        return request
    }

    private func furtherParameters(_ preset: ProviderPreset) throws -> [(name: String, value: String)] {
        var parameters = (preset.parameters ?? [:]).sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        for pair in parameter {
            guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex else {
                throw CommandFailure(.tokenSettingsInvalid, "--parameter: write name=value")
            }
            let name = String(pair[..<equals])
            guard !AuthorizationCodeGrant.reservedParameters.contains(name) else {
                throw CommandFailure(.tokenSettingsInvalid, "--parameter: '\(name)' is set by Crumb")
            }
            parameters.append((name, String(pair[equals...].dropFirst())))
        }
        return parameters
    }
}
