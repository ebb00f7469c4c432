import ArgumentParser

struct JarsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jars",
        abstract: "List, make, copy, merge and remove jars.",
        discussion: "A jar is a set of cookies that knows nothing of the others; --jar of other commands names one.",
        subcommands: [
            JarsListCommand.self, JarsCreateCommand.self, JarsRenameCommand.self, JarsCopyCommand.self,
            JarsMergeCommand.self, JarsClearCommand.self, JarsRemoveCommand.self, JarsSettingsCommand.self,
            JarsFieldsCommand.self,
        ],
        defaultSubcommand: JarsListCommand.self)
}
