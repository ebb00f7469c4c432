import ArgumentParser
import Captures

struct ExportCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export the cookies of a jar to another tool's format.",
        discussion: """
            Reports on standard error every property that the format drops and every cookie that it cannot hold; the exit \
            status is 6 for the latter. 'json' drops nothing. The file appears whole or not at all, and only you can read it.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup(title: "Which cookies") var filter: CookieFilterOptions
    @OptionGroup(title: "Where to") var export: ExportOptions
    @OptionGroup var output: OutputOptions

    @Option(
        name: .shortAndLong,
        help: .value("format", "The format to write: \(exportFormatNames)."),
        completion: .list(ExportFormat.allCases.map(\.rawValue)), transform: exportFormat)
    var format: ExportFormat

    @Option(help: "Only the cookies that a request to this URL carries. Formats for one URL need it.")
    var url: String?

    func execute(_ console: Console) throws {
        let request = try filter.request(to: url, for: format)
        let selection = try filter.selection()
        let report = try jar.backend(now: console.now).export(
            ExportOrder(format: format, request: request, selection: selection)
        ) { try export.destination(sparing: try jar.databaseOptions.ownFiles(), console) }
        try report.tell(console)
    }
}
