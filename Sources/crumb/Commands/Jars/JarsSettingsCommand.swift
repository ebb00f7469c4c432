import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct JarsSettingsCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show the settings of a jar, or change them.",
        discussion: """
            What is not given stays as it is. Cookies over a new limit go when the next one comes, and are named then.
            """,
        aliases: ["show"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var changes: JarSettingsOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The jar's name.")
    var name: String

    func execute(_ console: Console) throws {
        let jars = try database.keptJars(now: .now)
        let report =
            try changes.isEmpty ? jars.settings(ofJar: name) : jars.changeSettings(ofJar: name, changes)
        if output.json { try console.writeJSON(report) } else { try console.writeLine(report.text) }
    }
}
