import ArgumentParser

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the sessions over HTTP, and say who may use them.",
        subcommands: [ServeRunCommand.self, ServeTokenCommand.self, ServeRefreshCommand.self],
        defaultSubcommand: ServeRunCommand.self)
}
