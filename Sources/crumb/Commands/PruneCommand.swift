import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct PruneCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove expired cookies and old entries of the journal, and give the room back.",
        discussion: """
            Expired cookies are sent nowhere, pruned or not. They are removed once the clock has gone on for a day, so \
            that one that jumps ahead and back loses none. Saved sessions stay as they are. The file is written anew \
            where at least a quarter of it, and a megabyte, is free; the write-ahead log is emptied.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(name: .shortAndLong, help: "The only jar to remove cookies from. Default: all of them.")
    var jar: String?

    @Option(help: "How many entries of the journal stay.")
    var journalEntries = SessionDatabase.journalLimit

    @Flag(
        inversion: .prefixedNo, help: "Write the file anew without its free pages. Default: where that is worthwhile.")
    var vacuum: Bool?

    func validate() throws {
        if journalEntries < 0 { throw ValidationError("'--journal-entries' cannot be negative") }
    }

    func execute(_ console: Console) throws {
        let report = try database.keptJars(now: .now)
            .prune(jarNamed: jar, journalEntries: journalEntries, vacuum: vacuum)
        if output.json { try console.writeJSON(report) } else { try console.writeLine(report.text) }
    }
}
