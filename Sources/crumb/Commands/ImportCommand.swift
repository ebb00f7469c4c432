import ArgumentParser
import CookieModel

struct ImportCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take the cookies of captures into a jar.",
        discussion: """
            Reads HAR, raw HTTP responses (curl -i, curl --dump-header) and Netscape cookies.txt, told apart by \
            content. What can be read of a broken file is stored; the exit status then \
            tells what was wrong with the first one. A capture that the jar has been given before changes nothing.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "The URL that a raw dump's first response answered.")
    var url: String?

    @Flag(help: "Count lifetimes from now, not from when the capture was made.")
    var receivedNow = false

    @Flag(help: "Import a capture that was imported before again.")
    var again = false

    @Argument(help: "The captures; '-' is standard input.")
    var files: [String]

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        if let url { _ = try requestURL(url) }
        let importer = CaptureImporter(
            jar: try jar.openJar(now: now), url: url, receivedNow: receivedNow, again: again, now: now)
        var status: ExitStatus?
        for file in files {
            let report = try importer.importFile(InputFile(file))
            if output.json {
                try console.writeJSON(report)
            } else if report.responses > 0 || report.lines > 0 || report.failures.isEmpty {
                try console.writeLine(report.text)
            }
            for failure in report.failures {
                let hint = failure.code == ExitStatus.urlMissing.code ? " Use --url." : ""
                console.complain("\(failure.message)\(hint)")
                status = status ?? ExitStatus(code: failure.code)
            }
        }
        if let status { throw status.exitCode }
    }
}
