import ArgumentParser
import CookieModel
import SessionClient
import SessionOperations

struct ClearCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Remove the data of sites from a jar: cookies, stored responses and localStorage.",
        discussion: """
            crumb clear --jar work --site shop.example --list
            crumb clear --jar work --site shop.example
            crumb clear --jar work --since 2h --types cookies,cache

            Removes what meets every condition. With --list, shows it instead: how much of each type a site has, and when it \
            was last set or stored. For a day, 'crumb jars restore' brings back cookies and localStorage; the server sends \
            a stored response again. localStorage has no times, so --since leaves it out. The settings of the jar, its header \
            fields and its saved sessions stay.
            """)

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    @Option(help: .value("host", "Only data of the site of this host or URL."))
    var site: String?

    @Option(
        help: .value(
            "time", "Only data set or stored since this time, or in the last part of time: 2026-11-21T08:00:00Z, 2h."))
    var since: String?

    @Option(help: .value("types", "Only these types, with commas between them: cookies, cache, storage."))
    var types: SiteDataTypes?

    @Flag(help: "Remove everything, if there is no other condition.")
    var all = false

    @Flag(help: "List what there is, and remove nothing.")
    var list = false

    func validate() throws {
        let hasCondition = site != nil || since != nil || types != nil
        guard list || all != hasCondition else {
            throw ValidationError("Name what to remove with --site, --since or --types, or everything with --all.")
        }
        guard since == nil || types?.names.contains(SiteDataType.storage.rawValue) != true else {
            throw ValidationError("--since: localStorage has no times. Leave storage out of --types.")
        }
    }

    func execute(_ console: Console) throws {
        let site = try site.map(siteHost)
        let since = try since.map { try sinceTime($0, now: console.now).rfc3339 }
        let place = try jar.place(now: console.now)
        guard !list else {
            let found = try place.performIfThere(
                .siteData(of: jar.jar, site: site, since: since, types: types?.names), by: .listSiteData)
            return try console.writeTable(
                ["SITE", "TYPE", "COUNT", "OCTETS", "LATEST"], of: found?.siteData ?? [],
                none: "no such data in jar '\(jar.jar)'"
            ) { [$0.site, $0.type, String($0.count), String($0.octets), $0.latest ?? "-"] }
        }
        let report =
            try place.performIfThere(
                .removeSiteData(of: jar.jar, site: site, since: since, types: types?.names, all: all),
                by: .removeSiteData)
            ?? SiteDataRemovalReport(jar: jar.jar, cookies: 0, storageItems: 0, responses: 0, responseOctets: 0)
        try console.report(report) {
            console.note(
                "removed \(counted(report.cookies, "cookie")), \(counted(report.storageItems, "localStorage item")) and "
                    + "\(counted(Int(report.responses), "stored response")) from jar '\(jar.jar)'")
            if report.cookies + report.storageItems > 0 {
                console.noteUndo(ofJar: jar.jar, in: jar.databaseOptions)
            }
        }
    }
}

/// A list of types of data.
struct SiteDataTypes: ExpressibleByArgument {
    let names: [String]

    init?(argument: String) {
        names = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard names.allSatisfy({ SiteDataType(rawValue: $0) != nil }) else { return nil }
    }
}

/// The host that a user names as a host or in a URL.
func siteHost(_ text: String) throws -> String {
    try (text.contains("://") ? requestURL(text).host : domainHost(text)).description
}

/// A time of `--since`, or the time that is a duration before now.
func sinceTime(_ text: String, now: Timestamp) throws -> Timestamp {
    guard let time = Timestamp(since: text, now: now) else {
        throw ValidationError("--since: '\(text)' is no time. Write one such as 2026-11-21T08:00:00Z, or 2h.")
    }
    return time
}
