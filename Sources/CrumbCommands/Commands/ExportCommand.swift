import ArgumentParser
import Captures
import CookieModel
import SessionOperations

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
        ) {
            try ExportDestination(
                export.output, replaces: export.force, sparing: try jar.databaseOptions.ownFiles(), console: console)
        }
        try report.tell(console)
    }
}

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
        help: .value(
            "format",
            "The format of the captures: \(captureFormatNames). Default: detected from the content."),
        completion: .list(CaptureFormat.allCases.map(\.rawValue)), transform: captureFormat)
    var from: CaptureFormat?

    @Option(
        name: .customLong("to"),
        help: .value("format", "The format to write: \(exportFormatNames)."),
        completion: .list(ExportFormat.allCases.map(\.rawValue)), transform: exportFormat)
    var format: ExportFormat

    @OptionGroup var database: BrowserDatabaseOptions

    @Option(help: "The URL of the first request, for a capture that does not contain it.")
    var url: String?

    @Option(help: "Only the cookies that a request to this URL carries. Default for formats for one URL: --url.")
    var forURL: String?

    @Flag(help: "Count lifetimes from now, not from the time of the capture.")
    var receivedNow = false

    @Flag(help: "Also convert the cookies that requests sent, for a capture that began after the login.")
    var requestCookies = false

    @Option(help: .file("The TLS key log (SSLKEYLOGFILE) of packet captures, unless they contain their keys."))
    var tlsKeys: String?

    @Argument(help: "The captures; '-' is standard input.")
    var files: [String]

    func execute(_ console: Console) throws {
        let now = console.now
        for url in [url, filter.context.topLevel].compactMap(\.self) { _ = try requestURL(url) }
        let request = try filter.request(
            to: forURL ?? (format.scope == .anySite ? nil : url), for: format, isAboutCaptures: true)
        let selection = try filter.selection()
        var policy = CookiePolicy()
        policy.publicSuffixes = try suffixListOptions.list()
        let destination = try ExportDestination(
            export.output, replaces: export.force, sparing: [], console: console)
        var converter = try CaptureConverter(
            options: CaptureImport(
                url: url, topLevel: filter.context.topLevel, receivedNow: receivedNow,
                takesRequestCookies: requestCookies, format: from),
            database: database, policy: policy, now: now,
            showsProgress: !output.json && !output.quiet && ImportProgress.hasTerminal)
        Interruption.listen()
        if let warning = PacketCapture.exposure(ofKeys: tlsKeys) { console.note(warning) }
        var status: FailureKind?
        for file in files {
            if Interruption.isRequested {
                console.error("\(file): not read, since the command was stopped")
                continue
            }
            let report = try converter.read(InputFile(capture: file, tlsKeys: tlsKeys))
            let failure = try report.tell(console, toStandardError: !output.json || destination.file == nil)
            status = status ?? failure
        }
        if status == nil, converter.collection.isEmpty { status = .nothingImported }
        // If the captures cannot be read, there is nothing to write, and an existing file is kept.
        if let status, converter.collection.isEmpty { throw status.exitCode }
        var exporter = FileExporter(format, to: destination, host: request?.url.host, now: now)
        try forEachCookie(of: converter.collection, for: request, now: now, console) { record in
            if selection.admits(record) { try exporter.write(record) }
        }
        for (origin, items) in converter.collection.storage where format.scope == .anySite {
            guard selection.admits(storageOf: origin), request.map({ $0.url.origin == origin }) ?? true else {
                continue
            }
            try exporter.write(
                format.holdsWebStorage
                    ? ExportedCookies.StoragePart(items: items) : ExportedCookies.StoragePart(leftOut: items.count))
        }
        try exporter.finish().tell(console)
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
        var refused = EntryErrors(console: console)
        let cookies = collection.cookies(for: request, now: now) { record, decision in
            let reasons = decision.reasons.reasons.map { "\($0.explanation) (\($0.identifier))" }
            refused.append("refused \(record.label): \(reasons.joined(separator: "; "))")
        }
        refused.finish()
        try cookies.forEach(body)
    }
}
