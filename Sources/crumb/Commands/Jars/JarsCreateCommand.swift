import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct JarsCreateCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a jar, with settings of its own if you like.",
        discussion: "'crumb import --jar NAME' creates one too, with default settings.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var settings: JarSettingsOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the jar.")
    var name: String

    func execute(_ console: Console) throws {
        let report = try database.keptJars(now: .now).create(named: name, settings: try settings.newSettings())
        if output.json {
            try console.writeJSON(report)
        } else {
            console.note("made jar '\(name)'; 'crumb import --jar' fills it")
        }
    }
}
