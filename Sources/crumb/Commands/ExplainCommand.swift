import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct ExplainCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Why am I logged out? Say of every cookie of a site whether a URL gets it, why not, and what to do.",
        discussion: """
            In question are the cookies of the URL's registrable domain: of example.com for www.example.com. Values are \
            never shown, and nothing is changed.

            With --set-cookie, says instead what would become of Set-Cookie lines that the URL answers with. They are \
            read from a file, or from standard input for '-', since others can see a command line: one on each line, \
            with or without 'Set-Cookie:'; where one has it, lines without are passed over, so that a response as \
            'curl -i' prints it will do.

                curl -si https://example.com/ | crumb explain https://example.com/ --set-cookie -
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Explain what a script of that page sees, or may set, instead.")
    var script = false

    @Option(
        help: ArgumentHelp(
            "Explain what would become of the Set-Cookie lines in a file; '-' is standard input.", valueName: "file"))
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
