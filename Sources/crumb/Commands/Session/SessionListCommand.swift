import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct SessionListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the saved sessions of a jar.",
        aliases: ["show", "ls"])

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let sessions = try jar.kept(now: .now).savedSessions()
        if output.json {
            for session in sessions { try console.writeJSON(session) }
        } else if sessions.isEmpty {
            console.note("no saved sessions of jar '\(jar.jar)': 'crumb session save NAME' makes one")
        } else {
            let rows = sessions.map { [shown($0.name), $0.saved, "\($0.cookies)"] }
            try console.writeLine(Console.table([["NAME", "SAVED", "COOKIES"]] + rows))
        }
    }
}
