import ArgumentParser
import BrowserCookies
import Captures
import Platform
import SessionOperations

struct ImportCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import cookies from captures, cookie files and browsers into a jar.",
        discussion: """
            Reads HAR, net-logs, WARC, raw HTTP responses, traces of curl and wget, cookie files, cookie lists of \
            browsers and tools, and browsers' databases. Detects the format from the content; docs/importing.md lists \
            the formats. Stores the readable part of a broken file; the exit status then reports the first problem. A \
            capture that the jar has imported before changes nothing.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "The URL of the first request, for a capture that does not contain it.")
    var url: String?

    @Option(help: "The page in the address bar, for requests whose capture does not contain it.")
    var topLevel: String?

    @Option(
        help: .value("name", "The format of the captures. Default: detected from the content."),
        completion: .list(CaptureFormat.allCases.map(\.rawValue)), transform: captureFormat)
    var format: CaptureFormat?

    @Option(
        help: .value(
            "name",
            "Read the cookies of a browser on this computer, even while it runs: \(browserNames). "
                + "A profile may follow: 'chrome:Profile 1'."))
    var browser: BrowserChoice?

    @Option(
        name: [.customLong("profile"), .customLong("browser-profile")],
        help: .value("name", "The browser's profile, by its name or folder."))
    var profile: String?

    @OptionGroup var database: BrowserDatabaseOptions

    @Flag(help: "Count lifetimes from now, not from the time of the capture.")
    var receivedNow = false

    @Flag(help: "Also import the cookies that requests sent, for a capture that began after the login.")
    var requestCookies = false

    @Flag(help: "Import a capture again that was imported before.")
    var again = false

    @Flag(help: "Report what would be imported, and store nothing.")
    var dryRun = false

    @Option(help: .file("The TLS key log (SSLKEYLOGFILE) of packet captures, unless they contain their keys."))
    var tlsKeys: String?

    @Argument(help: "The captures; '-' is standard input.")
    var files: [String] = []

    func validate() throws {
        if files.isEmpty, browser == nil {
            throw ValidationError("Name a capture file, '-' for standard input, or use `--browser firefox`.")
        }
        if profile != nil, browser == nil { throw ValidationError("--profile needs --browser.") }
        if profile != nil, browser?.profile != nil {
            throw ValidationError("Name the profile once: after the browser, or with --profile.")
        }
        if browser != nil, format != nil { throw ValidationError("--browser and --format exclude each other.") }
    }

    func execute(_ console: Console) throws {
        for url in [url, topLevel].compactMap(\.self) { _ = try requestURL(url) }
        let own = try browser.map { choice in
            let profiles = BrowserProfiles(of: choice.browser, environment: ProcessEnvironment.variables)
            return (profiles, try profiles.profile(named: profile ?? choice.profile), choice.browser)
        }
        let kept = try jar.backend(now: console.now, browserOptions: database, console: console)
        let importer = try kept.importer(
            CaptureImport(
                url: url, topLevel: topLevel, receivedNow: receivedNow, takesRequestCookies: requestCookies,
                format: format, again: again, isDryRun: dryRun),
            showsProgress: !output.json && !output.quiet && ImportProgress.hasTerminal,
            keyring: browser.map { DesktopKeyring(browser: $0.browser, console: console) })
        Interruption.listen()
        if let warning = PacketCapture.exposure(ofKeys: tlsKeys) { console.note(warning) }
        var outcome = Outcome()
        for file in files { try importFile(file, importer, console, &outcome) }
        if let (profiles, profile, browser) = own {
            let others = profiles.all.filter { $0.folder != profile.folder }
            if self.profile == nil, self.browser?.profile == nil, !others.isEmpty {
                let names = others.map(\.title).joined(separator: ", ")
                console.note("note: reading \(profile.title); choose another profile with --profile: \(names)")
            }
            if let database = profile.database(of: browser) {
                try importFile(database, importer, console, &outcome, isOwn: true)
            }
            if let session = profile.sessionStore(of: browser) {
                try importFile(session, importer, console, &outcome, isOwn: true, mayBeEmpty: true)
            }
            if let unwritten = profile.unwritten(by: browser) { console.note("note: \(unwritten)") }
        }
        if dryRun, !output.json { console.note("dry run: nothing was stored") }
        if let status = outcome.status { throw status.exitCode }
        // A browser saves a capture for each page, and few of these set cookies.
        if !outcome.hasImported { throw FailureKind.nothingImported.exitCode }
    }

    /// The sum of the reports so far.
    private struct Outcome {
        /// The status of the first failure.
        var status: FailureKind?
        /// Whether one of them had something to import.
        var hasImported = false
    }

    /// Imports one file.
    ///
    /// - Parameters:
    ///   - isOwn: whether it is a browser's own file.
    ///   - mayBeEmpty: whether it is no news that there is nothing in it.
    private func importFile(
        _ file: String, _ importer: (InputFile, Bool) throws -> ImportReport, _ console: Console,
        _ outcome: inout Outcome,
        isOwn: Bool = false, mayBeEmpty: Bool = false
    ) throws {
        if Interruption.isRequested {
            return console.error("\(file): not read, since the command was stopped")
        }
        let report = try importer(InputFile(capture: file, tlsKeys: tlsKeys), isOwn)
        if report.nothingImported == nil { outcome.hasImported = true } else if mayBeEmpty { return }
        let failure = try report.tell(console)
        outcome.status = outcome.status ?? failure
    }
}

private let browserNames = BrowserChoice.allValueStrings.joined(separator: ", ")
