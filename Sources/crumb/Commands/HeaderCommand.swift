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
        let report = try jar.kept(now: .now).header(for: try context.context(for: try requestURL(url)))
        let cookieString = report.cookieString
        if output.json {
            try console.writeJSON(report)
        } else if !cookieString.isEmpty {
            try console.write(Array("Cookie: ".utf8) + cookieString + [UInt8(ascii: "\n")])
        }
        for cookie in report.unreadable { console.complain(cookie.unreadableLine) }
        if cookieString.isEmpty { throw ExitStatus.nothingToSend.exitCode }
    }
}
