import ArgumentParser
import CookieModel
import SessionClient
import SessionOperations

struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "List, explain and remove the responses that a gateway with --cache has stored.",
        discussion: """
            'crumb gateway run --cache SIZE' and 'crumb run --cache SIZE' store responses and answer requests from them. \
            No command prints a body, or the value of a cookie.
            """,
        subcommands: [
            CacheListCommand.self, CacheShowCommand.self, CacheWarmCommand.self, CachePurgeCommand.self,
            CacheStatisticsCommand.self,
        ], defaultSubcommand: CacheListCommand.self)
}

struct CacheListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the stored responses of a jar.", aliases: ["ls"])

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Option(help: .value("host", "Only responses of the site of this host or URL."))
    var site: String?

    @Flag(help: "Show the queries of URLs. The values of parameters that are secrets are replaced.")
    var queries = false

    func execute(_ console: Console) throws {
        let site = try site.map(siteHost)
        let place = try jar.place(now: console.now)
        let responses = try pages(next: \.next) { cursor in
            try place.performIfThere(
                .cachedResponses(of: jar.jar, site: site, showingQueries: queries, cursor: cursor),
                by: .listCachedResponses)
        }.flatMap(\.responses)
        try console.writeTable(
            ["URL", "STATUS", "OCTETS", "FRESHNESS", "STORED", "LAST USED"], of: responses,
            none: "no responses stored for jar '\(jar.jar)'\(site.map { " of the site of \($0)" } ?? "")"
        ) { response in
            [
                response.shownURL, String(response.status), String(response.octets), response.freshness,
                response.stored, response.used,
            ]
        }
    }
}

struct CacheShowCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the stored responses to a URL, and what happens with the next request.",
        discussion: """
            The answer is for a GET request with the same values of the fields in Vary, by the built-in rules: a gateway \
            with --rules may decide otherwise. Shows the values of fields that a cache goes by, and only the names of \
            others. Exit status 89 if no response to the URL is stored.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Show the query of the URL. The values of parameters that are secrets are replaced.")
    var queries = false

    @Argument(help: "The URL, with its query.")
    var url: String

    func execute(_ console: Console) throws {
        let url = try requestURL(url)
        let request = SessionRequest.cachedResponses(to: url.description, of: jar.jar, showingQueries: queries)
        guard let list = try jar.place(now: console.now).performIfThere(request, by: .showCachedResponses) else {
            throw CommandFailure(advising: .responseNotStored, "no response is stored for jar '\(jar.jar)'")
        }
        for (index, details) in list.responses.enumerated() {
            try console.report(details) {
                if index > 0 { try console.writeLine("") }
                try console.writeLines(details.properties())
            }
        }
    }
}

struct CachePurgeCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge", abstract: "Remove stored responses: all of a jar, of a site, or to URLs.",
        discussion: "Nothing is lost but time: the next request gets the response from the server.",
        aliases: ["remove", "rm", "clear"])

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Option(help: .value("host", "Only responses of the site of this host or URL."))
    var site: String?

    @Option(
        help: .value(
            "time", "Only responses stored since this time, or in the last part of time: 2026-11-21T08:00:00Z, 2h."))
    var since: String?

    @Flag(help: "Remove the responses of all jars.")
    var allJars = false

    @Argument(help: "The URLs of the responses, with their queries.")
    var urls: [String] = []

    func validate() throws {
        guard !allJars || (site == nil && since == nil && urls.isEmpty && jar.givenJar == nil) else {
            throw ValidationError("--all-jars removes everything: leave out --jar, --site, --since and URLs.")
        }
        guard site == nil || urls.isEmpty else { throw ValidationError("Give --site or URLs.") }
    }

    func execute(_ console: Console) throws {
        let place = try jar.place(now: console.now)
        let removal = try removal(place, now: console.now) ?? CacheRemovalReport(removed: 0, octets: 0)
        let owner = allJars ? "all jars" : "jar '\(jar.jar)'"
        try console.report(
            removal,
            note:
                "removed \(counted(Int(removal.removed), "response")) of \(owner), \(counted(Int(removal.octets), "octet"))"
        )
    }

    private func removal(_ place: OperationPlace, now: Timestamp) throws -> CacheRemovalReport? {
        if allJars { return try place.answer(to: .purgeAllCaches(), by: .purgeAllCaches) }
        let since = try since.map { try sinceTime($0, now: now).rfc3339 }
        let urls = try urls.map { try requestURL($0).description }
        return try place.performIfThere(
            .purgeCache(of: jar.jar, site: try site.map(siteHost), since: since, urls: urls), by: .purgeCache)
    }
}

struct CacheStatisticsCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Show how much the cache holds, and how often each rule has answered.",
        aliases: ["statistics", "status"])

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let place = try jar.place(now: console.now)
        let report =
            try place.performIfThere(.cacheStatistics(of: jar.jar), by: .cacheStatistics)
            ?? CacheStatisticsReport(jar: jar.jar, responses: 0, octets: 0, whole: nil)
        try console.report(report) {
            var lines = [("jar", report.jar), ("responses", "\(report.responses)"), ("octets", "\(report.octets)")]
            if let whole = report.whole {
                lines += [("responses of all jars", "\(whole.responses)"), ("octets of all jars", "\(whole.octets)")]
                lines.append(("octets saved", "\(whole.octetsSaved.values.reduce(0, +))"))
                lines += whole.hits.sorted { $0.key < $1.key }.map { ("hits by rule \($0.key)", "\($0.value)") }
                if let folder = whole.folder { lines.append(("folder", folder)) }
                if let problem = whole.problem { lines.append(("problem", problem)) }
            }
            try console.writeLines(lines)
        }
    }
}
