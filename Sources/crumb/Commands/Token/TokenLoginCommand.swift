import ArgumentParser
import CookieModel
import OAuth2
import SessionOperations
import SessionStore

struct TokenLoginCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Log in at an authorization server and keep the tokens.",
        discussion: """
            Opens a browser, which comes back to a loopback address; with --no-browser the URL is printed, and the one \
            that the browser ended at can be pasted; with --device a code is to be typed elsewhere; with \
            --client-credentials there is no user at all. A name that was used before needs nothing else: what was said \
            then still holds.

                crumb token login work --issuer https://id.example --client-id app --scope 'openid offline_access'

            Secrets are never arguments: --client-secret-file, or the variable CRUMB_CLIENT_SECRET.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var client: ClientSecretOptions

    @Option(help: "The client's identifier.")
    var clientID: String?

    @Option(help: "Scopes to ask for, with spaces between them.")
    var scope: String?

    @Option(help: "A resource that the token is for, a URL (RFC 8707); may be given more than once.")
    var resource: [String] = []

    @Option(
        help: ArgumentHelp(
            "A further parameter of the page to log in on, such as prompt=consent.", valueName: "name=value"))
    var parameter: [String] = []

    @Option(
        help:
            "The account that the tokens are for. Default: the one named at the last login, or what the ID token says.")
    var account: String?

    @Flag(help: "Let this login take the name of another account's login without asking.")
    var replaceAccount = false

    @Option(help: "Where the browser comes back to; a port of 0, or none, takes any.")
    var redirectURI: String?

    @Option(help: "How many seconds the user may take. Default: 300; with --device as long as the code lives.")
    var timeout: Int?

    @Flag(help: "Print the URL instead of opening a browser.")
    var noBrowser = false

    @Flag(help: "Log in on another device, by a code.")
    var device = false

    @Flag(help: "Leave out the QR code that a terminal shows with --device.")
    var noQrCode = false

    @Flag(help: "Get the client's own tokens, without a user.")
    var clientCredentials = false

    @Flag(help: "Push the request to the server beforehand (RFC 9126).")
    var push = false

    @Flag(name: .customLong("dpop"), help: "Bind the tokens to a new key (RFC 9449).")
    var bindsTokens = false

    @Argument(help: "The name to keep the tokens under.")
    var name: String

    func validate() throws {
        guard !device || !clientCredentials else {
            throw ValidationError("--device and --client-credentials are two ways; choose one.")
        }
        guard timeout.map((1...86_400).contains) ?? true else {
            throw ValidationError("--timeout: use 1 to 86400 seconds.")
        }
    }

    func execute(_ console: Console) throws {
        let store = try database.open(now: .now, durability: .full).tokens
        let request = try request()
        let plan = try Blocking.run { try await request.plan(store, over: HelperTransport()) }
        let login = TokenLogin(plan, console: console)
        let tokens =
            switch plan.credentials.settings.grant {
            case .clientCredentials: try login.withClientCredentials()
            case .deviceCode:
                try login.onAnotherDevice(
                    qrCode: noQrCode ? nil : output.usesColor ? .colored : .plain, timeout: timeout,
                    printsJSON: output.json)
            default: try login.inBrowser(opensBrowser: !noBrowser, timeout: .seconds(timeout ?? 300))
            }
        let report = StoredTokenReport(try login.keep(tokens, in: store), now: .now)
        if output.json { try console.writeJSON(report) } else { console.note("logged in: \(report.text)") }
    }

    /// What the options say.
    private func request() throws -> TokenLoginRequest {
        let preset = try server.preset()
        let lookup = try server.lookup(preset)
        var request = TokenLoginRequest(name: name)
        request.issuer = lookup.issuer
        request.endpoints = lookup.endpoints
        request.clientID = clientID
        request.clientSecret = try client.secret()
        request.authenticationMethod = client.method
        request.keyID = client.keyID
        request.assertionAudience = client.keyAudience
        request.idTokenAlgorithm = client.idTokenAlgorithm
        request.grant = device ? .deviceCode : clientCredentials ? .clientCredentials : nil
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
                throw Problem(.tokenSettingsInvalid, "--parameter: write name=value")
            }
            let name = String(pair[..<equals])
            guard !AuthorizationCodeGrant.reservedParameters.contains(name) else {
                throw Problem(.tokenSettingsInvalid, "--parameter: '\(name)' is not yours to choose")
            }
            parameters.append((name, String(pair[equals...].dropFirst())))
        }
        return parameters
    }
}
