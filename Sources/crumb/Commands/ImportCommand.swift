import ArgumentParser
import BrowserCookies
import Captures
import CookieModel
import Foundation
import SessionOperations

struct ImportCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import cookies from captures, cookie files and browsers into a jar.",
        discussion: """
            Reads HAR, net-logs, WARC, raw HTTP responses, what curl and wget tell, cookie files, cookie lists of \
            browsers and tools, and browsers' databases, told apart by content; docs/importing.md lists them. What can be read of a broken file is stored; the exit status then \
            tells what was wrong with the first one. A capture that the jar has been given before changes nothing.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "The URL of the first request in a capture that does not tell it.")
    var url: String?

    @Option(
        help: ArgumentHelp("The format of the captures. Default: detected from the content.", valueName: "name"),
        transform: captureFormat)
    var format: CaptureFormat?

    @Option(help: "Read the cookies of a browser on this computer, even while it runs.")
    var browser: Browser?

    @Option(
        help: ArgumentHelp("The folder of the browser's profile. Default: its default profile.", valueName: "folder"))
    var browserProfile: String?

    @OptionGroup var database: BrowserDatabaseOptions

    @Flag(help: "Count lifetimes from now, not from the time of the capture.")
    var receivedNow = false

    @Flag(help: "Import a capture again that was imported before.")
    var again = false

    @Argument(help: "The captures; '-' is standard input.")
    var files: [String] = []

    func validate() throws {
        if files.isEmpty, browser == nil { throw ValidationError("Name a capture file, or use `--browser firefox`.") }
        if browserProfile != nil, browser == nil { throw ValidationError("--browser-profile needs --browser.") }
        if browser != nil, format != nil { throw ValidationError("--browser and --format exclude each other.") }
    }

    func execute(_ console: Console) throws {
        if let url { _ = try requestURL(url) }
        let importer = try jar.kept(now: .now, browserOptions: database).importer(
            ImportOrder(
                options: CaptureImport.Options(url: url, receivedNow: receivedNow, format: format), again: again,
                showsProgress: !output.json && !output.quiet && ImportProgress.hasTerminal))
        Interruption.listen()
        var status: ExitStatus?
        let environment = ProcessInfo.processInfo.environment
        let ownDatabase = try browser?.database(profile: browserProfile, environment: environment)
        for file in files + [ownDatabase].compactMap(\.self) {
            if Interruption.isRequested {
                console.complain("\(file): not read, since it was stopped before")
                continue
            }
            let report = try importer.importFile(InputFile(file))
            if output.json {
                try console.writeJSON(report)
            } else if report.responses > 0 || report.lines > 0 || report.failures.isEmpty {
                try console.writeLine(report.text)
            }
            for note in report.notes { console.note("note: \(note.message)") }
            for failure in report.failures {
                let hint = failure.code == ExitStatus.urlMissing.code ? " Use --url." : ""
                console.complain("\(failure.message)\(hint)")
                status = status ?? ExitStatus(code: failure.code)
            }
        }
        if let status { throw status.exitCode }
    }
}
