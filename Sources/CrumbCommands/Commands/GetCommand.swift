import ArgumentParser
import CookieModel
import SessionClient
import SessionOperations
import SessionStore

struct GetCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print the value of one cookie that a URL gets, for use in $(…).",
        discussion: """
            If several cookies have the name, prints the one that is sent first. Exit status 3 and no output if none is \
            sent: the error says when the cookie was deleted or expired, as far as the journal reaches, and 'crumb \
            explain URL' shows the rest.
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
        let place = try jar.place(now: console.now)
        guard place.service == nil || !name.isEmpty else {
            throw CommandFailure(
                .nameInvalid, "a service does not return cookies without a name; 'crumb list --values' shows them")
        }
        let cookie: CookieReport?
        var explanation: ExplanationReport?
        do {
            cookie = try place.performIfThere(
                .cookie(name, for: request.url.description, RequestDetails(request), in: jar.jar, showingValue: true),
                by: .getCookie)
        } catch let error where error.isFailure(.cookieNotFound) || error.isFailure(.valueDamaged) {
            cookie = nil
            explanation = try place.explanation(of: request, in: jar.jar)
        }
        if let cookie {
            return try console.report(cookie) { try console.write(cookie.valueOctets + [UInt8(ascii: "\n")]) }
        }
        let damaged = explanation?.excluded.first { exclusion in
            exclusion.cookie.nameOctets == Octets(name)
                && exclusion.reasons.contains { $0.id == ExclusionReason.unreadable.identifier }
        }
        if let damaged { throw CommandFailure(.valueDamaged, CookieIdentityReport(damaged.cookie).unreadableLine) }
        let reason = explanation.map { self.reason($0, at: console.now) } ?? ""
        throw CommandFailure(.nothingToSend, "'\(name)': no cookie with this name is sent to \(request.url)\(reason)")
    }

    /// What became of the cookie, and the command that tells more; empty if the jar knows nothing of it.
    private func reason(_ explanation: ExplanationReport, at now: Timestamp) -> String {
        let kept = explanation.excluded.filter { $0.cookie.nameOctets == Octets(name) }
        let gone = explanation.gone.first { $0.identity.nameOctets == Octets(name) }
        let isRejected = (explanation.rejected ?? []).contains { $0.shownName == shownName(Octets(name)) }
        guard gone != nil || !kept.isEmpty || isRejected else { return "" }
        let expired = kept.first { $0.reasons.contains { $0.id == ExclusionReason.expired.identifier } }
        let fate =
            expired.map { ": its lifetime \(Lifetime(of: $0.cookie, at: now))" }
            ?? (kept.isEmpty ? gone.map { ": \($0.sentence(at: now))" } : nil) ?? ""
        let words = (jar.jar == "default" ? [] : ["--jar", jar.jar]) + [url]
        return "\(fate); '\(jar.databaseOptions.command("explain", words))' shows why"
    }
}

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
    private func emptyListNote(_ place: OperationPlace) throws -> String {
        guard let domain else { return "no cookies in jar '\(jar.jar)'" }
        let note = "no cookies of the domain '\(Octets(domain))' in jar '\(jar.jar)'"
        let all = try place.cookies(of: jar.jar).cookies
        let count = all.count { $0.nameOctets == Octets(domain) }
        if count > 0 {
            return "\(note); \(counted(count, "cookie")) \(count == 1 ? "has" : "have") this name: 'crumb list' shows "
                + "each with its domain"
        }
        if try place.jars().contains(where: { $0.name == domain }) {
            return "\(note); to list the jar: crumb list --jar \(ShellWord(domain))"
        }
        return domain.contains(".") ? note : "\(note), and no cookie or jar with this name"
    }

    func execute(_ console: Console) throws {
        let host = try domain.map(domainHost)
        let place = try jar.place(now: console.now)
        let list = try place.cookies(
            of: jar.jar, CookieQuery(domain: host?.description), showingValues: values, origins: origins)
        for cookie in list.unreadable { console.error(cookie.unreadableLine) }
        let added = (origins ? ["FROM"] : []) + (values ? ["VALUE"] : [])
        try console.writeTable(
            ["DOMAIN", "PATH", "NAME", "EXPIRES", "FLAGS"] + added, of: list.cookies, none: try emptyListNote(place)
        ) { cookie in
            [
                cookie.shownDomain, cookie.path, cookie.nameOctets.description, cookie.expires ?? "session",
                cookie.flags,
            ] + (origins ? [cookie.origin?.label ?? "-"] : []) + (values ? [cookie.valueOctets.description] : [])
        }
        if !list.unreadable.isEmpty { throw FailureKind.valueDamaged.exitCode }
    }
}

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
        for cookie in try removed(try condition(), in: try jar.place(now: console.now)) {
            try console.report(cookie, line: "removed \(cookie.label)")
        }
    }

    private func removed(_ condition: CookieQuery, in place: OperationPlace) throws -> [CookieIdentityReport] {
        let list = try ifFound(.cookieNotFound) {
            try place.performIfThere(.removeCookies(condition, of: jar.jar), by: .removeCookies)
        }
        if let list { return list.removed }
        throw CommandFailure(.cookieNotFound, "jar '\(jar.jar)' has no such cookie; 'crumb list' lists its cookies")
    }

    private func condition() throws -> CookieQuery {
        CookieQuery(
            name: name, domain: try domain.map(domainHost)?.description, path: path,
            url: try url.map { try requestURL($0).description })
    }
}

/// Reads a domain that a user typed.
func domainHost(_ text: String) throws -> WebHost {
    guard let host = CookieFilter.domain(named: text) else {
        throw CommandFailure(.urlInvalid, "\(text): not a valid host name")
    }
    return host
}
