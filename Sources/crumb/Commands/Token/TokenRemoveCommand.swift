import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct TokenRemoveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a login here; the server does not hear of it.",
        aliases: ["rm", "delete"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the login.")
    var name: String

    func execute(_ console: Console) throws {
        guard try database.keptTokens(now: .now).remove(name) else {
            throw Problem(advising: .tokenNotFound, "\(name): there is no token of this name")
        }
        if output.json { try console.writeJSON(["removed": name]) } else { console.note("removed \(name)") }
    }
}
