import ArgumentParser
import CookieModel
import PackageStore
import RequestDecoration
import SessionOperations
import SessionStore

struct ExplainCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain why a URL gets some cookies of its site and not others, and how to fix that.",
        discussion: """
            Lists each cookie of the URL's registrable domain: of example.com for www.example.com. Also lists the \
            cookies that were deleted, expired, evicted, removed or replaced, when, and by which response, as far as \
            the journal reaches. Shows no values and changes nothing.

            With --set-cookie, explains instead what the jar would do with Set-Cookie lines in a response of the URL. \
            The lines come from a file, or from standard input for '-', since others can see a command line: one on \
            each line, with or without 'Set-Cookie:'. If one line has that name, lines without it are ignored, so the \
            output of 'curl -i' works as it is.

                curl -si https://example.com/ | crumb explain https://example.com/ --set-cookie -

            With --cache, explains instead how the cache of a gateway would answer the request: the rule that decides, how \
            it treats the request, what is stored, how fresh that is, and why the server would be asked. Name the table of \
            the gateway with --rules.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Explain what a script on that page can read or set.")
    var script = false

    @Option(help: .file("Explain what the jar would do with the Set-Cookie lines in this file; '-' is standard input."))
    var setCookie: String?

    @Option(
        help: .value(
            "source:classes",
            "What a browser has decided on the cookies, in place of --top-level and --initiator, as a gateway's log has it: "
                + "'witness: cross-site navigation', or its 'source' and 'classes', as in 'witness:lax,none,default'."))
    var verdict: String?

    @Flag(help: "Explain how the cache of a gateway would answer the request.")
    var cache = false

    @OptionGroup var cacheQuestion: CacheQuestionOptions

    @Argument(help: "The URL of the request.")
    var url: String

    func validate() throws {
        guard cache || !cacheQuestion.isGiven else {
            throw ValidationError("--rules, --field, --client and --offline are for --cache.")
        }
        guard !cache || !script && setCookie == nil else {
            throw ValidationError("--cache: leave out --script and --set-cookie.")
        }
        guard verdict == nil || setCookie == nil else {
            throw ValidationError("--verdict: leave it out with --set-cookie.")
        }
    }

    /// The verdict of the option.
    private func engineVerdict() throws -> EngineVerdict? {
        guard let verdict else { return nil }
        do {
            return try EngineVerdict(text: verdict)
        } catch {
            throw ValidationError("--verdict '\(verdict)': \(error).")
        }
    }

    func execute(_ console: Console) throws {
        var request = try context.context(for: try requestURL(url), interface: script ? .script : .http)
        request.verdict = try engineVerdict()
        let place = try jar.place(now: console.now, notesAccess: false)
        if cache {
            var report = try place.cacheExplanation(of: cacheQuestion.document(for: request), in: jar.jar)
            if let name = try packageName(for: request, in: place) { report = report.answered(by: name) }
            return try console.report(report) { try console.writeLines(report.properties) }
        }
        let colors = output.usesColor ? ExplainCommand.colors : [:]
        if let setCookie {
            let lines = try SetCookieInput(InputFile(setCookie)).lines
            let report = try place.trial(of: lines, from: request, in: jar.jar)
            for (index, line) in lines.enumerated() {
                if let note = JoinedSetCookie.note(on: line) { console.note("note: Set-Cookie \(index + 1): \(note)") }
            }
            return try console.report(report) { try console.writeLine(report.text(for: request), colors: colors) }
        }
        let report = try explanation(of: request, in: place)
        try console.report(report) {
            try console.writeLine(report.text(for: request, in: jar.databaseOptions), colors: colors)
        }
    }

    /// The offline package that answers a request, as a gateway names it; `nil` for none. A service
    /// does not look at its packages.
    private func packageName(for request: RequestContext, in place: OperationPlace) throws -> String? {
        guard ["GET", "HEAD"].contains(request.method),
            let kept = try place.database()?.existingJar(named: jar.jar, policy: place.policy),
            let found = PackageShelf(of: kept, failed: { _ in })?.newest().find(request.url)
        else { return nil }
        return "package-\(found.package)-\(found.version)"
    }

    /// - Throws: `CommandFailure` with the way to explain a refused cookie if the jar does not exist: no cookie, no jar.
    private func explanation(of request: RequestContext, in place: OperationPlace) throws -> ExplanationReport {
        do {
            return try place.explanation(of: request, in: jar.jar)
        } catch let problem as CommandFailure where problem.failure == .jarNotFound {
            let trial = jar.databaseOptions.command("explain", ["--set-cookie", "FILE", url])
            throw CommandFailure(
                .jarNotFound,
                "\(problem.message) The first stored cookie creates a jar. If a response set one, the rules rejected it: "
                    + "'\(trial)' explains its Set-Cookie lines.")
        }
    }

    /// Green for what takes effect, red for what is rejected, faint for what is left out.
    private static let colors = [
        "sent": 32, "visible": 32, "stored": 32, "replaced": 32, "rejected": 31, "not sent": 2, "hidden": 2,
        "deleted": 2,
    ]
}
