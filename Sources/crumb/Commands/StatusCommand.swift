import ArgumentParser
import CookieModel
import PublicSuffix
import SessionStore

struct StatusCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say where everything lies, in which versions, how much there is and what expires when.")

    @OptionGroup var jar: JarOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        var report = StatusReport(
            database: try jar.path(), keyFile: try Locations().keyFile(), suffixes: try jar.suffixListOptions.list(),
            suffixFile: jar.suffixListOptions.file)
        if let database = try jar.openExistingDatabase(now: now) {
            report.schema = database.schemaVersion
            report.sizeInBytes = database.sizeInBytes
            report.jars = try database.jars(now: now).map(StatusReport.Jar.init)
            report.tokens = try database.tokens.all().count
        }
        if output.json { try console.writeJSON(report) } else { try console.writeLine(report.text) }
    }
}

private struct StatusReport: Encodable {
    struct Jar: Encodable {
        let name: String
        let cookies: Int
        let sessionCookies: Int
        let nextExpiry: String?
        let created: String

        init(_ summary: SessionDatabase.JarSummary) {
            name = summary.name
            cookies = summary.cookieCount
            sessionCookies = summary.sessionCookieCount
            nextExpiry = summary.nextExpiry?.rfc3339
            created = summary.creation.rfc3339
        }
    }

    let version = Crumb.version
    let standard = CookiePolicy.standard
    let publicSuffixList: String
    let publicSuffixRules: Int
    /// `nil` for the list that is built in.
    let publicSuffixListFile: String?
    let sqlite = SessionDatabase.sqliteVersion
    let database: String
    let keyFile: String
    var schema: String?
    var sizeInBytes: Int64?
    var jars: [Jar] = []
    var tokens = 0

    init(database: String, keyFile: String, suffixes: PublicSuffixList, suffixFile: String?) {
        self.database = database
        self.keyFile = keyFile
        publicSuffixList = suffixes.version
        publicSuffixRules = suffixes.ruleCount
        publicSuffixListFile = suffixFile
    }

    var text: String {
        let size = sizeInBytes.map { "\($0) bytes, schema \(schema ?? "unknown")" } ?? "not made yet"
        var text = Console.table([
            ["crumb", version],
            ["standard", standard],
            [
                "public suffixes",
                "\(publicSuffixList), \(publicSuffixRules) rules (\(publicSuffixListFile ?? "built in"))",
            ],
            ["SQLite", sqlite],
            ["database", "\(database) (\(size))"],
            ["key file", keyFile],
            ["tokens", "\(tokens)"],
        ])
        guard !jars.isEmpty else { return text + "\nno jars yet: 'crumb import FILE' makes one" }
        var rows = [["JAR", "COOKIES", "SESSION", "NEXT EXPIRY"]]
        for jar in jars {
            rows.append([jar.name, "\(jar.cookies)", "\(jar.sessionCookies)", jar.nextExpiry ?? "-"])
        }
        text += "\n\n" + Console.table(rows)
        return text
    }
}
