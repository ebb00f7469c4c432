import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct JarsListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the jars.",
        aliases: ["ls"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let jars = try database.keptJars(now: .now).list()
        if output.json {
            for jar in jars { try console.writeJSON(jar) }
            return
        }
        guard !jars.isEmpty else {
            console.note("no jars yet: 'crumb import FILE' and 'crumb jars create NAME' make one")
            return
        }
        var rows = [["JAR", "COOKIES", "SESSION", "SAVED", "PROFILE", "NEXT EXPIRY"]]
        for jar in jars {
            rows.append([
                shown(jar.name), "\(jar.cookies)", "\(jar.sessionCookies)", "\(jar.savedSessions)", jar.profile,
                jar.nextExpiry ?? "-",
            ])
        }
        try console.writeLine(Console.table(rows))
    }
}
