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

    @Option(help: "The account that the tokens are for. Default: what the ID token says.")
    var account: String?

    @Option(help: "Where the browser comes back to; a port of 0, or none, takes any.")
    var redirectURI: String?

    @Option(help: "How many seconds the user may take.")
    var timeout = 300

    @Flag(help: "Print the URL instead of opening a browser.")
    var noBrowser = false

    @Flag(help: "Log in on another device, by a code.")
    var device = false

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
        guard (1...86_400).contains(timeout) else { throw ValidationError("--timeout: use 1 to 86400 seconds.") }
    }

    func execute(_ console: Console) throws {
        ClientSecretOptions.clearEnvironment()
        let now = Timestamp.now
        let store = try database.open(now: now, durability: .full).tokens
        let plan = try plan(store)
        let login = TokenLogin(
            metadata: plan.metadata, profile: plan.profile, credentials: plan.credentials, parameters: plan.parameters,
            console: console)
        let tokens =
            switch plan.credentials.settings.grant {
            case .clientCredentials: try login.withClientCredentials()
            case .deviceCode: try login.onAnotherDevice()
            default:
                try login.inBrowser(
                    TokenLogin.BrowserOptions(
                        opensBrowser: !noBrowser,
                        redirectURI: plan.credentials.settings.redirectURI ?? "http://127.0.0.1/callback",
                        pushes: push, timeout: .seconds(timeout)))
            }
        var id = plan.profile
        id.account = account ?? subject(of: tokens) ?? id.account
        let profile = Profile(id: id, name: name)
        let end = Timestamp.now
        try store.put(tokens, for: profile, credentials: plan.credentials, now: end)
        let report = StoredTokenReport(try store.get(name), now: end)
        if output.json { try console.writeJSON(report) } else { console.note("logged in: \(report.text)") }
    }

    /// What the ID token calls the account. Its other claims were checked with the login.
    private func subject(of tokens: TokenSet) -> String? {
        tokens.idToken.flatMap { try? IDTokenClaims(unverified: $0) }?.subject
    }
}

// What a login needs to know, from the options and from the last login under that name.
extension TokenLoginCommand {
    struct Plan {
        let metadata: ServerMetadata
        let profile: ProfileID
        let credentials: ProfileCredentials
        let parameters: [(name: String, value: String)]
    }

    /// What the last login under the name went by.
    private struct Earlier {
        let profile: ProfileID
        let credentials: ProfileCredentials
    }

    private var grant: ProfileSettings.Grant? {
        device ? .deviceCode : clientCredentials ? .clientCredentials : nil
    }

    private func plan(_ store: TokenStore) throws -> Plan {
        let earlier = try earlier(store)
        let preset = try server.preset()
        let grant =
            grant ?? (earlier?.credentials.settings.grant).flatMap { $0 == .imported ? nil : $0 }
            ?? .authorizationCode
        let isSameServer = server.issuer == nil && server.provider == nil && server.endpoint.isEmpty
        var metadata: ServerMetadata
        if isSameServer, let earlier {
            metadata = ServerMetadata(
                issuer: earlier.profile.issuer, endpoints: earlier.credentials.settings.endpoints)
        } else {
            metadata = try server.metadata(preset, needing: needed(grant, preset))
        }
        guard let clientID = clientID ?? earlier?.profile.clientID, !clientID.isEmpty else {
            throw Problem(.tokenSettingsInvalid, "\(name): which client? Give --client-id")
        }
        let secret = try client.secret() ?? (isSameServer ? earlier?.credentials.clientSecret : nil)
        let method =
            if isSameServer, client.authMethod == nil, client.clientKeyFile == nil, let earlier {
                earlier.credentials.settings.authenticationMethod
            } else {
                try client.method(hasSecret: secret != nil, supported: metadata.authenticationMethods)
            }
        let settings = ProfileSettings(
            grant: grant, endpoints: metadata.endpoints, authenticationMethod: method,
            keyID: client.keyID ?? earlier?.credentials.settings.keyID,
            scopes: (scope ?? earlier?.credentials.settings.scopes ?? preset.scope).map { Scopes(parsing: $0) },
            resources: resource.isEmpty ? earlier?.credentials.settings.resources ?? [] : resource,
            redirectURI: redirectURI ?? earlier?.credentials.settings.redirectURI,
            dangerouslyAllowsPlainHTTP: server.dangerouslyAllowPlainHttp
                || (isSameServer && earlier?.credentials.settings.dangerouslyAllowsPlainHTTP == true))
        let isBound = bindsTokens || (isSameServer && earlier?.credentials.proofKey != nil)
        return Plan(
            metadata: metadata,
            profile: ProfileID(
                issuer: metadata.issuer, clientID: clientID,
                account: isSameServer ? earlier?.profile.account ?? "" : ""),
            credentials: ProfileCredentials(
                settings: settings, clientSecret: secret, proofKey: isBound ? SigningKey().secret : nil),
            parameters: try furtherParameters(preset))
    }

    private func earlier(_ store: TokenStore) throws -> Earlier? {
        do {
            let stored = try store.get(name)
            guard let credentials = try store.credentials(name) else { return nil }
            return Earlier(profile: stored.profile.id, credentials: credentials)
        } catch {
            guard error.code == .tokenNotFound || error.code == .valueDamaged else { throw error }
            return nil
        }
    }

    private func needed(
        _ grant: ProfileSettings.Grant, _ preset: ProviderPreset
    ) -> Set<ServerMetadata.Endpoint> {
        let isOpenID = (scope ?? preset.scope).map { Scopes(parsing: $0).contains("openid") } ?? false
        let keys: Set<ServerMetadata.Endpoint> = isOpenID ? [.keys] : []
        switch grant {
        case .clientCredentials: return [.token]
        case .deviceCode: return keys.union([.token, .deviceAuthorization])
        default: return keys.union(push ? [.token, .authorization, .pushedAuthorization] : [.token, .authorization])
        }
    }

    private func furtherParameters(_ preset: ProviderPreset) throws -> [(name: String, value: String)] {
        var parameters = (preset.parameters ?? [:]).sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        for pair in parameter {
            guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex else {
                throw Problem(.tokenSettingsInvalid, "--parameter: write name=value")
            }
            parameters.append((String(pair[..<equals]), String(pair[equals...].dropFirst())))
        }
        return parameters
    }
}
