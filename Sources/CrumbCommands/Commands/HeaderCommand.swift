import ArgumentParser
import CookieModel
import SessionOperations

struct HeaderCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "header",
        abstract: "Print the Cookie header that a request to a URL carries.",
        discussion: """
            Use it with curl:

                crumb header URL | curl -H @- URL

            With --fields, prints the header fields of the jar too, one per line ('crumb jars fields'). Exit status 3 and \
            no output if there is nothing to send.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Print the header fields of the jar, too.")
    var fields = false

    @Argument(help: "The URL of the request.")
    var url: String

    func execute(_ console: Console) throws {
        let request = try context.context(for: try requestURL(url))
        let report = try jar.backend(now: console.now).header(for: request, withFields: fields)
        let cookieString = report.cookieString
        try console.report(report) {
            if !cookieString.isEmpty { try console.write(HeaderCommand.line("Cookie", cookieString)) }
            for field in report.fields ?? [] { try console.write(HeaderCommand.line(field.name, field.octets)) }
        }
        for cookie in report.unreadable { console.error(cookie.unreadableLine) }
        for field in report.damagedFields { console.error(field.damageLine) }
        if cookieString.isEmpty, report.fields?.isEmpty ?? true { throw FailureKind.nothingToSend.exitCode }
    }

    private static func line(_ name: String, _ value: Octets) -> [UInt8] {
        Array("\(name): ".utf8) + value + [UInt8(ascii: "\n")]
    }
}
