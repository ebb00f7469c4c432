import ArgumentParser
import NetworkHelper

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
            ManualCommand.self,
        ])

    static func main() {
        let arguments = ProcessArguments.texts
        do {
            var command = try parseAsRoot(arguments)
            if let error = UsageAdvice(arguments).unknownHelpTopic { exit(withUsageError: error) }
            try command.run()
        } catch {
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            let (message, text) = (message(for: error), fullMessage(for: error))
            guard let advice = UsageAdvice(arguments).message(insteadOf: message) else { exit(withError: error) }
            exit(withUsageError: text.replacing(message, with: advice, maxReplacements: 1))
        }
    }

    /// Ends the command as a usage error, whose whole text is given.
    private static func exit(withUsageError text: String) -> Never {
        Console.writeError(text)
        exit(withError: ExitCode.validationFailure)
    }
}
