import ArgumentParser

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the HTTP service, and manage its access tokens.",
        subcommands: [ServeRunCommand.self, ServeTokenCommand.self, ServeRefreshCommand.self],
        defaultSubcommand: ServeRunCommand.self)
}
