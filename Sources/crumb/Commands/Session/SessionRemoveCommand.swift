import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct SessionRemoveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget a saved session; the jar's cookies stay as they are.")

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name that the session was saved under.")
    var name: String

    func execute(_ console: Console) throws {
        guard let jar = try jar.openExistingJar(now: .now) else {
            throw Problem(.sessionNotFound, "\(name): nothing was saved yet; 'crumb session save' does it")
        }
        let session = try jar.removeSavedSession(named: name)
        if output.json {
            try console.writeJSON(SavedSessionReport(session))
        } else {
            console.note("forgot '\(name)' of jar '\(jar.name)' with \(counted(session.cookieCount, "cookie"))")
        }
    }
}
