import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct JarsSettingsCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show or change the settings of a jar.",
        discussion: """
            Changes only the settings that you give. Cookies over a new limit are evicted, and listed, when the next \
            cookie arrives.
            """,
        aliases: ["show"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var changes: JarSettingsOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the jar.")
    var name: String

    func execute(_ console: Console) throws {
        let jars = try database.keptJars(now: .now)
        let report =
            try changes.isEmpty ? jars.settings(ofJar: name) : jars.changeSettings(ofJar: name, changes)
        if output.json { try console.writeJSON(report) } else { try console.writeLine(report.text) }
    }
}
