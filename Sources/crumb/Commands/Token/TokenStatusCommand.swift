import ArgumentParser
import CookieModel
import OAuth2
import SessionOperations
import SessionStore

struct TokenStatusCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show what is kept of a login, and where, but no token.",
        aliases: ["show"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name that the tokens are kept under.")
    var name: String

    func execute(_ console: Console) throws {
        let status = try database.keptTokens(now: .now).status(of: name)
        if output.json {
            try console.writeJSON(status)
        } else {
            for (label, value) in status.lines { try console.writeLine("\(label): \(shown(value))") }
        }
    }
}
