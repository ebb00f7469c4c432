import ArgumentParser

struct SessionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session",
        abstract: "Save and restore the cookies of a jar, or end its session as a browser does.",
        subcommands: [
            SessionEndCommand.self, SessionSaveCommand.self, SessionRestoreCommand.self, SessionListCommand.self,
            SessionRemoveCommand.self,
        ])
}
