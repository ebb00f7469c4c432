import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct SessionEndCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "end", abstract: "Remove the session cookies of a jar, as a browser does when it quits.")

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let end = try jar.kept(now: .now).endSession()
        if output.json {
            try console.writeJSON(end)
        } else {
            console.note(
                "ended the session of jar '\(jar.jar)': \(counted(end.removed, "session cookie")) removed, "
                    + "\(end.kept) with a lifetime of their own kept")
        }
    }
}
