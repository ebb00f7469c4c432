import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct SessionRemoveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a saved session. The cookies of the jar stay as they are.",
        aliases: ["rm", "delete"])

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the saved session.")
    var name: String

    func execute(_ console: Console) throws {
        let session = try jar.kept(now: .now).removeSavedSession(named: name)
        if output.json {
            try console.writeJSON(session)
        } else {
            console.note("forgot '\(name)' of jar '\(jar.jar)' with \(counted(session.cookies, "cookie"))")
        }
    }
}
