import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct ListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the cookies of a jar.",
        discussion: "Values are shown only with --values: they are as good as passwords.")

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Show the values.")
    var values = false

    @Flag(help: "Show which URL and capture each value came from, and when.")
    var origins = false

    @Argument(help: "Only cookies of this domain and of the names below it.")
    var domain: String?

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        let existing = try jar.openExistingJar(now: now)
        let all = try existing?.cookies() ?? (readable: [], unreadable: [])
        let origins = origins ? try existing?.origins() ?? [:] : [:]
        let readable = try filtered(all.readable.filter { !$0.isExpired(at: now) })
        for cookie in try filtered(all.unreadable) {
            console.complain("\(cookie.label): \(ExclusionReason.unreadable.explanation)")
        }
        if output.json {
            for cookie in readable {
                try console.writeJSON(CookieReport(cookie, showingValue: values, origin: origins[cookie.id]))
            }
        } else if readable.isEmpty {
            console.note("no cookies in jar '\(jar.jar)'")
        } else {
            let added = (self.origins ? ["FROM"] : []) + (values ? ["VALUE"] : [])
            var rows = [["DOMAIN", "PATH", "NAME", "EXPIRES", "FLAGS"] + added]
            for cookie in readable {
                let domain = cookie.isHostOnly ? "\(cookie.domain)" : ".\(cookie.domain)"
                let expires = cookie.expiry?.rfc3339 ?? "session"
                rows.append(
                    [domain, cookie.path.description, cookie.name.description, expires, cookie.flags]
                        + (self.origins ? [origins[cookie.id]?.label ?? "-"] : [])
                        + (values ? [cookie.value.description] : []))
            }
            try console.writeLine(Console.table(rows))
        }
        if !all.unreadable.isEmpty { throw ExitStatus.valueDamaged.exitCode }
    }

    private func filtered(_ cookies: [Cookie]) throws -> [Cookie] {
        guard let domain else { return cookies }
        guard let host = WebHost(domain) else { throw Problem(.urlInvalid, "\(domain): this is not a host name") }
        return cookies.filter { CookiePolicy.domainMatches($0.domain, host.octets) }
    }
}
