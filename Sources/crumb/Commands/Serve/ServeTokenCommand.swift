import ArgumentParser

struct ServeTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Create, list and revoke access tokens for the service.",
        subcommands: [ServeTokenCreateCommand.self, ServeTokenListCommand.self, ServeTokenRevokeCommand.self])
}
