import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct ExplainCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain which cookies of a site a URL gets, why others stay behind, and what to do about it.",
        discussion: """
            Looks at the cookies of the URL's registrable domain: at those of example.com for www.example.com. Never shows \
            values and changes nothing.

            With --set-cookie, explains what would become of Set-Cookie lines that the URL answers with. The lines come \
            from a file, or from standard input for '-', since others can see a command line. Write one per line, with or \
            without 'Set-Cookie:'. If one line has it, lines without it are skipped, so the output of 'curl -i' works.

                curl -si https://example.com/ | crumb explain https://example.com/ --set-cookie -
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Explain what a script on that page can read or set.")
    var script = false

    @Option(
        help: ArgumentHelp(
            "Explain what would become of the Set-Cookie lines in this file; '-' is standard input.", valueName: "file")
    )
    var setCookie: String?

    @Argument(help: "The URL of the request.")
    var url: String

    func execute(_ console: Console) throws {
        let request = try context.context(for: try requestURL(url), interface: script ? .script : .http)
        let kept = try jar.kept(now: .now)
        if let setCookie {
            let report = try kept.trial(of: try SetCookieInput(InputFile(setCookie)).lines, from: request)
            return output.json
                ? try console.writeJSON(report) : try console.writeLine(report.text(for: request))
        }
        let report = try kept.explanation(of: request)
        if output.json {
            try console.writeJSON(report)
        } else {
            try console.writeLine(report.text(for: request))
        }
    }
}
