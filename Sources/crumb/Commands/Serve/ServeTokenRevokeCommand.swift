import ArgumentParser
import CookieModel
import SessionOperations
import SessionStore

struct ServeTokenRevokeCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke an access token for the service at once.",
        aliases: ["remove", "rm", "delete"])

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The name of the access token.")
    var name: String

    func execute(_ console: Console) throws {
        let now = Timestamp.now
        guard try database.openExisting(now: now)?.serviceTokens.revoke(named: name, now: now) == true else {
            throw Problem(
                .tokenNotFound,
                "\(name): there is no access token of this name; 'crumb serve token list' shows those there are")
        }
        if output.json {
            try console.writeJSON(["revoked": name])
        } else {
            console.note("revoked access token '\(name)'; requests with it are refused from now on")
        }
    }
}
