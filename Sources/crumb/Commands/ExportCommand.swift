import ArgumentParser
import Captures
import CookieModel
import SessionOperations
import SessionStore

struct ExportCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the cookies of a jar as another tool reads them.",
        discussion: """
            What the format cannot hold is said on standard error: properties that are lost, and cookies that are left \
            out, with exit status 6. 'json' loses nothing. A file appears whole or not at all, readable by you alone.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup(title: "Which cookies") var filter: CookieFilterOptions
    @OptionGroup(title: "Where to") var export: ExportOptions
    @OptionGroup var output: OutputOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The format to write: \(exportFormatNames).", valueName: "format"), transform: exportFormat)
    var format: ExportFormat

    @Option(help: "Only the cookies of a request to this URL; some formats are for one URL and need it.")
    var url: String?

    func execute(_ console: Console) throws {
        let request = try filter.request(to: url, for: format)
        let selection = try filter.selection()
        let report = try jar.kept(now: .now).export(
            ExportOrder(format: format, request: request, selection: selection)
        ) { try export.destination(sparing: try ownFiles(), console) }
        try report.tell(console, json: output.json)
    }

    /// The files of the database, which are no destination; those of a service are not here.
    private func ownFiles() throws -> [String] {
        guard try jar.databaseOptions.service() == nil else { return [] }
        let database = try jar.path()
        return [database, "\(database)-wal", "\(database)-shm", try KeyLocation().locations.keyFile()]
    }
}
