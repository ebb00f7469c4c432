import ArgumentParser
import SessionOperations

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Writes the man pages; `Scripts/install` and packagers use it.
struct ManualCommand: CrumbCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual",
        abstract: "Write the man pages, made from the help of each command, to a folder.",
        shouldDisplay: false)

    @OptionGroup var output: OutputOptions

    @Argument(help: "The folder to write crumb.1 and a page for each command to.", completion: .directory)
    var folder: String

    func execute(_ console: Console) throws {
        let root = try CommandDescription.root()
        let commands = root.visibleCommands
        let pages =
            [("crumb.1", ManualPage.overview(of: root))]
            + commands.map { ("crumb-\($0.commandName).1", ManualPage.page(of: $0)) }
        for (name, text) in pages {
            let path = "\(folder)/\(name)"
            do {
                try Data(text.utf8).write(to: URL(filePath: path))
            } catch {
                throw CommandFailure(.fileNotWritten, "\(path): the page cannot be written; check the folder")
            }
            try console.report(["page": path], line: path)
        }
    }
}

/// A command as the argument parser describes it with `--experimental-dump-help`.
struct CommandDescription: Decodable {
    struct Argument: Decodable, Hashable {
        struct Name: Decodable, Hashable {
            let kind: String
            let name: String

            /// The name with its dashes.
            var spelled: String { (kind == "long" ? "--" : "-") + name }
        }

        let kind: String
        let shouldDisplay: Bool
        let isOptional: Bool
        let isRepeating: Bool
        let names: [Name]?
        let valueName: String?
        let defaultValue: String?
        let abstract: String?
        let discussion: String?

        var isPositional: Bool { kind == "positional" }
    }

    private struct Tool: Decodable {
        let command: CommandDescription
    }

    let superCommands: [String]?
    let shouldDisplay: Bool
    let commandName: String
    let aliases: [String]?
    let abstract: String?
    let discussion: String?
    let subcommands: [CommandDescription]?
    let arguments: [Argument]?

    /// The whole command.
    static func root() throws -> CommandDescription {
        try JSONDecoder().decode(Tool.self, from: Data(Crumb._dumpHelp().utf8)).command
    }

    /// The name as it is typed.
    var fullName: String { ((superCommands ?? []) + [commandName]).joined(separator: " ") }

    /// The commands below this one that help shows.
    var visibleCommands: [CommandDescription] {
        (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
    }

    /// The arguments that help shows.
    var visibleArguments: [Argument] { (arguments ?? []).filter(\.shouldDisplay) }

    /// This command, or the commands below it that do something, in order.
    var leaves: [CommandDescription] {
        visibleCommands.isEmpty ? [self] : visibleCommands.flatMap(\.leaves)
    }
}
