import ArgumentParser
import CookieModel
import PublicSuffix
import SessionOperations
import SessionStore

struct StatusCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the database, its key, versions, sizes, jars and next expiries.")

    @OptionGroup var database: DatabaseFileOptions
    @OptionGroup var suffixListOptions: SuffixListOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        try database.requireFile(onServer: "'crumb cluster status' shows the state of a database on a server.")
        let now = console.now
        let (path, key, suffixes) = (try database.path(), try KeyLocation().name(), try suffixListOptions.list())
        var report = StatusReport(
            publicSuffixList: suffixes.version, publicSuffixRules: suffixes.ruleCount,
            publicSuffixListFile: suffixListOptions.file, database: path, keyFile: key)
        if let opened = try database.openExisting(now: now) {
            report.schema = opened.schemaVersion
            report.sizeInBytes = opened.sizeInBytes
            report.jars = try opened.jars(now: now).map {
                StatusReport.Jar($0, $0.settings.applied(to: CookiePolicy()))
            }
            let statistics = try opened.statistics(now: now)
            report.statistics = StatusReport.Statistics(
                fileSize: statistics.fileSize, freeSize: statistics.freeSize, logSize: statistics.logSize,
                oldestCookie: statistics.oldestCookie?.rfc3339, newestCookie: statistics.newestCookie?.rfc3339,
                expiredCookies: statistics.expiredCookies, journalEntries: statistics.journalEntries,
                savedSessions: statistics.savedSessions, removedJars: statistics.removedJars)
            report.tokens = try opened.tokens.all().count
        }
        try console.report(report, line: report.text)
    }
}

private struct StatusReport: Encodable {
    struct Jar: Encodable {
        let name: String
        let profile: String
        /// The limits that apply, by name.
        let limits: [String: Int]
        let cookies: Int
        let sessionCookies: Int
        let nextExpiry: String?
        let created: String

        init(_ summary: SessionDatabase.JarSummary, _ policy: CookiePolicy) {
            name = summary.name
            profile = policy.profile.name ?? "flags \(policy.profile.rawValue)"
            limits = JarLimit.allCases.reduce(into: [:]) { limits, limit in
                limits["\(limit)"] = policy.limits[keyPath: limit.keyPath]
            }
            cookies = summary.cookieCount
            sessionCookies = summary.sessionCookieCount
            nextExpiry = summary.nextExpiry?.rfc3339
            created = summary.creation.rfc3339
        }

        var limitsText: String {
            let parts = [("domainCookies", "a domain"), ("totalCookies", "in all"), ("requestCookies", "a request")]
            let texts = parts.compactMap { name, what in limits[name].map { "\($0) \(what)" } }
            return texts.isEmpty ? "none" : texts.joined(separator: ", ")
        }
    }

    struct Statistics: Encodable {
        let fileSize: Int64
        let freeSize: Int64
        let logSize: Int64
        let oldestCookie: String?
        let newestCookie: String?
        let expiredCookies: Int
        let journalEntries: Int
        let savedSessions: Int
        let removedJars: Int

        var rows: [[String]] {
            var rows = [["log", "\(logSize) bytes"], ["free", "\(freeSize) bytes"]]
            if let oldestCookie, let newestCookie {
                rows.append([
                    "cookies created", "\(oldestCookie) to \(newestCookie), \(expiredCookies) of them expired",
                ])
            }
            rows += [["journal", "\(journalEntries) entries"], ["saved sessions", "\(savedSessions)"]]
            if removedJars > 0 { rows.append(["removed jars", "\(removedJars): 'crumb jars list --removed'"]) }
            return rows
        }
    }

    let version = Crumb.version
    let standard = CookiePolicy.standard
    let publicSuffixList: String
    let publicSuffixRules: Int
    /// `nil` for the list that is built in.
    let publicSuffixListFile: String?
    let unicode = WebHost.unicodeVersion
    let sqlite = SessionDatabase.sqliteVersion
    let database: String
    /// Where the key comes from: the key file's path, or the name of the environment variable.
    let keyFile: String
    var statistics: Statistics?
    var schema: String?
    var sizeInBytes: Int64?
    var jars: [Jar] = []
    var tokens = 0

    var text: String {
        let size = sizeInBytes.map { "\($0) bytes, schema \(schema ?? "unknown")" } ?? "not created yet"
        let table = [
            ["crumb", version],
            ["standard", standard],
            [
                "public suffixes",
                "\(publicSuffixList), \(publicSuffixRules) rules (\(publicSuffixListFile ?? "built in"))",
            ],
            ["Unicode", unicode],
            ["SQLite", sqlite],
            ["database", "\(database) (\(size))"],
            [keyFile == "CRUMB_KEY" ? "key from" : "key file", keyFile],
            ["tokens", "\(tokens)"],
        ]
        let text = Console.table(table + (statistics?.rows ?? []))
        guard !jars.isEmpty else { return text + "\nno jars yet: 'crumb import FILE' creates one" }
        let rows = jars.map { jar in
            [
                jar.name, "\(jar.cookies)", "\(jar.sessionCookies)", jar.profile, jar.limitsText,
                jar.nextExpiry ?? "-",
            ]
        }
        return text + "\n\n"
            + Console.table([["JAR", "COOKIES", "SESSION", "PROFILE", "LIMITS", "NEXT EXPIRY"]] + rows)
    }
}
