import ArgumentParser
import Platform

/// The `crumb` command.
struct Crumb: ParsableCommand {
    /// The version of both programs, as `CHANGELOG.md` names it.
    static let version = "1.0.0-beta.1"

    static let configuration = CommandConfiguration(
        commandName: "crumb",
        abstract:
            "A cookie jar for web sessions: import cookies from captures and browsers, and send them with requests.",
        discussion: """
            Exit status: 0 on success, 3 if there is nothing to send, 64 for wrong usage. Each kind of failure has its \
            own status; docs/exit-statuses.md lists them.
            """,
        version: version,
        subcommands: [ManualCommand.self],
        groupedSubcommands: [
            CommandGroup(
                name: "Session",
                subcommands: [
                    BrowseCommand.self, RunCommand.self, CurlCommand.self, GatewayCommand.self, TokenCommand.self,
                    SessionCommand.self,
                ]),
            CommandGroup(
                name: "Import and export", subcommands: [ImportCommand.self, ExportCommand.self, ConvertCommand.self]),
            CommandGroup(
                name: "Request and page",
                subcommands: [
                    HeaderCommand.self, ExplainCommand.self, ScriptCommand.self, PlanCommand.self,
                    CaptureScriptCommand.self, SimulateCommand.self,
                ]),
            CommandGroup(
                name: "Cookie and jar",
                subcommands: [
                    ListCommand.self, GetCommand.self, SetCommand.self, RemoveCommand.self, ClearCommand.self,
                    JarsCommand.self,
                    SitesCommand.self, StorageCommand.self, CacheCommand.self, ChangesCommand.self,
                ]),
            CommandGroup(name: "Service", subcommands: [ServeCommand.self, ClusterCommand.self]),
            CommandGroup(
                name: "Database",
                subcommands: [
                    StatusCommand.self, CheckCommand.self, BackupCommand.self, RestoreCommand.self, PruneCommand.self,
                    KeyCommand.self,
                ]),
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
        // Scripts and editors ask for the version at each start. The parser takes longer than all the rest.
        if arguments == ["--version"] { return print(Crumb.version) }
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
            let advice = UsageAdvice(arguments).message(insteadOf: message) ?? message
            exit(withUsageError: text.replacing(message, with: advice, maxReplacements: 1))
        }
    }

    /// Prints a warning of a database server as a command prints its errors.
    package static func warn(_ warning: String) {
        Console(isQuiet: false).error("the database server warns: \(warning)")
    }

    /// Ends the command as a usage error, whose whole text is given. In JSON, only its first line counts.
    private static func exit(withUsageError text: String) -> Never {
        let arguments = ProcessArguments.texts
        // `crumb curl --json` is an option of curl.
        if arguments.first != "curl", arguments.dropFirst().prefix(while: { $0 != "--" }).contains("--json") {
            let line = text.prefix { $0 != "\n" }.trimmingPrefix("Error: ")
            Console().write(
                ErrorReport(code: "usage", exitStatus: ExitCode.validationFailure.rawValue, message: String(line)))
        } else {
            Console.writeError(text)
        }
        Crumb.exit(withError: ExitCode.validationFailure)
    }
}

/// The command line of this process, byte for byte.
///
/// On Linux, Swift's `CommandLine` finds the arguments by walking back from the environment. A preloaded library that
/// moves the environment, such as libfaketime, makes it find none, and every command would print the root help. The
/// kernel still has them.
enum ProcessArguments {
    /// Every word, the program's name first.
    static let words: [[UInt8]] = {
        #if os(Linux)
            if let words = kernelWords(), !words.isEmpty { return words }
        #endif
        return (0..<Int(CommandLine.argc)).compactMap { index in
            CommandLine.unsafeArgv[index].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
    }()

    /// The words after the program's name. Bytes that are not UTF-8 are replaced.
    static var texts: [String] {
        words.dropFirst().map { String(decoding: $0, as: UTF8.self) }
    }

    /// The last arguments as they were typed. Swift's strings replace octets that are not UTF-8.
    static func octets(of arguments: [String]) -> [[UInt8]] {
        let tail = words.suffix(arguments.count)
        let isSame =
            tail.count == arguments.count
            && zip(tail, arguments).allSatisfy { String(decoding: $0, as: UTF8.self) == $1 }
        return isSame ? Array(tail) : arguments.map { Array($0.utf8) }
    }

    #if os(Linux)
        /// The words in `/proc/self/cmdline`, each of which ends with a zero byte; `nil` if it cannot be read.
        private static func kernelWords() -> [[UInt8]]? {
            guard let bytes = try? FileSystem.contents("/proc/self/cmdline", limit: .max) else { return nil }
            return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map(Array.init)
        }
    #endif
}
