import ArgumentParser
import SessionClient
import SessionOperations

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Store OAuth2 logins, and renew their tokens.",
        subcommands: [
            TokenLoginCommand.self, TokenGetCommand.self, TokenHeaderCommand.self, TokenListCommand.self,
            TokenStatusCommand.self, TokenRefreshCommand.self, TokenRevokeCommand.self, TokenLogoutCommand.self,
            TokenIntrospectCommand.self, TokenImportCommand.self, TokenExportCommand.self, TokenExecCommand.self,
            TokenHelperCommand.self,
            TokenSetupCommand.self, TokenSwitchCommand.self, TokenRemoveCommand.self, TokenFallbackCommand.self,
            TokenAgentCommand.self,
        ])
}

struct TokenListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the stored logins. Never shows tokens.", aliases: ["ls"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let list = try database.place(now: console.now).tokens()
        for problem in list.problems ?? [] { console.error(problem) }
        try console.writeTable(
            ["NAME", "STATE", "EXPIRES", "REFRESH", "ISSUER", "ACCOUNT"], of: list.tokens, none: "no tokens"
        ) { report in
            [
                shown(report.name), report.state, report.expires ?? "unknown", report.hasRefreshToken ? "yes" : "no",
                report.issuer.isEmpty ? "-" : shown(report.issuer),
                report.account.isEmpty ? "-" : shown(report.account),
            ]
        }
        if list.unreadable > 0 { throw FailureKind.valueDamaged.exitCode }
    }
}

struct TokenStatusCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show a login and where it is stored. Never shows tokens.", aliases: ["show"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @OptionGroup var login: LoginArgument

    func execute(_ console: Console) throws {
        let name = try login.resolved(for: "status NAME", in: database, clock: console.clock)
        let status = try database.place(now: console.now).tokenStatus(of: name)
        try console.report(status) {
            try console.writeLines(status.lines)
        }
    }
}

struct TokenRefreshCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", abstract: "Renew the tokens now, whether or not they are due.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var refresh: RefreshOptions
    @OptionGroup var network: NetworkOptions

    @OptionGroup var login: LoginArgument

    var needsNetwork: Bool { true }

    func execute(_ console: Console) throws {
        let name = try login.resolved(for: "refresh NAME", in: database, clock: console.clock)
        let report = try TokenPlace(database, refresh: refresh, clock: console.clock).perform(
            .refreshToken(name), by: .refreshToken)
        if let problem = report.idTokenProblem {
            console.error("\(name): the tokens were renewed, except the ID token: \(problem)")
        }
        try console.report(report, note: "refreshed \(report.text)")
    }
}

/// How a refresh waits for the server.
struct RefreshOptions: ParsableArguments {
    /// The default timeout of a refresh, in seconds.
    static let defaultTimeout = 120
    /// How many seconds can be said.
    static let timeouts = 1...3600

    @Option(
        parsing: .unconditional,
        help: .value(
            "seconds",
            "How many seconds to wait for the response to a renewal. A later response is lost, and with many "
                + "servers so is the login. Default: CRUMB_REFRESH_TIMEOUT_SECONDS, else 120."))
    var refreshTimeout: Int?

    /// Returns how many seconds the server has to respond.
    func seconds() throws -> Int { try refreshTimeout ?? RefreshOptions.usual() }

    /// The seconds of a command without this option: those of the environment, or the default.
    static func usual() throws -> Int { try Locations().refreshTimeout ?? defaultTimeout }

    func validate() throws {
        guard refreshTimeout.map(RefreshOptions.timeouts.contains) ?? true else {
            throw ValidationError("--refresh-timeout: use 1 to 3600 seconds.")
        }
    }
}

struct TokenRemoveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a login here, without telling the server.", aliases: ["rm", "delete"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the login.", completion: NameCompletion.logins)
    var name: String

    func execute(_ console: Console) throws {
        let place = try database.place(now: console.now)
        guard try ifFound(.tokenNotFound, { try place.answer(to: .removeToken(name), by: .removeToken) }) != nil else {
            throw CommandFailure(advising: .tokenNotFound, "\(name): there is no token with this name")
        }
        try console.report(["removed": name], note: "removed \(name)")
    }
}

struct TokenRevokeCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke the tokens at the server. The settings of the login stay.",
        discussion: "To log in again, run 'crumb token login NAME' without options.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var network: NetworkOptions

    @Argument(help: "The name of the login.", completion: NameCompletion.logins)
    var name: String

    var needsNetwork: Bool { true }

    func execute(_ console: Console) throws {
        let report = try TokenPlace(database, clock: console.clock).perform(.revokeToken(name), by: .revokeToken)
        try console.report(report, note: "revoked \(name)")
    }
}

struct TokenLogoutCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Revoke the tokens at the server and remove the login here.",
        discussion: """
            If the server cannot be reached, or another process keeps renewing the tokens, nothing is removed, so you can \
            try again; --force removes the login anyway. \
            If the server cannot revoke tokens, the login is removed with a warning.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var network: NetworkOptions

    @Flag(help: "Remove the login even if the server cannot revoke its tokens.")
    var force = false

    @Argument(help: "The name of the login.", completion: NameCompletion.logins)
    var name: String

    var needsNetwork: Bool { true }

    func execute(_ console: Console) throws {
        let report = try loggedOut(console)
        if let problem = report.problem { console.note("note: \(problem)") }
        try console.report(report, note: "logged out: \(name)")
    }

    private func loggedOut(_ console: Console) throws -> RevocationReport {
        do {
            return try TokenPlace(database, clock: console.clock).perform(
                .logOut(name, LogoutDocument(force: force)), by: .logOut)
        } catch {
            guard let problem = CommandFailure(of: error) else { throw error }
            let reason: String
            switch problem.failure {
            case .serverRefused, .serverUnavailable, .replyUnusable:
                reason = "since the server did not revoke the tokens: \(problem.message) Try again"
            case .tokenRefreshBusy: reason = "since another process keeps renewing its tokens; stop it, and try again"
            default: throw error
            }
            throw CommandFailure(
                problem.failure, "\(name): the login was not removed, \(reason), or remove it with --force")
        }
    }
}
