import ArgumentParser
import CookieModel
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
        let name = try login.resolved(for: "get NAME", in: database, clock: console.clock)
        if wantsIDToken {
            let report = try freshness.tokens(database, console).idToken(of: name, skew: freshness.skew)
            try console.report(report, line: report.idToken)
            return
        }
        let token = try freshness.tokens(database, console).accessToken(
            of: name, AccessTokenDocument(skew: freshness.skew, resource: resource))
        token.noteIfLast(of: name, console)
        try console.report(token, line: token.accessToken)
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
        try ContextOptions.check(method: method)
    }

    var needsNetwork: Bool { database.mayNotBeginAnew }

    func execute(_ console: Console) throws {
        let name = try login.resolved(for: "header NAME", in: database, clock: console.clock)
        let url = try url.map(requestURL)
        let token = try freshness.tokens(database, console).accessToken(
            of: name,
            AccessTokenDocument(
                skew: freshness.skew, method: method, url: url?.description, nonce: nonce, resource: resource))
        token.noteIfLast(of: name, console)
        if let resource, let url, let scope = try? URLScope(resource), !scope.contains(url) {
            console.error(
                "--url \(url) is outside of --resource \(resource), and this token is only for that "
                    + "resource; name the resource of the URL")
        }
        for field in try token.exposedFields(of: name) {
            try console.report(["name": field.name, "value": field.value], line: "\(field.name): \(field.value)")
        }
    }
}

/// How fresh an access token has to be.
struct FreshnessOptions: ParsableArguments {
    @Option(parsing: .unconditional, help: "Renew the token if it expires within this many seconds.")
    var skew = 60

    @OptionGroup var refresh: RefreshOptions

    /// Where the tokens come from.
    func tokens(_ database: DatabaseOptions, _ console: Console) throws -> TokenPlace {
        try TokenPlace(database, refresh: refresh, clock: console.clock)
    }

    func validate() throws {
        guard (0...86_400).contains(skew) else { throw ValidationError("--skew: use 0 to 86400 seconds.") }
    }
}
