import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct ListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the cookies of a jar.",
        discussion: "Shows values only with --values: a value can be as good as a password.",
        aliases: ["show", "ls"])

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Show the values.")
    var values = false

    @Flag(help: "Show the URL and capture that each value came from, and when.")
    var origins = false

    @Argument(help: "Only cookies of this domain and its subdomains.")
    var domain: String?

    func execute(_ console: Console) throws {
        let host = try domain.map { domain in
            guard let host = WebHost(domain) else { throw Problem(.urlInvalid, "\(domain): this is not a host name") }
            return host
        }
        let list = try jar.kept(now: .now).cookies(of: host, showingValues: values, origins: origins)
        for cookie in list.unreadable { console.complain(cookie.unreadableLine) }
        if output.json {
            for cookie in list.cookies { try console.writeJSON(cookie) }
        } else if list.cookies.isEmpty {
            console.note("no cookies in jar '\(jar.jar)'")
        } else {
            let added = (origins ? ["FROM"] : []) + (values ? ["VALUE"] : [])
            var rows = [["DOMAIN", "PATH", "NAME", "EXPIRES", "FLAGS"] + added]
            for cookie in list.cookies {
                rows.append(
                    [
                        cookie.shownDomain, cookie.path, cookie.nameOctets.description, cookie.expires ?? "session",
                        cookie.flags,
                    ] + (origins ? [cookie.origin?.label ?? "-"] : [])
                        + (values ? [cookie.valueOctets.description] : []))
            }
            try console.writeLine(Console.table(rows))
        }
        if !list.unreadable.isEmpty { throw ExitStatus.valueDamaged.exitCode }
    }
}
