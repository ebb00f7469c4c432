import ArgumentParser
import CookieModel
import SessionStore

struct JarsRenameCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Rename a jar. Its contents stay.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The current name of the jar.")
    var name: String

    @Argument(help: "The new name.")
    var newName: String

    func execute(_ console: Console) throws {
        try database.keptJars(now: .now).rename(jarNamed: name, to: newName)
        if output.json {
            try console.writeJSON(["from": name, "to": newName])
        } else {
            console.note("jar '\(name)' is now '\(newName)'")
        }
    }
}
