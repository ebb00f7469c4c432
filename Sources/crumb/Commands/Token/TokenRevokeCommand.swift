import ArgumentParser
import CookieModel
import OAuth2
import SessionOperations
import SessionStore

struct TokenRevokeCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "End the tokens at the server; what is known of the login stays.",
        discussion: "A later 'crumb token login NAME' needs no options.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name that the tokens are kept under.")
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
        abstract: "End the tokens at the server and forget them.",
        discussion: """
            Where the server cannot be reached, nothing is forgotten, so that it can be tried again; --force forgets all \
            the same. Where it has no way to end tokens, they are forgotten, and it is said.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Forget the tokens even where the server cannot end them.")
    var force = false

    @Argument(help: "The name that the tokens are kept under.")
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
