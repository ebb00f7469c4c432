import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct SessionSaveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Save the cookies of a jar under a name.",
        discussion: "What was saved under the same name before is replaced, and that is said.")

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name to save them under.")
    var name: String

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        let jar = try jar.openExistingJar(now: now) ?? jar.openJar(now: now)
        let save = try jar.saveSession(named: name, now: now)
        if output.json {
            try console.writeJSON(SessionSaveReport(jar: jar.name, save))
        } else {
            let previous = save.previous.map {
                "; the session of this name from \($0.creation.rfc3339) with "
                    + "\(counted($0.cookieCount, "cookie")) is replaced"
            }
            console.note(
                "saved \(counted(save.session.cookieCount, "cookie")) of jar '\(jar.name)' as '\(name)'\(previous ?? "")"
            )
        }
    }
}
