import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct TokenRefreshCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", abstract: "Renew the tokens now, whether or not they are due.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the login.")
    var name: String

    func execute(_ console: Console) throws {
        let report = try database.keptTokens(now: .now).refresh(name)
        if let problem = report.idTokenProblem {
            console.complain("\(name): the tokens were renewed, but for the ID token: \(problem)")
        }
        if output.json { try console.writeJSON(report) } else { console.note("refreshed \(report.text)") }
    }
}
