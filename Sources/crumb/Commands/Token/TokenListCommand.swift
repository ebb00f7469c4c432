import ArgumentParser
import CookieModel
import OAuth2
import SessionOperations
import SessionStore

struct TokenListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the stored logins. Never shows tokens.",
        aliases: ["ls"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let list = try database.keptTokens(now: .now).list()
        var rows = [["NAME", "STATE", "EXPIRES", "REFRESH", "ISSUER", "ACCOUNT"]]
        for problem in list.problems ?? [] { console.complain(problem) }
        for report in list.tokens {
            if output.json { try console.writeJSON(report) }
            rows.append([
                shown(report.name), report.state, report.expires ?? "unknown", report.hasRefreshToken ? "yes" : "no",
                report.issuer.isEmpty ? "-" : shown(report.issuer),
                report.account.isEmpty ? "-" : shown(report.account),
            ])
        }
        if !output.json {
            if rows.count > 1 { try console.writeLine(Console.table(rows)) } else { console.note("no tokens") }
        }
        if list.unreadable > 0 { throw FailureKind.valueDamaged.exitCode }
    }
}
