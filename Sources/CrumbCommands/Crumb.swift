import ArgumentParser

/// The `crumb` command.
struct Crumb: ParsableCommand {
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "crumb",
        abstract:
            "A cookie jar for web sessions: import cookies from captures and browsers, and send them with requests.",
        discussion: """
            Exit status: 0 on success, 3 if there is nothing to send, 64 for wrong usage. Each kind of failure has its \
            own status; docs/exit-statuses.md lists them.
            """,
        version: version,
        subcommands: [
            ImportCommand.self, ExportCommand.self, ConvertCommand.self, HeaderCommand.self, ScriptCommand.self,
            CaptureScriptCommand.self, PlanCommand.self, ListCommand.self, ExplainCommand.self, CurlCommand.self,
            GetCommand.self, SetCommand.self, RemoveCommand.self, SessionCommand.self, StorageCommand.self,
            JarsCommand.self, ChangesCommand.self, SimulateCommand.self, TokenCommand.self, ServeCommand.self,
            ClusterCommand.self, GatewayCommand.self, RunCommand.self, BrowseCommand.self, StatusCommand.self,
            KeyCommand.self,
            PruneCommand.self, CheckCommand.self, BackupCommand.self, RestoreCommand.self, ManualCommand.self,
        ])
}

/// Where a program with the commands begins.
package enum CrumbProgram {
    /// Runs the command in the arguments of the process.
    ///
    /// - Parameter network: The network of the program; `nil` for one that is replaced if a command needs the network.
    package static func main(network: Network? = nil) {
        ProgramReplacement.begin()
        InheritedDescriptors.begin()
        PrivateFolder.watchIfTold()
        if let network { Network.use(network) }
        let arguments = ProcessArguments.texts
        do {
            var command = try Crumb.parseAsRoot(arguments)
            if let error = UsageAdvice(arguments).unknownHelpTopic { exit(withUsageError: error) }
            do {
                try command.run()
            } catch let error as ValidationError {
                // The parser would add the usage of `crumb`, since it does not know which command has run.
                exit(withUsageError: UsageAdvice(arguments).text(of: error, by: type(of: command)))
            }
        } catch {
            guard Crumb.exitCode(for: error) == .validationFailure else { Crumb.exit(withError: error) }
            let (message, text) = (Crumb.message(for: error), Crumb.fullMessage(for: error))
            guard let advice = UsageAdvice(arguments).message(insteadOf: message) else { Crumb.exit(withError: error) }
            exit(withUsageError: text.replacing(message, with: advice, maxReplacements: 1))
        }
    }

    /// Prints a warning of a database server as a command prints its errors.
    package static func warn(_ warning: String) {
        Console(isQuiet: false).error("the database server warns: \(warning)")
    }

    /// Ends the command as a usage error, whose whole text is given.
    private static func exit(withUsageError text: String) -> Never {
        Console.writeError(text)
        Crumb.exit(withError: ExitCode.validationFailure)
    }
}
