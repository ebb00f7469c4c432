import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct PruneCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove expired cookies and old journal entries, and free their space.",
        discussion: """
            Expired cookies are never sent, pruned or not. They are removed once the clock has gone on for a day, so a \
            clock that jumps ahead and back loses none. Saved sessions stay as they are. Rewrites the file if at least a \
            quarter of it, and a megabyte, is free, and empties the write-ahead log.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(name: .shortAndLong, help: "Remove cookies from this jar only. Default: all jars.")
    var jar: String?

    @Option(help: "Keep this many entries of the journal.")
    var journalEntries = SessionDatabase.journalLimit

    @Flag(
        inversion: .prefixedNo, help: "Rewrite the file without free pages. Default: if that frees enough space.")
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
