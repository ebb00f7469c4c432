import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct JarsClearCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Remove every cookie of a jar; its settings and saved sessions stay.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The jar's name.")
    var name: String

    func execute(_ console: Console) throws {
        let removed = try database.openForJar(named: name, now: .now).clearJar(named: name, now: .now)
        if output.json {
            try console.writeJSON(JarClearReport(jar: name, removed: removed))
        } else {
            console.note("removed \(counted(removed, "cookie")) from jar '\(name)'")
        }
    }
}
