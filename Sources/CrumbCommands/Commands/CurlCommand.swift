import ArgumentParser
import CookieModel
import SessionOperations

struct CurlCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "curl",
        abstract: "Run curl with the cookies of a jar, and store the cookies that the responses set.",
        usage: "crumb curl [<options>] [--] <curl's arguments>",
        discussion: """
            crumb curl -L https://example.com/account

            crumb's own options come first. The first argument that is not one of them begins curl's. Use '--' between \
            them if curl's first option is also crumb's, such as --json:

                crumb curl -- --json '{"a": 1}' https://example.com/api

            curl runs once for each redirect, each time with the cookies for that URL. Crumb stores what a response sets \
            before it makes the next request. Cookies never appear in argument lists, in the environment or in files; \
            curl's --verbose shows them.

            Put -j and --jar before curl's first argument. After it, -j is curl's own --junk-session-cookies, which is \
            refused.

            Cookies, credentials and client keys that you give to curl go to the first origin only; --location-trusted \
            keeps credentials across redirects, but not cookies and keys. Options that would bypass the jar, such as \
            --cookie-jar, --cookie FILE and --next, are refused.

            Standard output is curl's alone. Standard error ends with one line about cookies, unless you give --quiet or \
            curl's --silent; --json prints a line for each request in its place. The exit status is curl's own. Lines \
            that begin with 'crumb:' are Crumb's: notes and its own errors.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var output: OutputOptions

    @Argument(parsing: .captureForPassthrough, help: "Arguments for curl: options and one URL.")
    var arguments: [String] = []

    /// Whether "--" separates crumb's options from curl's arguments.
    private var hasTerminator: Bool { arguments.first == "--" }

    /// A database whose key can be read only once is not opened to see whether the jar has login rules.
    var needsNetwork: Bool { jar.databaseOptions.mayNotBeginAnew || jar.suffixListOptions.isReadOnce }

    func execute(_ console: Console) throws {
        if ["--help", "-h"].contains(arguments.first) { throw CleanExit.helpRequest(self) }
        let program = try CurlProgram()
        // The jar is opened first: curl's data may come from standard input, which a program that is replaced must not
        // have read.
        // A jar is created while curl draws its progress meter: that is told at the end.
        var later = console
        let held = HeldNotes()
        later.heldNotes = held
        let curlJar = try jar.backend(now: console.now, console: later).curlJar(console)
        let given = try CurlArguments(
            methodArguments + ProcessArguments.octets(of: hasTerminator ? Array(arguments.dropFirst()) : arguments),
            defaults: CurlProgram.defaults(), table: program.table
        ) { file in try InputFile(file).contents(limit: 1 << 24) }
        // Data follows a --json of curl's in the place of a URL.
        if output.json, !hasTerminator, given.options.count(where: { $0.name == "url" }) > 1 {
            throw ValidationError(
                "--json is an option of crumb here, and curl's arguments name several URLs. "
                    + "Put '--' before curl's arguments: crumb curl -- --json DATA URL")
        }
        if let name = jarBehindCurlOptions(now: console.now) {
            console.error(
                "'-j \(name)' is an option of curl here. Put it first to name the jar: crumb curl -j "
                    + "\(ShellWord(name))")
        }
        let plan = try CurlPlan(given.options)
        var request = try context.context(for: plan.target.url)
        request.method = plan.method
        let session = CurlSession(plan: plan, program: program.path, jar: try curlJar(plan), console: console)
        defer {
            held.takeAll().forEach(console.note)
            report(session.reports, isSilent: plan.isSilent, console)
        }
        let status = try session.run(request)
        if status != 0 { throw ExitCode(status) }
    }

    /// The name of an existing jar after a `-j` among curl's arguments, which curl reads as a URL.
    private func jarBehindCurlOptions(now: Timestamp) -> String? {
        for (word, next) in zip(arguments, arguments.dropFirst())
        where word.hasPrefix("-") && !word.hasPrefix("--") && word.hasSuffix("j") && !next.hasPrefix("-") {
            // Without the jars the refusal of the option is still right.
            let jars = (try? jar.databaseOptions.place(now: now).jars()) ?? []
            if jars.contains(where: { $0.name == next }) { return next }
        }
        return nil
    }

    /// `--method` as an option of curl. Options in curl's own arguments come later, and win.
    private var methodArguments: [[UInt8]] {
        switch context.method.uppercased() {
        case "GET": []
        case "HEAD": [Array("--head".utf8)]
        case let method: [Array("--request".utf8), Array(method.utf8)]
        }
    }

    private func report(_ hops: [CurlHopReport], isSilent: Bool, _ console: Console) {
        if hops.isEmpty { return }
        guard output.json else {
            if !isSilent { console.note("crumb: \(CurlSummary(hops: hops))") }
            return
        }
        // If standard error cannot be written either, the error cannot be reported.
        for hop in hops { try? console.writeJSON(hop, toStandardError: true) }
    }
}
