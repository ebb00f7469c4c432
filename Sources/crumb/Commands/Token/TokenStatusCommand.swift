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

    @OptionGroup var login: LoginArgument

    func execute(_ console: Console) throws {
        let name = try login.resolved(in: database)
        let status = try database.keptTokens(now: .now).status(of: name)
        if output.json {
            try console.writeJSON(status)
        } else {
            for (label, value) in status.lines { try console.writeLine("\(label): \(shown(value))") }
        }
    }
}
