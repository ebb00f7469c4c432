import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct SessionSaveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Save the cookies of a jar under a name.",
        discussion: "Replaces the session that was saved under the same name, and reports it.")

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the saved session.")
    var name: String

    func execute(_ console: Console) throws {
        let save = try jar.kept(now: .now).saveSession(named: name)
        if output.json {
            try console.writeJSON(save)
        } else {
            let previous = save.replaced.map {
                "; the session of this name from \($0.saved) with \(counted($0.cookies, "cookie")) is replaced"
            }
            console.note(
                "saved \(counted(save.session.cookies, "cookie")) of jar '\(jar.jar)' as '\(name)'\(previous ?? "")"
            )
        }
    }
}
