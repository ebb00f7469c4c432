import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct GetCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print the value of the cookie of a name that a URL gets, for $(…).",
        discussion: """
            Of several cookies of the same name the one that is sent first counts. Exit status 3 and no output where \
            none is sent; 'crumb explain URL' says why.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The cookie's name.")
    var name: String

    @Argument(help: "The URL of the request.")
    var url: String

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        let context = try context.context(for: try requestURL(url))
        let existing = try jar.openExistingJar(now: now)
        let retrieval = try existing?.retrieve(for: context, now: now) ?? Retrieval()
        if let cookie = retrieval.included.first(where: { $0.name == Octets(name) }) {
            if output.json {
                let origin = try existing?.origin(of: cookie.id)
                try console.writeJSON(CookieReport(cookie, showingValue: true, origin: origin))
            } else {
                try console.write(cookie.value + [UInt8(ascii: "\n")])
            }
            return
        }
        let excluded = retrieval.excluded.filter { $0.cookie.name == Octets(name) }
        if let damaged = excluded.first(where: { $0.reasons.contains(.unreadable) }) {
            throw Problem(.valueDamaged, "\(damaged.cookie.label): \(ExclusionReason.unreadable.explanation)")
        }
        let hint = excluded.isEmpty ? "" : "; 'crumb explain' says why"
        throw Problem(.nothingToSend, "'\(name)': no cookie of this name is sent to \(context.url)\(hint)")
    }
}
