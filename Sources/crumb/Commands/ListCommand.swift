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

    /// Why the list is empty: the jar is, or the argument names no domain of it but a cookie, a jar or nothing.
    private func emptyListNote() throws -> String {
        guard let domain else { return "no cookies in jar '\(jar.jar)'" }
        let note = "no cookies of the domain '\(Octets(domain))' in jar '\(jar.jar)'"
        let all = try jar.kept(now: .now).cookies(of: nil, showingValues: false, origins: false).cookies
        let count = all.count { $0.nameOctets == Octets(domain) }
        if count > 0 {
            return "\(note); \(count == 1 ? "1 cookie has" : "\(count) cookies have") this name: 'crumb list' shows "
                + "each with its domain"
        }
        let jars = try jar.databaseOptions.keptJars(now: .now).list()
        if jars.contains(where: { $0.name == domain }) {
            return "\(note); to list the jar: crumb list --jar \(ShellWord(domain))"
        }
        return domain.contains(".") ? note : "\(note), and no cookie and no jar of this name"
    }

    func execute(_ console: Console) throws {
        let host = try domain.map { domain in
            guard let host = CookieFilter.domain(named: domain) else {
                throw Problem(.urlInvalid, "\(domain): this is not a host name")
            }
            return host
        }
        let list = try jar.kept(now: .now).cookies(of: host, showingValues: values, origins: origins)
        for cookie in list.unreadable { console.complain(cookie.unreadableLine) }
        if output.json {
            for cookie in list.cookies { try console.writeJSON(cookie) }
        } else if list.cookies.isEmpty {
            console.note(try emptyListNote())
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
        if !list.unreadable.isEmpty { throw FailureKind.valueDamaged.exitCode }
    }
}
