import ArgumentParser
import CookieModel
import SessionStore

struct ServeTokenListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the access tokens for the service. Never shows the tokens themselves.",
        aliases: ["show", "ls"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Include tokens that were revoked or have expired.")
    var all = false

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        let tokens = try database.openExisting(now: now)?.serviceTokens.all() ?? []
        let reports = tokens.filter { all || $0.isValid(at: now) }.map { ServiceTokenReport($0, now: now) }
        if output.json {
            for report in reports { try console.writeJSON(report) }
            return
        }
        guard !reports.isEmpty else {
            console.note("no access tokens; 'crumb serve token create NAME' makes one")
            return
        }
        try console.writeLine(
            Console.table([["NAME", "STATE", "VERBS", "LAST USED", "EXPIRES", "JARS"]] + reports.map(\.row)))
    }
}
