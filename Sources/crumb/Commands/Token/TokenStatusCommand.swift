import ArgumentParser
import CookieModel
import OAuth2
import SessionOperations
import SessionStore

struct TokenStatusCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show a login and where it is stored. Never shows tokens.",
        aliases: ["show"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the login.")
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
