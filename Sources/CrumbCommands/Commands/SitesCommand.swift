import ArgumentParser
import SessionClient
import SessionOperations

struct SitesCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "sites",
        abstract: "List the sites of all jars, with the jars that have cookies of each.",
        discussion: """
            A site is a registrable domain, such as example.com for www.example.com. The last use is exact to about an \
            hour. 'crumb list SITE' lists the cookies of a site.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(
        name: .shortAndLong, help: "List the sites of this jar only. Default: all jars.",
        completion: NameCompletion.jars)
    var jar: String?

    func execute(_ console: Console) throws {
        let place = try database.place(now: console.now)
        let sites = try pages(next: \.next) { cursor in
            let request = SessionRequest.sites(of: jar, cursor: cursor)
            return try jar == nil
                ? place.answer(to: request, by: .listSites) : place.performIfThere(request, by: .listSites)
        }.flatMap(\.sites)
        try console.writeTable(
            ["SITE", "JAR", "COOKIES", "NEXT EXPIRY", "LAST USE"], of: sites,
            none: "no cookies in \(jar.map { "jar '\($0)'" } ?? "any jar")"
        ) { [$0.site, shown($0.jar), "\($0.cookies)", $0.nextExpiry ?? "-", $0.lastUse] }
    }
}
