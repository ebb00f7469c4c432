import ArgumentParser

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Keep OAuth2 logins, sealed and fresh, for when cookies cannot carry one.",
        subcommands: [
            TokenLoginCommand.self, TokenGetCommand.self, TokenHeaderCommand.self, TokenListCommand.self,
            TokenStatusCommand.self, TokenRefreshCommand.self, TokenRevokeCommand.self, TokenLogoutCommand.self,
            TokenIntrospectCommand.self, TokenImportCommand.self, TokenExportCommand.self, TokenRemoveCommand.self,
            TokenFallbackCommand.self,
        ])
}
