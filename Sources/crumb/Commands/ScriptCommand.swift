import ArgumentParser
import CookieModel
import RequestDecoration
import SessionOperations
import SessionStore

struct ScriptCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "script",
        abstract: "Print a document.cookie script for the cookies that scripts of a page may set.",
        discussion: """
            With several URLs one script serves them all: each frame gets the cookies of its own scheme and host. A \
            script for several origins is for a web view's or browser's user scripts, never for a <script> element, \
            where the page can read it.

            Cookies that no script can carry are named on standard error, with the reason. Exit status 3 and no output \
            where there is nothing to set.
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
        for omission in report.omitted {
            let place = pages.count > 1 ? " at \(try requestURL(omission.url).origin)" : ""
            console.note(
                "not in the script\(place): \(omission.cookie.label): "
                    + omission.reasons.map(\.explanation).joined(separator: "; "))
        }
        if report.script.isEmpty { throw ExitStatus.nothingToSend.exitCode }
    }
}
