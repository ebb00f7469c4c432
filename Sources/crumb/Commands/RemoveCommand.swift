import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct RemoveCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove cookies by name, domain, URL or path.",
        discussion: """
            Removes the cookies that meet every condition, and lists them. Exit status 4 if there are none. 'crumb jars \
            clear' removes all cookies of a jar.
            """,
        aliases: ["rm", "delete"])

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Cookies of this domain and its subdomains.")
    var domain: String?

    @Option(help: "Cookies that a visit to this URL carries, as 'crumb header' prints them.")
    var url: String?

    @Option(help: "Cookies with exactly this path.")
    var path: String?

    @Argument(help: "Cookies with this name.")
    var name: String?

    func validate() throws {
        guard name != nil || domain != nil || url != nil || path != nil else {
            throw ValidationError(
                "Name the cookies by a name, --domain, --url or --path. `crumb jars clear NAME` removes all.")
        }
    }

    func execute(_ console: Console) throws {
        let removed = try jar.kept(now: .now).removeCookies(try filter())
        guard !removed.isEmpty else {
            throw Problem(
                .cookieNotFound, "jar '\(jar.jar)' has no such cookie; 'crumb list' shows those there are")
        }
        for cookie in removed {
            if output.json {
                try console.writeJSON(cookie)
            } else {
                try console.writeLine("removed \(cookie.label)")
            }
        }
    }

    private func filter() throws -> CookieFilter {
        var filter = CookieFilter()
        filter.name = name.map { Octets($0) }
        filter.path = path.map { Octets($0) }
        if let domain {
            guard let host = CookieFilter.domain(named: domain) else {
                throw Problem(.urlInvalid, "\(domain): this is not a host name")
            }
            filter.domain = host
        }
        filter.request = try url.map { RequestContext(url: try requestURL($0)) }
        return filter
    }
}
