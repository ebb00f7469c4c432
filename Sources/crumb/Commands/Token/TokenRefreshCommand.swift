import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct TokenRefreshCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", abstract: "Renew the tokens now, whether or not they are due.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var refresh: RefreshOptions
    @OptionGroup var network: NetworkOptions

    @OptionGroup var login: LoginArgument

    func execute(_ console: Console) throws {
        let name = try login.resolved(in: database)
        let report = try database.keptTokens(now: .now, refresh: refresh).refresh(name)
        if let problem = report.idTokenProblem {
            console.complain("\(name): the tokens were renewed, but for the ID token: \(problem)")
        }
        if output.json { try console.writeJSON(report) } else { console.note("refreshed \(report.text)") }
    }
}

/// How a refresh waits for the server.
struct RefreshOptions: ParsableArguments {
    /// The default timeout of a refresh, in seconds.
    static let defaultTimeout = 120
    /// How many seconds can be said.
    static let timeouts = 1...3600

    @Option(
        help: ArgumentHelp(
            "How many seconds the server has to answer a renewal: one that comes later is lost, and with it, at many servers, "
                + "the login. Default: CRUMB_REFRESH_TIMEOUT_SECONDS, else 120.",
            valueName: "seconds"))
    var refreshTimeout: Int?

    /// How many seconds the server has.
    ///
    /// - Parameter said: What an option says; `nil` for what the environment or the default says.
    static func seconds(_ said: Int?) throws -> Int {
        try said ?? Locations().refreshTimeout ?? defaultTimeout
    }

    func validate() throws {
        guard refreshTimeout.map(RefreshOptions.timeouts.contains) ?? true else {
            throw ValidationError("--refresh-timeout: use 1 to 3600 seconds.")
        }
    }
}
