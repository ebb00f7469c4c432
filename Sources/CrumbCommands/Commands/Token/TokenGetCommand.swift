import ArgumentParser
import CookieModel
import Foundation
import HTTPTypes
import OAuth2
import RequestDecoration
import SessionOperations
import SessionStore

struct TokenGetCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print a valid access token, or the ID token, for use in $(…). Renews it first if it is due.",
        discussion: """
            Prints nothing else. Exit status 40 if there is no login with that name, 41 if the token has expired and cannot \
            be renewed, 43 if the server requires a new login, 45 if the server cannot be reached.

            With --resource, prints a token for that resource alone. Crumb asks for it with the refresh token of the \
            login, stores it beside the others, and renews it by itself.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var freshness: FreshnessOptions

    @Flag(name: .customLong("id-token"), help: "Print the ID token instead of the access token.")
    var wantsIDToken = false

    @Option(help: "The URL of the resource that the token is for (RFC 8707).")
    var resource: String?

    @OptionGroup var login: LoginArgument

    func validate() throws {
        guard !wantsIDToken || resource == nil else {
            throw ValidationError("An ID token is not for a resource: leave out --id-token or --resource.")
        }
    }

    var needsNetwork: Bool { database.mayNotBeginAnew }

    func execute(_ console: Console) throws {
        let name = try login.resolved(in: database, clock: console.clock)
        if wantsIDToken {
            let report = try database.tokensBackend(clock: console.clock, refresh: freshness.refresh).idToken(
                of: name, skew: freshness.skew)
            if output.json { try console.writeJSON(report) } else { try console.writeLine(report.idToken) }
            return
        }
        let token = try database.tokensBackend(clock: console.clock, refresh: freshness.refresh)
            .accessToken(of: name, resource: resource, skew: freshness.skew, for: nil)
        token.noteIfLast(of: name, console)
        if output.json {
            try console.writeJSON(token)
        } else {
            try console.writeLine(token.accessToken)
        }
    }
}

struct TokenHeaderCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "header",
        abstract: "Print the Authorization header field with a valid access token.",
        discussion: """
            Use it with curl, which then has no token in its arguments:

                crumb token header work | curl -H @- https://api.example/me

            A token that is bound to a key (DPoP) needs a proof for each request: describe the request with --method and \
            --url. If the server sends a DPoP-Nonce field, pass it with --nonce.

                crumb token header work --url https://api.example/me | curl -H @- https://api.example/me
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var network: NetworkOptions
    @OptionGroup var freshness: FreshnessOptions

    @Option(help: "The method of the request, for a token that is bound to a key. Default: GET.")
    var method: String?

    @Option(help: "The URL of the request, for a token that is bound to a key.")
    var url: String?

    @Option(help: "The nonce that the server requires in the proof.")
    var nonce: String?

    @Option(help: "The URL of the resource that the token is for (RFC 8707).")
    var resource: String?

    @OptionGroup var login: LoginArgument

    func validate() throws {
        guard url != nil || (method == nil && nonce == nil) else {
            throw ValidationError("--method and --nonce describe a request: add --url.")
        }
    }

    var needsNetwork: Bool { database.mayNotBeginAnew }

    func execute(_ console: Console) throws {
        let name = try login.resolved(in: database, clock: console.clock)
        let request = try url.map {
            DPoPRequest(method: method ?? "GET", url: try requestURL($0), nonce: nonce)
        }
        let token = try database.tokensBackend(clock: console.clock, refresh: freshness.refresh)
            .accessToken(of: name, resource: resource, skew: freshness.skew, for: request)
        token.noteIfLast(of: name, console)
        if let resource, let request, let scope = try? URLScope(resource), !scope.contains(request.url) {
            console.error(
                "--url \(request.url) is outside of --resource \(resource), and this token is only for that "
                    + "resource; name the resource of the URL")
        }
        for field in try token.exposedFields(of: name) {
            if output.json {
                try console.writeJSON(["name": field.name, "value": field.value])
            } else {
                try console.writeLine("\(field.name): \(field.value)")
            }
        }
    }
}

