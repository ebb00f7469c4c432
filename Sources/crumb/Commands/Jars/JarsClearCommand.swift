import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct JarsClearCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Remove every cookie and localStorage item of a jar. Its settings and saved sessions stay.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the jar.")
    var name: String

    func execute(_ console: Console) throws {
        let report = try database.keptJars(now: .now).clear(jarNamed: name)
        if output.json {
            try console.writeJSON(report)
        } else {
            let items =
                report.storageItems == 0 ? "" : " and \(counted(report.storageItems, "localStorage item"))"
            console.note("removed \(counted(report.removed, "cookie"))\(items) from jar '\(name)'")
        }
    }
}
