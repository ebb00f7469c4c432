import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct SessionRestoreCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore the cookies of a jar from a saved session.",
        discussion: """
            Removes cookies that arrived since then; save them under another name first to keep them. Lists cookies that \
            have expired since, and leaves them out.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the saved session.")
    var name: String

    func execute(_ console: Console) throws {
        let restoration = try jar.kept(now: .now).restoreSession(named: name)
        if output.json {
            try console.writeJSON(restoration)
            return
        }
        let expired = restoration.expired.isEmpty ? "" : ", \(restoration.expired.count) expired since"
        console.note(
            "restored '\(name)' in jar '\(jar.jar)': \(counted(restoration.cookies, "cookie")); "
                + "\(restoration.added) came back, \(restoration.changed) changed, \(restoration.removed) removed\(expired)"
        )
        for cookie in restoration.expired { console.note("  expired \(cookie.label)") }
    }
}