/// How fresh an access token has to be.
struct FreshnessOptions: ParsableArguments {
    @Option(help: "Renew the token if it expires within this many seconds.")
    var skew = 60

    @OptionGroup var refresh: RefreshOptions

    func validate() throws {
        guard (0...86_400).contains(skew) else { throw ValidationError("--skew: use 0 to 86400 seconds.") }
    }
}

extension StoredToken {
    /// The access token as text, which is no longer protected.
    var exposedAccessToken: String {
        get throws { try profile.exposedText(of: tokens) }
    }
}

extension Profile {
    /// The access token of the profile as text, which is no longer protected.
    func exposedText(of tokens: TokenSet) throws -> String {
        guard let token = tokens.accessToken.exposedText else {
            throw CommandFailure(.valueDamaged, "\(name): the stored token is not text")
        }
        return token
    }
}

/// The tokens of a database, and the means to get them from servers.
struct TokenAccess: Sendable {
    let store: TokenStore
    let clock: CommandClock

    /// The tokens of the database where there is one; makes nothing.
    ///
    /// - Throws: An error if there is no token called `name`.
    init(_ options: some DatabaseChoice, for name: String, clock: @escaping CommandClock) throws {
        // A rotated refresh token must outlive a power failure: the server has ended the one before.
        guard let database = try options.openExisting(now: clock(), durability: .full) else {
            throw CommandFailure.noToken(named: name)
        }
        self.init(database.tokens, clock: clock)
    }

    init(_ store: TokenStore, clock: @escaping CommandClock) {
        self.store = store
        self.clock = clock
    }

    /// Returns a refresher of the tokens. It needs the network, so `crumb` is replaced before a lease is taken.
    ///
    /// - Parameter timeout: how many seconds the server has to respond; `nil` for the value of the environment or the
    ///   default.
    func refresher(skew: Int = 60, timeout: Int? = nil) throws -> TokenRefresher {
        let timeout = try RefreshOptions.seconds(timeout)
        let network = try Network.required()
        return TokenRefresher(
            store: store, transport: network.endpoints, checkingIDTokens: network.checkIDToken,
            process: ProcessInfo.processInfo.processIdentifier,
            timing: TokenRefresher.Timing(skew: .seconds(skew), answer: .seconds(timeout)),
            shield: { try await SignalDeferral.run($0) }, now: clock)
    }

    /// Returns the tokens of a profile, refreshed if they are due. Only a refresh needs the network.
    ///
    /// - Parameter resource: The resource that the access token is for; `nil` for the login's own.
    func token(
        _ name: String, for resource: String? = nil, skew: Int = 60, timeout: Int? = nil
    ) throws -> StoredToken {
        let stored = try store.get(name, for: resource)
        switch stored.tokens.validity(at: clock(), skew: .seconds(skew)) {
        case .valid, .unknown: return stored
        case .due, .expired: break
        }
        let refresher = try refresher(skew: skew, timeout: timeout)
        return try Blocking.run { try await refresher.token(name, for: resource) }
    }

    /// The profile and how its server is asked, for a command that needs an endpoint.
    func connection(_ name: String) throws -> TokenConnection {
        let stored = try store.get(name)
        guard let credentials = try store.credentials(name) else {
            throw OperationError(noEndpointsOf: name)
        }
        var generator = SystemRandomNumberGenerator()
        return TokenConnection(
            stored: stored, credentials: credentials,
            authentication: try credentials.authentication(
                of: stored.profile.id, now: clock(), using: &generator),
            transport: try credentials.binding(try Network.required().endpoints) { clock() })
    }
}

/// A profile and how its server is asked.
struct TokenConnection: Sendable {
    let stored: StoredToken
    let credentials: ProfileCredentials
    let authentication: ClientAuthentication
    let transport: any EndpointTransport
}
