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
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var changes: JarSettingsOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The jar's name.")
    var name: String

    func execute(_ console: Console) throws {
        let database = try database.openForJar(named: name, now: .now)
        let settings =
            try changes.isEmpty
            ? database.settings(ofJar: name) : database.changeSettings(ofJar: name, try changes.change())
        let report = JarSettingsReport(name: name, settings)
        if output.json { try console.writeJSON(report) } else { try console.writeLine(report.text) }
    }
}
