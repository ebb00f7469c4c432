import ArgumentParser
import CookieModel
import RequestDecoration
import SessionStore

struct ScriptCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "script",
        abstract: "Print a document.cookie script for the cookies that scripts of a page may set.",
        discussion: """
            Cookies that no script can carry are named on standard error, with the reason. Exit status 3 and no output \
            where there is nothing to set.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The URL of the page.")
    var url: String

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        let page = try requestURL(url)
        let context = try context.context(for: page, interface: .script)
        let retrieval = try jar.openExistingJar(now: now)?.retrieve(for: context, now: now) ?? Retrieval()
        let script = InjectionScript(retrieval, page: page)
        if output.json {
            try console.writeJSON(ScriptReport(page, script))
        } else if !script.source.isEmpty {
            try console.write(script.source.utf8)
        }
        for omission in script.omissions {
            console.note(
                "not in the script: \(omission.cookie.label): \(omission.explanations.joined(separator: "; "))")
        }
        if script.source.isEmpty { throw ExitStatus.nothingToSend.exitCode }
    }
}

private struct ScriptReport: Encodable {
    struct Omission: Encodable {
        let cookie: CookieReport
        let reasons: [ReasonReport]
    }

    let url: String
    let script: String
    let cookies: [CookieReport]
    let omitted: [Omission]

    init(_ page: RequestURL, _ script: InjectionScript) {
        url = page.description
        self.script = script.source
        cookies = script.cookies.map { CookieReport($0, showingValue: false) }
        omitted = script.omissions.map { omission in
            Omission(
                cookie: CookieReport(omission.cookie, showingValue: false),
                reasons: zip(omission.identifiers, omission.explanations).map(ReasonReport.init))
        }
    }
}
