import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct HeaderCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "header",
        abstract: "Print the Cookie header that a request to a URL carries.",
        discussion: """
            Fit for curl:  crumb header URL | curl -H @- URL

            Exit status 3 and no output where there is nothing to send.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The URL of the request.")
    var url: String

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        let context = try context.context(for: try requestURL(url))
        let retrieval = try jar.openExistingJar(now: now)?.retrieve(for: context, now: now)
        let cookieString = retrieval?.cookieString ?? []
        if output.json {
            try console.writeJSON(HeaderReport(url: context.url.description, retrieval: retrieval))
        } else if !cookieString.isEmpty {
            try console.write(Array("Cookie: ".utf8) + cookieString + [UInt8(ascii: "\n")])
        }
        for exclusion in retrieval?.excluded ?? [] where exclusion.reasons.contains(.unreadable) {
            console.complain("\(exclusion.cookie.label): \(ExclusionReason.unreadable.explanation)")
        }
        if cookieString.isEmpty { throw ExitStatus.nothingToSend.exitCode }
    }
}
