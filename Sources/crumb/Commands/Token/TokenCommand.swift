import ArgumentParser

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Store OAuth2 logins, and renew their tokens.",
        subcommands: [
            TokenLoginCommand.self, TokenGetCommand.self, TokenHeaderCommand.self, TokenListCommand.self,
            TokenStatusCommand.self, TokenRefreshCommand.self, TokenRevokeCommand.self, TokenLogoutCommand.self,
            TokenIntrospectCommand.self, TokenImportCommand.self, TokenExportCommand.self, TokenExecCommand.self,
            TokenHelperCommand.self,
            TokenSetupCommand.self, TokenSwitchCommand.self, TokenRemoveCommand.self, TokenFallbackCommand.self,
            TokenAgentCommand.self,
        ])
}
