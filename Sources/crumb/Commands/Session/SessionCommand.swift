import ArgumentParser

struct SessionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session",
        abstract: "End a session as a browser does, or save it and bring it back.",
        subcommands: [
            SessionEndCommand.self, SessionSaveCommand.self, SessionRestoreCommand.self, SessionListCommand.self,
            SessionRemoveCommand.self,
        ])
}
