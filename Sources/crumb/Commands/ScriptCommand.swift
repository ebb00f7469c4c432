import ArgumentParser
import CookieModel
import RequestDecoration
import SessionOperations
import SessionStore

struct ScriptCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "script",
        abstract: "Print a document.cookie script that sets the cookies which scripts of a page may set.",
        discussion: """
            With several URLs one script serves them all: each frame gets the cookies of its own scheme and host. A \
            script for several origins is for a web view's or browser's user scripts, never for a <script> element, \
            where the page can read it.

            The script sets cookies of every path of the page's host. A page sees only those of its own path: the \
            others are listed on standard error, and --verify reports them as 'unverifiable'.

            Standard error also lists the cookies that no script can set, with the reason. If there is nothing to set, \
            prints nothing and ends with exit status 3.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var output: OutputOptions

    @Option(
        help: """
            When a cookie is set: 'once' in each tab, where the page has none of that name; whenever it is 'missing'; \
            'always', whatever the page has.
            """)
    var write = ScriptWriting.once

    @Flag(help: "Let the script's value say, in JSON, what became of each cookie.")
    var verify = false

    @Option(
        help: ArgumentHelp("Let a message to this handler say what became of each cookie.", valueName: "name"),
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
        if let unverifiable = report.unverifiable, !unverifiable.isEmpty {
            console.note(
                "set for other paths, which scripts of the page cannot verify: "
                    + unverifiable.map(\.label).joined(separator: ", "))
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
