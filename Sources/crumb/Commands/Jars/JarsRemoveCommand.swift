import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct JarsRemoveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a jar with its cookies, settings and saved sessions.",
        aliases: ["rm", "delete"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the jar.")
    var name: String

    func execute(_ console: Console) throws {
        let removal = try database.keptJars(now: .now).remove(jarNamed: name)
        if output.json {
            try console.writeJSON(removal)
        } else {
            console.note(
                "removed jar '\(name)' with \(counted(removal.cookies, "cookie")) and "
                    + counted(removal.savedSessions, "saved session"))
        }
    }
}
