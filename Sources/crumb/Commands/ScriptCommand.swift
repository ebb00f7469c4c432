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
        let now = Timestamp.now
        let pages = try urls.map(requestURL)
        let found = try jar.openExistingJar(now: now)
        let script = InjectionScript(
            try pages.map { page in
                let access = try context.context(for: page, interface: .script)
                return InjectionScript.Page(try found?.retrieve(for: access, now: now) ?? Retrieval(), in: access)
            },
            writing: write.writing, verification: handler.map { .message($0) } ?? (verify ? .value : .none))
        if output.json {
            try console.writeJSON(ScriptReport(pages, script))
        } else if !script.source.isEmpty {
            try console.write(script.source.utf8)
        }
        for omission in script.omissions {
            let place = pages.count > 1 ? " at \(omission.page.origin)" : ""
            console.note(
                "not in the script\(place): \(omission.cookie.label): "
                    + omission.explanations.joined(separator: "; "))
        }
        if script.source.isEmpty { throw ExitStatus.nothingToSend.exitCode }
    }
}
