import ArgumentParser
import CookieModel
import OAuth2
import SessionOperations
import SessionStore

struct TokenRevokeCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke the tokens at the server. The settings of the login stay.",
        discussion: "To log in again, run 'crumb token login NAME' without options.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var network: NetworkOptions

    @Argument(help: "The name of the login.")
    var name: String

    func execute(_ console: Console) throws {
        let report = try database.keptTokens(now: .now).revoke(name)
        if output.json {
            try console.writeJSON(report)
        } else {
            console.note("revoked \(name)")
        }
    }
}

struct TokenLogoutCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Revoke the tokens at the server and remove the login here.",
        discussion: """
            If the server cannot be reached, nothing is removed, so you can try again; --force removes the login anyway. \
            If the server cannot revoke tokens, the login is removed, and a message says so.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var network: NetworkOptions

    @Flag(help: "Remove the login even if the server cannot revoke its tokens.")
    var force = false

    @Argument(help: "The name of the login.")
    var name: String

    func execute(_ console: Console) throws {
        let report = try database.keptTokens(now: .now).logOut(name, force: force)
        if let problem = report.problem { console.complain(problem) }
        if output.json {
            try console.writeJSON(report)
        } else {
            console.note("logged out: \(name)")
        }
    }
}
