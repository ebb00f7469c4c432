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
        let now = Timestamp.now
        let context = try context.context(for: try requestURL(url), interface: script ? .script : .http)
        let policy = try jar.policy()
        let lines = try setCookie.map { try SetCookieInput(InputFile($0)).lines }
        let database = try jar.openExistingDatabase(now: now, notesAccess: false)
        let existing = try database.flatMap { try jar.existingJar(in: $0, policy: policy) }
        if let lines {
            let stored = try existing?.cookies()
            let trial = SetCookieTrial(
                lines, context, jar: jar.jar, policy: existing?.policy ?? policy,
                cookies: (stored?.readable ?? []) + (stored?.unreadable ?? []), now: now)
            return output.json
                ? try console.writeJSON(SetCookieTrialReport(trial)) : try console.writeLine(trial.text)
        }
        var explanation = Explanation(context, jar: jar.jar, policy: existing?.policy ?? policy, now: now)
        if let existing { try explanation.add(existing) }
        if let database {
            let names = try database.jars(now: now).map(\.name).filter { $0 != jar.jar }
            try explanation.add(jars: names.compactMap { try database.existingJar(named: $0, policy: policy) })
        }
        if output.json {
            try console.writeJSON(ExplanationReport(explanation))
        } else {
            try console.writeLine(explanation.text)
        }
    }
}
