import ArgumentParser

struct JarsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jars",
        abstract: "List, create, copy, merge and remove jars.",
        discussion: "Each jar is a separate set of cookies. Other commands choose one with --jar or CRUMB_JAR.",
        subcommands: [
            JarsListCommand.self, JarsCreateCommand.self, JarsRenameCommand.self, JarsCopyCommand.self,
            JarsMergeCommand.self, JarsClearCommand.self, JarsRemoveCommand.self, JarsSettingsCommand.self,
            JarsFieldsCommand.self,
        ],
        defaultSubcommand: JarsListCommand.self)
}
