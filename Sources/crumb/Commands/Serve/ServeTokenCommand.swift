import ArgumentParser

struct ServeTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make, list and revoke access tokens of the service.",
        subcommands: [ServeTokenCreateCommand.self, ServeTokenListCommand.self, ServeTokenRevokeCommand.self])
}
