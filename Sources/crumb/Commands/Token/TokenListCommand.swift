import ArgumentParser
import CookieModel
import OAuth2
import SessionOperations
import SessionStore

struct TokenListCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the tokens that are kept, without showing them.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        var rows = [["NAME", "STATE", "EXPIRES", "REFRESH", "ISSUER", "ACCOUNT"]]
        var isDamaged = false
        for result in try database.openExisting(now: now)?.tokens.all() ?? [] {
            switch result {
            case .failure(let error):
                isDamaged = true
                console.complain(error.description)
            case .success(let stored):
                let report = StoredTokenReport(stored, now: now)
                if output.json { try console.writeJSON(report) }
                rows.append([
                    report.name, report.state, report.expires ?? "unknown", report.hasRefreshToken ? "yes" : "no",
                    report.issuer.isEmpty ? "-" : report.issuer, report.account.isEmpty ? "-" : report.account,
                ])
            }
        }
        if !output.json {
            if rows.count > 1 { try console.writeLine(Console.table(rows)) } else { console.note("no tokens") }
        }
        if isDamaged { throw ExitStatus.valueDamaged.exitCode }
    }
}
