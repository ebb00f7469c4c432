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
        let now = Timestamp.now
        let end = try jar.openExistingJar(now: now)?.endSession(now: now)
        if output.json {
            try console.writeJSON(SessionEndReport(jar: jar.jar, removed: end?.removed ?? 0, kept: end?.kept ?? 0))
        } else {
            console.note(
                "ended the session of jar '\(jar.jar)': \(counted(end?.removed ?? 0, "session cookie")) removed, "
                    + "\(end?.kept ?? 0) with a lifetime of their own kept")
        }
    }
}
