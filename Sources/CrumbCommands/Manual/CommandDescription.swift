import ArgumentParser
import Foundation

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
