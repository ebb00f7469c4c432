import ArgumentParser

/// The `crumb` command.
@main
struct Crumb: ParsableCommand {
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "crumb",
        abstract: "Keeps the sessions of web sites: takes cookies out of captures, gives them back to requests.",
        discussion: """
            Exit status: 0 done, 3 nothing to send, 64 wrong usage; each kind of failure has one of its own, listed in \
            docs/exit-statuses.md.
            """,
        version: version,
        subcommands: [
            ImportCommand.self, ExportCommand.self, ConvertCommand.self, HeaderCommand.self, ScriptCommand.self,
            CaptureScriptCommand.self, PlanCommand.self, ListCommand.self, ExplainCommand.self, CurlCommand.self,
            GetCommand.self, SetCommand.self, RemoveCommand.self, SessionCommand.self, JarsCommand.self,
            ChangesCommand.self, SimulateCommand.self, TokenCommand.self, ServeCommand.self, StatusCommand.self,
            KeyCommand.self, PruneCommand.self, CheckCommand.self, BackupCommand.self, RestoreCommand.self,
        ])
}
