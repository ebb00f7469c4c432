import ArgumentParser
import CookieModel
import RequestDecoration
import SessionOperations
import SessionStore

struct ScriptCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "script",
        abstract: "Print a script that sets the cookies of a page through document.cookie.",
        discussion: """
            With several URLs, one script serves them all: each frame gets the cookies of its own scheme and host. Install \
            such a script as a user script of a web view or browser, never as a <script> element: the page can read that.

            Lists cookies that no script can set on standard error, with the reason. Exit status 3 and no output if there \
            is nothing to set.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var output: OutputOptions

    @Option(
        help: """
            When the script sets a cookie: 'once' per tab if the page has none of that name; whenever it is 'missing'; \
            or 'always'.
            """)
    var write = ScriptWriting.once

    @Flag(help: "Make the script return, in JSON, what became of each cookie.")
    var verify = false

    @Option(
        help: ArgumentHelp("Report to this message handler what became of each cookie.", valueName: "name"),
        transform: messageHandlerName)
    var handler: MessageHandlerName?

    @Argument(help: "The URLs of the pages.")
    var urls: [String]

    func execute(_ console: Console) throws {
        let pages = try urls.map { try context.context(for: try requestURL($0), interface: .script) }
        let report = try jar.kept(now: .now).script(
            for: pages, writing: write.writing,
            verification: handler.map { .message($0) } ?? (verify ? .value : .none))
        if output.json {
            try console.writeJSON(report)
        } else if !report.script.isEmpty {
            try console.write(report.script.utf8)
        }
        for omission in report.omitted {
            let place = pages.count > 1 ? " at \(try requestURL(omission.url).origin)" : ""
            console.note(
                "not in the script\(place): \(omission.cookie.label): "
                    + omission.reasons.map(\.explanation).joined(separator: "; "))
        }
        if report.script.isEmpty { throw ExitStatus.nothingToSend.exitCode }
    }
}
