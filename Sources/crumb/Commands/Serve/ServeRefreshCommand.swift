import ArgumentParser
import CookieModel
import OAuth2
import SessionOperations
import SessionStore

struct ServeRefreshCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Choose whether the service renews the tokens of a login before they expire.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the login, as 'crumb token list' shows it.")
    var name: String

    @Flag(help: "Stop renewing them ahead of time.")
    var off = false

    func execute(_ console: Console) throws {
        guard let store = try database.openExisting(now: Timestamp.now)?.tokens else {
            throw Problem(.tokenNotFound, "\(name): there is no token of this name")
        }
        guard try store.changeSettings(of: name, { $0.refreshesAhead = off ? nil : true }) else {
            throw Problem(
                .tokenSettingsInvalid,
                "\(name): how its tokens are renewed is not known; log in anew, or import it anew")
        }
        if output.json {
            try console.writeJSON(RefreshAheadReport(name: name, refreshesAhead: !off))
        } else {
            console.note(
                off
                    ? "the service no longer renews '\(name)' ahead of time"
                    : "the service renews '\(name)' before its tokens expire")
        }
    }
}

private struct RefreshAheadReport: Encodable {
    let name: String
    let refreshesAhead: Bool
}
