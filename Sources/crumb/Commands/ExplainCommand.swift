import ArgumentParser
import CookieModel
import PublicSuffix
import SessionStore

struct ExplainCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say of every cookie in question whether a URL gets it, and why not.",
        discussion: "In question are the cookies of the URL's registrable domain: of example.com for www.example.com.")

    @OptionGroup var jar: JarOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Explain what a script of that page sees instead.")
    var script = false

    @Argument(help: "The URL of the request.")
    var url: String

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        let context = try context.context(for: try requestURL(url), interface: script ? .script : .http)
        let retrieval = try jar.openExistingJar(now: now)?.retrieve(for: context, now: now)
        if output.json {
            try console.writeJSON(ExplanationReport(url: context.url.description, retrieval: retrieval))
            return
        }
        guard let retrieval, !retrieval.included.isEmpty || !retrieval.excluded.isEmpty else {
            let site = String(decoding: context.url.host.registrableDomain(.bundled), as: UTF8.self)
            console.note("jar '\(jar.jar)' has no cookie of \(site): log in there and import the capture")
            return
        }
        var lines: [String] = []
        for cookie in retrieval.included {
            lines.append("sent      \(cookie.label)")
        }
        for exclusion in retrieval.excluded {
            lines.append("not sent  \(exclusion.cookie.label)")
            for reason in exclusion.reasons.reasons {
                lines.append("          - \(reason.explanation) (\(reason.identifier))")
            }
        }
        lines.append("\(retrieval.included.count) sent, \(retrieval.excluded.count) not sent to \(context.url)")
        try console.writeLine(lines.joined(separator: "\n"))
    }
}
