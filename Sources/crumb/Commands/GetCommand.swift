import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct GetCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print the value of one cookie that a URL gets, for use in $(…).",
        discussion: """
            If several cookies have the name, prints the one that is sent first. Exit status 3 and no output if none is \
            sent; 'crumb explain URL' tells why.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the cookie.")
    var name: String

    @Argument(help: "The URL of the request.")
    var url: String

    func validate() throws {
        if name.contains("://"), !url.contains("://") {
            throw ValidationError("The cookie's name comes first: `crumb get NAME URL`.")
        }
    }

    func execute(_ console: Console) throws {
        let request = try context.context(for: try requestURL(url))
        switch try jar.kept(now: .now).cookie(named: name, for: request) {
        case .found(let cookie) where output.json: try console.writeJSON(cookie)
        case .found(let cookie): try console.write(cookie.valueOctets + [UInt8(ascii: "\n")])
        case .unreadable(let cookie): throw Problem(.valueDamaged, cookie.unreadableLine)
        case .notSent(let isKept):
            let hint = isKept ? "; 'crumb explain' says why" : ""
            throw Problem(.nothingToSend, "'\(name)': no cookie of this name is sent to \(request.url)\(hint)")
        }
    }
}
