import ArgumentParser
import Captures
import CookieModel
import SessionOperations

struct ConvertCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Convert captures to another tool's format, without a database.",
        discussion: """
            Reads what 'crumb import' reads and writes what 'crumb export' writes. Applies the cookie rules to responses; \
            takes cookies from another tool's store as they are. Reports on standard error what it read and what the \
            format dropped.
            """)

    @OptionGroup(title: "Which cookies") var filter: CookieFilterOptions
    @OptionGroup(title: "Where to") var export: ExportOptions
    @OptionGroup var suffixListOptions: SuffixListOptions
    @OptionGroup var output: OutputOptions

    @Option(
        help: ArgumentHelp(
            "The format of the captures: \(captureFormatNames). Default: detected from the content.",
            valueName: "format"),
        transform: captureFormat)
    var from: CaptureFormat?

    @Option(
        name: .customLong("to"),
        help: ArgumentHelp("The format to write: \(exportFormatNames).", valueName: "format"), transform: exportFormat)
    var format: ExportFormat

    @OptionGroup var database: BrowserDatabaseOptions

    @Option(help: "The URL of the first request in a capture that does not tell it.")
    var url: String?

    @Option(help: "Only the cookies that a request to this URL carries. Default for formats for one URL: --url.")
    var forURL: String?

    @Flag(help: "Count lifetimes from now, not from the time of the capture.")
    var receivedNow = false

    @Argument(help: "The captures; '-' is standard input.")
    var files: [String]

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        if let url { _ = try requestURL(url) }
        let request = try filter.request(to: forURL ?? (format.scope == .anySite ? nil : url), for: format)
        let selection = try filter.selection()
        var policy = CookiePolicy()
        policy.publicSuffixes = try suffixListOptions.list()
        let destination = try export.destination(sparing: [], console)
        var converter = CaptureConverter(
            format: from, url: url, receivedNow: receivedNow, database: try database.options(), policy: policy,
            now: now, showsProgress: !output.json && !output.quiet && ImportProgress.hasTerminal)
        Interruption.listen()
        var status: ExitStatus?
        for file in files {
            if Interruption.isRequested {
                console.complain("\(file): not read, since it was stopped before")
                continue
            }
            let report = try converter.read(InputFile(file))
            let failure = try tell(report, toTalk: destination.file == nil, console)
            status = status ?? failure
        }
        // Of captures that cannot be read there is nothing to write: a file that was there stays.
        if let status, converter.collection.isEmpty { throw status.exitCode }
        var exporter = FileExporter(format, to: destination, host: request?.url.host, now: now)
        try forEachCookie(of: converter.collection, for: request, now: now, console) { record in
            if selection.admits(record) { try exporter.write(record) }
        }
        try exporter.finish().tell(console, json: output.json)
        if let status { throw status.exitCode }
    }

    private func forEachCookie(
        of collection: CookieCollection, for request: RequestContext?, now: Timestamp, _ console: Console,
        _ body: (CookieRecord) throws -> Void
    ) throws {
        guard let request else { return try collection.forEach(body) }
        guard format.scope != .oneHost else {
            return try collection.forEach { if $0.belongs(to: request.url.host) { try body($0) } }
        }
        let cookies = collection.cookies(for: request, now: now) { record, decision in
            let reasons = decision.reasons.reasons.map { "\($0.explanation) (\($0.identifier))" }
            console.complain("refused \(record.label): \(reasons.joined(separator: "; "))")
        }
        try cookies.forEach(body)
    }

    /// Says what was read; the status of the first failure.
    private func tell(_ report: ImportReport, toTalk: Bool, _ console: Console) throws -> ExitStatus? {
        if output.json {
            try console.writeJSON(report, toTalk: toTalk)
        } else if report.responses > 0 || report.lines > 0 || report.failures.isEmpty {
            console.note(report.text)
        }
        for note in report.notes { console.note("note: \(note.message)") }
        var status: ExitStatus?
        for failure in report.failures {
            let hint = failure.code == ExitStatus.urlMissing.code ? " Use --url." : ""
            console.complain("\(failure.message)\(hint)")
            status = status ?? ExitStatus(code: failure.code)
        }
        return status
    }
}
